#include "tests/support/graphs.h"

#include <map>
#include <utility>

namespace yuba {
namespace {

ExprPtr Literal(double number) {
  Expr expr;
  expr.number = number;
  return std::make_shared<const Expr>(expr);
}

ExprPtr Read(int operand, std::vector<Affine> position) {
  Expr expr;
  expr.kind = Expr::kRead;
  expr.operand = operand;
  expr.position = std::move(position);
  return std::make_shared<const Expr>(expr);
}

ExprPtr ReadElse(int operand, std::vector<Affine> position, ExprPtr outside) {
  Expr expr = *Read(operand, std::move(position));
  expr.args = {std::move(outside)};
  return std::make_shared<const Expr>(expr);
}

ExprPtr Call(Function function, std::vector<ExprPtr> args) {
  Expr expr;
  expr.kind = Expr::kCall;
  expr.function = function;
  expr.args = std::move(args);
  return std::make_shared<const Expr>(expr);
}

std::vector<Affine> BareIndices(const std::vector<int>& indices) {
  std::vector<Affine> position;
  for (int index : indices) position.push_back(IndexAffine(index));
  return position;
}

// Indices i0, i1, ... along the dimensions of the result.
Definition MapOf(const TensorType& result) {
  Definition definition;
  definition.name = "y";
  definition.result = result;
  for (size_t d = 0; d < result.dims.size(); ++d) {
    definition.indices.push_back({"i" + std::to_string(d), result.dims[d], false});
    definition.left.push_back(IndexAffine(static_cast<int>(d)));
  }
  return definition;
}

Affine Window(int output, int kernel, int64_t stride, int64_t pad) {
  return IndexAffine(output) * stride + IndexAffine(kernel) + ConstantAffine(-pad);
}

}  // namespace

TensorId GraphBuilder::AddTensor(TensorKind kind, TensorType type) {
  Tensor tensor;
  tensor.name = prefix_ + std::to_string(graph_.tensors.size());
  tensor.kind = kind;
  tensor.type = std::move(type);
  for (int64_t dim : tensor.type.dims) tensor.dims.push_back({dim});
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph_.tensors.size()) - 1;
}

TensorId GraphBuilder::AddNode(const std::string& op, Definition definition,
                               std::vector<TensorId> operands) {
  for (TensorId operand : operands) definition.operands.push_back(TypeOf(operand));
  TensorId result = AddTensor(TensorKind::kActivation, definition.result);
  Node node;
  node.name = graph_.tensors[result].name;
  node.op = op;
  node.from = op + std::to_string(graph_.nodes.size());
  node.instance = static_cast<int>(graph_.nodes.size());
  node.definition = std::make_shared<const Definition>(std::move(definition));
  node.operands = std::move(operands);
  node.result = result;
  graph_.nodes.push_back(std::move(node));
  return result;
}

TensorId GraphBuilder::Input(std::vector<int64_t> dims, ElementType type) {
  graph_.inputs.push_back(AddTensor(TensorKind::kInput, {type, std::move(dims)}));
  return graph_.inputs.back();
}

TensorId GraphBuilder::Parameter(std::vector<int64_t> dims, ElementType type) {
  return AddTensor(TensorKind::kParameter, {type, std::move(dims)});
}

TensorId GraphBuilder::Matmul(TensorId a, TensorId b) {
  TensorType left = TypeOf(a), right = TypeOf(b);
  Definition definition = MapOf({left.type, {left.dims[0], right.dims[1]}});
  definition.indices.push_back({"k", left.dims[1], true});
  definition.reducer = Reducer::kSum;
  if (a == b) {
    definition.body =
        Call(Function::kMul, {Read(0, BareIndices({0, 2})), Read(0, BareIndices({2, 1}))});
    return AddNode("matmul", std::move(definition), {a});
  }
  definition.body =
      Call(Function::kMul, {Read(0, BareIndices({0, 2})), Read(1, BareIndices({2, 1}))});
  return AddNode("matmul", std::move(definition), {a, b});
}

TensorId GraphBuilder::BatchedMatmul(TensorId a, TensorId b) {
  const TensorType left = TypeOf(a), right = TypeOf(b);
  Definition definition = MapOf({left.type, {left.dims[0], left.dims[1], right.dims[2]}});
  definition.indices.push_back({"k", left.dims[2], true});
  definition.reducer = Reducer::kSum;
  definition.body =
      Call(Function::kMul, {Read(0, BareIndices({0, 1, 3})), Read(1, BareIndices({0, 3, 2}))});
  return AddNode("matmul", std::move(definition), {a, b});
}

TensorId GraphBuilder::Conv(TensorId x, TensorId w, int64_t stride, int64_t pad) {
  TensorType in = TypeOf(x), filter = TypeOf(w);
  TensorType out = {in.type, {in.dims[0], filter.dims[0]}};
  for (int d = 2; d < 4; ++d) {
    out.dims.push_back((in.dims[d] + 2 * pad - filter.dims[d]) / stride + 1);
  }
  Definition definition = MapOf(out);
  definition.indices.push_back({"c", filter.dims[1], true});
  definition.indices.push_back({"u", filter.dims[2], true});
  definition.indices.push_back({"v", filter.dims[3], true});
  definition.reducer = Reducer::kSum;
  std::vector<Affine> at = {IndexAffine(0), IndexAffine(4), Window(2, 5, stride, pad),
                            Window(3, 6, stride, pad)};
  ExprPtr read = pad > 0 ? ReadElse(0, at, Literal(0)) : Read(0, at);
  definition.body = Call(Function::kMul, {read, Read(1, BareIndices({1, 4, 5, 6}))});
  return AddNode("conv", std::move(definition), {x, w});
}

TensorId GraphBuilder::MaxPool(TensorId x, int64_t size, int64_t stride, int64_t pad) {
  TensorType in = TypeOf(x);
  TensorType out = {in.type, {in.dims[0], in.dims[1]}};
  for (int d = 2; d < 4; ++d) out.dims.push_back((in.dims[d] + 2 * pad - size) / stride + 1);
  Definition definition = MapOf(out);
  definition.indices.push_back({"u", size, true});
  definition.indices.push_back({"v", size, true});
  definition.reducer = Reducer::kMax;
  std::vector<Affine> at = {IndexAffine(0), IndexAffine(1), Window(2, 4, stride, pad),
                            Window(3, 5, stride, pad)};
  definition.body = pad > 0 ? ReadElse(0, at, Literal(-1e30)) : Read(0, at);
  return AddNode("max_pool", std::move(definition), {x});
}

TensorId GraphBuilder::ConvGradient(TensorId y, TensorId w, int64_t stride, int64_t extent) {
  TensorType in = TypeOf(y);
  Definition definition = MapOf({in.type, {in.dims[0], extent}});
  definition.indices.push_back({"t", in.dims[1], true});
  definition.indices.push_back({"u", TypeOf(w).dims[0], true});
  definition.reducer = Reducer::kSum;
  definition.where = {{IndexAffine(2) * stride + IndexAffine(3) - IndexAffine(1), true}};
  definition.body = Call(Function::kMul, {Read(0, BareIndices({0, 2})), Read(1, BareIndices({3}))});
  return AddNode("conv_gradient", std::move(definition), {y, w});
}

TensorId GraphBuilder::ConvInputGradient(TensorId dy, TensorId w, const std::vector<int64_t>& dims,
                                         int64_t stride, int64_t pad) {
  TensorType in = TypeOf(dy), filter = TypeOf(w);
  Definition definition = MapOf({in.type, dims});
  definition.reducer = Reducer::kSum;
  definition.indices.push_back({"o", filter.dims[0], true});
  definition.indices.push_back({"u", filter.dims[2], true});
  definition.indices.push_back({"v", filter.dims[3], true});
  std::vector<Affine> at = {IndexAffine(0), IndexAffine(4)};
  if (stride == 1) {
    for (int d = 0; d < 2; ++d) {
      at.push_back(IndexAffine(2 + d) + ConstantAffine(pad) - IndexAffine(5 + d));
    }
    definition.body =
        Call(Function::kMul, {ReadElse(0, at, Literal(0)), Read(1, BareIndices({4, 1, 5, 6}))});
    return AddNode("conv_dx", std::move(definition), {dy, w});
  }
  for (int d = 0; d < 2; ++d) {
    definition.indices.push_back({d == 0 ? "p" : "q", in.dims[2 + d], true});
    definition.where.push_back({Window(7 + d, 5 + d, stride, pad) - IndexAffine(2 + d), true});
    at.push_back(IndexAffine(7 + d));
  }
  definition.body = Call(Function::kMul, {Read(0, at), Read(1, BareIndices({4, 1, 5, 6}))});
  return AddNode("conv_dx", std::move(definition), {dy, w});
}

TensorId GraphBuilder::ConvWeightGradient(TensorId dy, TensorId x, const std::vector<int64_t>& dims,
                                          int64_t stride, int64_t pad) {
  TensorType in = TypeOf(dy);
  Definition definition = MapOf({in.type, dims});
  definition.reducer = Reducer::kSum;
  definition.indices.push_back({"n", in.dims[0], true});
  definition.indices.push_back({"p", in.dims[2], true});
  definition.indices.push_back({"q", in.dims[3], true});
  std::vector<Affine> at = {IndexAffine(4), IndexAffine(1), Window(5, 2, stride, pad),
                            Window(6, 3, stride, pad)};
  ExprPtr read = pad > 0 ? ReadElse(1, at, Literal(0)) : Read(1, at);
  definition.body = Call(Function::kMul, {Read(0, BareIndices({4, 0, 5, 6})), read});
  return AddNode("conv_dw", std::move(definition), {dy, x});
}

TensorId GraphBuilder::Enlarge(TensorId dy) {
  TensorType in = TypeOf(dy);
  Definition definition =
      MapOf({in.type, {in.dims[0], in.dims[1], 2 * in.dims[2], 2 * in.dims[3]}});
  definition.reducer = Reducer::kSum;
  std::vector<Affine> at = {IndexAffine(0), IndexAffine(1)};
  for (int d = 0; d < 2; ++d) {
    definition.indices.push_back({d == 0 ? "p" : "q", in.dims[2 + d], true});
    at.push_back(IndexAffine(4 + d));
  }
  for (int d = 0; d < 2; ++d) {
    // 2 p <= h < 2 p + 2
    Affine from = IndexAffine(4 + d) * 2 - IndexAffine(2 + d);
    definition.where.push_back({from, false});
    definition.where.push_back({ConstantAffine(-1) - from, false});
  }
  definition.body = Read(0, at);
  return AddNode("enlarge", std::move(definition), {dy});
}

TensorId GraphBuilder::Concat(TensorId a, TensorId b) {
  TensorType left = TypeOf(a), out = left;
  out.dims[1] += TypeOf(b).dims[1];
  Definition definition = MapOf(out);
  std::vector<Affine> at = definition.left;
  at[1] = at[1] + ConstantAffine(-left.dims[1]);
  definition.body = ReadElse(0, definition.left, Read(1, at));
  return AddNode("concat", std::move(definition), {a, b});
}

TensorId GraphBuilder::Channels(TensorId x, int64_t first, int64_t count) {
  TensorType out = TypeOf(x);
  out.dims[1] = count;
  Definition definition = MapOf(out);
  std::vector<Affine> at = definition.left;
  at[1] = at[1] + ConstantAffine(first);
  definition.body = Read(0, at);
  return AddNode("channels", std::move(definition), {x});
}

TensorId GraphBuilder::Add(TensorId a, TensorId b) {
  Definition definition = MapOf(TypeOf(a));
  std::vector<int> all;
  for (size_t d = 0; d < definition.indices.size(); ++d) all.push_back(static_cast<int>(d));
  definition.body =
      Call(Function::kAdd, {Read(0, BareIndices(all)), Read(a == b ? 0 : 1, BareIndices(all))});
  if (a == b) return AddNode("add", std::move(definition), {a});
  return AddNode("add", std::move(definition), {a, b});
}

TensorId GraphBuilder::Relu(TensorId x) {
  Definition definition = MapOf(TypeOf(x));
  definition.body = Call(Function::kMax, {Read(0, definition.left), Literal(0)});
  return AddNode("relu", std::move(definition), {x});
}

TensorId GraphBuilder::Scale(TensorId x, TensorId s, int dim) {
  Definition definition = MapOf(TypeOf(x));
  ExprPtr scale = Read(1, BareIndices({dim}));
  definition.body =
      Call(Function::kAdd, {Call(Function::kMul, {Read(0, definition.left), scale}), scale});
  return AddNode("scale", std::move(definition), {x, s});
}

TensorId GraphBuilder::SumOver(TensorId x, int dim) {
  TensorType in = TypeOf(x), out = in;
  out.dims.erase(out.dims.begin() + dim);
  Definition definition = MapOf(out);
  definition.indices.push_back({"r", in.dims[dim], true});
  definition.reducer = Reducer::kSum;
  std::vector<Affine> at = definition.left;
  at.insert(at.begin() + dim, IndexAffine(static_cast<int>(out.dims.size())));
  definition.body = Read(0, at);
  return AddNode("sum", std::move(definition), {x});
}

TensorId GraphBuilder::Transpose(TensorId x) {
  TensorType in = TypeOf(x);
  Definition definition = MapOf({in.type, {in.dims[1], in.dims[0]}});
  definition.body = Call(Function::kNeg, {Read(0, BareIndices({1, 0}))});
  return AddNode("transpose", std::move(definition), {x});
}

TensorId GraphBuilder::Split(TensorId x, int dim, int64_t inner) {
  TensorType in = TypeOf(x), out = in;
  out.dims[dim] = in.dims[dim] / inner;
  out.dims.insert(out.dims.begin() + dim + 1, inner);
  Definition definition = MapOf(out);
  const Affine whole = IndexAffine(static_cast<int>(out.dims.size()));
  definition.indices.push_back({"a", in.dims[dim], true});
  definition.reducer = Reducer::kPick;
  definition.where = {{whole - IndexAffine(dim) * inner - IndexAffine(dim + 1), true}};
  std::vector<Affine> at = definition.left;
  at.erase(at.begin() + dim);
  at[dim] = whole;
  definition.body = Read(0, at);
  return AddNode("split", std::move(definition), {x});
}

TensorId GraphBuilder::Merge(TensorId x, int dim) {
  TensorType in = TypeOf(x), out = in;
  const int64_t inner = in.dims[dim + 1];
  out.dims[dim] *= inner;
  out.dims.erase(out.dims.begin() + dim + 1);
  Definition definition = MapOf(out);
  const int first = static_cast<int>(out.dims.size());
  definition.indices.push_back({"a", in.dims[dim], true});
  definition.indices.push_back({"b", inner, true});
  definition.reducer = Reducer::kPick;
  definition.where = {
      {IndexAffine(first) * inner + IndexAffine(first + 1) - IndexAffine(dim), true}};
  std::vector<Affine> at = definition.left;
  at[dim] = IndexAffine(first);
  at.insert(at.begin() + dim + 1, IndexAffine(first + 1));
  definition.body = Read(0, at);
  return AddNode("merge", std::move(definition), {x});
}

TensorId GraphBuilder::Slice(TensorId x, int64_t first, int64_t extent) {
  TensorType out = TypeOf(x);
  out.dims[0] = extent;
  Definition definition = MapOf(out);
  std::vector<Affine> at = definition.left;
  at[0] = at[0] + ConstantAffine(first);
  definition.body = Read(0, at);
  return AddNode("slice", std::move(definition), {x});
}

TensorId GraphBuilder::Shift(TensorId x, int64_t by) {
  Definition definition = MapOf(TypeOf(x));
  std::vector<Affine> at = definition.left;
  at[0] = at[0] + ConstantAffine(-by);
  definition.body = ReadElse(0, at, Literal(0));
  return AddNode("shift", std::move(definition), {x});
}

TensorId GraphBuilder::Gates(TensorId x, TensorId w) {
  TensorType in = TypeOf(x), weight = TypeOf(w);
  Definition definition = MapOf({in.type, {in.dims[0], weight.dims[0], weight.dims[1]}});
  definition.indices.push_back({"k", in.dims[1], true});
  definition.reducer = Reducer::kSum;
  definition.body =
      Call(Function::kMul, {Read(0, BareIndices({0, 3})), Read(1, BareIndices({1, 2, 3}))});
  return AddNode("gates", std::move(definition), {x, w});
}

TensorId GraphBuilder::Gated(TensorId z, TensorId c, int64_t g, int64_t h) {
  Definition definition = MapOf(TypeOf(c));
  auto gate = [](int64_t number) {
    return Read(0, {IndexAffine(0), ConstantAffine(number), IndexAffine(1)});
  };
  ExprPtr kept = Call(Function::kMul, {gate(g), Read(1, BareIndices({0, 1}))});
  definition.body = Call(Function::kAdd, {kept, gate(h)});
  return AddNode("gated", std::move(definition), {z, c});
}

Graph GraphBuilder::Finish(const std::vector<TensorId>& outputs) {
  graph_.outputs = outputs;
  Link(graph_);
  CheckGraph(graph_);
  return std::move(graph_);
}

Graph WithSumOf(Graph graph, const std::vector<TensorId>& terms) {
  Definition sum;
  sum.name = "y";
  sum.result = graph.tensors[terms[0]].type;
  for (size_t d = 0; d < sum.result.dims.size(); ++d) {
    sum.indices.push_back({"i" + std::to_string(d), sum.result.dims[d], false});
    sum.left.push_back(IndexAffine(static_cast<int>(d)));
  }
  for (size_t t = 0; t < terms.size(); ++t) {
    sum.operands.push_back(graph.tensors[terms[t]].type);
    auto read = std::make_shared<Expr>();
    read->kind = Expr::kRead;
    read->operand = static_cast<int>(t);
    read->position = sum.left;
    if (t == 0) {
      sum.body = read;
      continue;
    }
    auto add = std::make_shared<Expr>();
    add->kind = Expr::kCall;
    add->function = Function::kAdd;
    add->args = {read, sum.body};
    sum.body = add;
  }
  Tensor y = graph.tensors[terms[0]];
  y.name = "y";
  y.kind = TensorKind::kActivation;
  Node node;
  node.name = node.from = "y";
  node.op = "sum";
  node.definition = std::make_shared<const Definition>(std::move(sum));
  node.operands = terms;
  node.result = static_cast<TensorId>(graph.tensors.size());
  graph.outputs = {node.result};
  graph.tensors.push_back(std::move(y));
  graph.nodes.push_back(std::move(node));
  Link(graph);
  CheckGraph(graph);
  return graph;
}

}  // namespace yuba
