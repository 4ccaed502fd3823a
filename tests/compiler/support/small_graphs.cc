#include "tests/compiler/support/small_graphs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "opsemantics/regions/boxes.h"
#include "search/plan/choice_space.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/partials.h"

namespace yuba::compiler {
namespace {

ExprPtr Read(int operand, std::vector<Affine> position, ExprPtr outside = nullptr) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Expr::kRead;
  expr->operand = operand;
  expr->position = std::move(position);
  if (outside != nullptr) expr->args = {std::move(outside)};
  return expr;
}

ExprPtr Call(Function function, std::vector<ExprPtr> args) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Expr::kCall;
  expr->function = function;
  expr->args = std::move(args);
  return expr;
}

ExprPtr Zero() { return std::make_shared<Expr>(); }

std::vector<Affine> Bare(const std::vector<int>& indices) {
  std::vector<Affine> position;
  for (int index : indices) position.push_back(IndexAffine(index));
  return position;
}

// A definition with output indices `outputs` (extents) and reduction indices `inner`.
Definition Start(const std::vector<int64_t>& outputs, const std::vector<int64_t>& inner,
                 Reducer reducer) {
  Definition definition;
  definition.name = "y";
  definition.reducer = reducer;
  for (int64_t extent : outputs) {
    const int index = static_cast<int>(definition.indices.size());
    definition.indices.push_back({absl::StrCat("i", index), extent, false});
    definition.left.push_back(IndexAffine(index));
  }
  for (int64_t extent : inner) {
    definition.indices.push_back({absl::StrCat("r", definition.indices.size()), extent, true});
  }
  definition.result.dims = outputs;
  return definition;
}

std::vector<int> Count(int n) {
  std::vector<int> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = i;
  return numbers;
}

}  // namespace

TensorId ModelBuilder::Input(std::vector<int64_t> dims, TensorKind kind) {
  Graph& graph = model_.graph;
  Tensor tensor;
  tensor.name = absl::StrCat("x", graph.tensors.size());
  tensor.kind = kind;
  for (int64_t dim : dims) tensor.dims.push_back({dim});
  tensor.type.dims = std::move(dims);
  graph.tensors.push_back(std::move(tensor));
  const TensorId id = static_cast<TensorId>(graph.tensors.size()) - 1;
  if (kind == TensorKind::kInput) graph.inputs.push_back(id);
  return id;
}

TensorId ModelBuilder::AddNode(Definition definition, std::vector<TensorId> operands) {
  Graph& graph = model_.graph;
  for (TensorId id : operands) definition.operands.push_back(graph.tensors[id].type);
  const TensorId result = Input(definition.result.dims, TensorKind::kActivation);
  graph.tensors[result].name = absl::StrCat("y", result);
  Node node;
  node.name = graph.tensors[result].name;
  node.instance = static_cast<int>(graph.nodes.size());
  node.definition = std::make_shared<Definition>(std::move(definition));
  node.operands = std::move(operands);
  node.result = result;
  graph.nodes.push_back(std::move(node));
  return result;
}

TensorId ModelBuilder::Integers(const std::vector<int64_t>& values) {
  const TensorId id = Input({static_cast<int64_t>(values.size())}, TensorKind::kConstant);
  model_.graph.tensors[id].type.type = ElementType::kI64;
  model_.values[id] = {InitialValue::kData,
                       std::make_shared<const std::string>(
                           reinterpret_cast<const char*>(values.data()), 8 * values.size()),
                       FileRange()};
  return id;
}

TensorId ModelBuilder::Gather(TensorId a, const std::vector<int64_t>& table) {
  const auto rows = static_cast<int64_t>(table.size());
  Definition d = Start({rows, Dims(a)[1]}, {Dims(a)[0]}, Reducer::kPick);
  d.body = Read(0, Bare({2, 1}));
  d.data_where.push_back({IndexAffine(2), Function::kEq, false, Read(1, Bare({0}))});
  return AddNode(std::move(d), {a, Integers(table)});
}

TensorId ModelBuilder::Scatter(TensorId a, int64_t rows, const std::vector<int64_t>& table) {
  Definition d = Start({rows, Dims(a)[1]}, {Dims(a)[0]}, Reducer::kSum);
  d.body = Read(0, Bare({2, 1}));
  d.data_where.push_back({IndexAffine(0), Function::kEq, false, Read(1, Bare({2}))});
  return AddNode(std::move(d), {a, Integers(table)});
}

TensorId ModelBuilder::MatMul(TensorId a, TensorId b) {
  Definition d = Start({Dims(a)[0], Dims(b)[1]}, {Dims(a)[1]}, Reducer::kSum);
  const ExprPtr left = Read(0, Bare({0, 2}));
  if (a == b) {
    d.body = Call(Function::kMul, {left, Read(0, Bare({2, 1}))});
    return AddNode(std::move(d), {a});
  }
  d.body = Call(Function::kMul, {left, Read(1, Bare({2, 1}))});
  return AddNode(std::move(d), {a, b});
}

TensorId ModelBuilder::Add(TensorId a, TensorId b) {
  Definition d = Start(Dims(a), {}, Reducer::kNone);
  const std::vector<Affine> position = Bare(Count(static_cast<int>(Dims(a).size())));
  d.body = Call(Function::kAdd, {Read(0, position), Read(a == b ? 0 : 1, position)});
  return a == b ? AddNode(std::move(d), {a}) : AddNode(std::move(d), {a, b});
}

TensorId ModelBuilder::Sum(const std::vector<TensorId>& terms) {
  Definition d = Start(Dims(terms[0]), {}, Reducer::kNone);
  const std::vector<Affine> position = Bare(Count(static_cast<int>(Dims(terms[0]).size())));
  d.body = Read(0, position);
  for (size_t t = 1; t < terms.size(); ++t)
    d.body = Call(Function::kAdd, {d.body, Read(static_cast<int>(t), position)});
  return AddNode(std::move(d), terms);
}

TensorId ModelBuilder::Relu(TensorId a) {
  Definition d = Start(Dims(a), {}, Reducer::kNone);
  d.body = Call(Function::kMax, {Read(0, Bare(Count(static_cast<int>(Dims(a).size())))), Zero()});
  return AddNode(std::move(d), {a});
}

TensorId ModelBuilder::AddRow(TensorId a, TensorId b) {
  Definition d = Start(Dims(a), {}, Reducer::kNone);
  const int rank = static_cast<int>(Dims(a).size());
  d.body = Call(Function::kAdd, {Read(0, Bare(Count(rank))), Read(1, Bare({rank - 1}))});
  return AddNode(std::move(d), {a, b});
}

TensorId ModelBuilder::Subtract(TensorId a, TensorId b) {
  Definition d = Start(Dims(a), {}, Reducer::kNone);
  const std::vector<Affine> all = Bare(Count(static_cast<int>(Dims(a).size())));
  d.body = Call(Function::kSub, {Read(0, all), Read(1, all)});
  return AddNode(std::move(d), {a, b});
}

TensorId ModelBuilder::MultiplyRow(TensorId a, TensorId b) {
  Definition d = Start(Dims(a), {}, Reducer::kNone);
  const int rank = static_cast<int>(Dims(a).size());
  d.body = Call(Function::kMul, {Read(0, Bare(Count(rank))), Read(1, Bare({rank - 1}))});
  return AddNode(std::move(d), {a, b});
}

TensorId ModelBuilder::Reduce(TensorId a, Reducer reducer) {
  std::vector<int64_t> outer = Dims(a);
  const int64_t last = outer.back();
  outer.pop_back();
  Definition d = Start(outer, {last}, reducer);
  d.body = Read(0, Bare(Count(static_cast<int>(outer.size()) + 1)));
  return AddNode(std::move(d), {a});
}

TensorId ModelBuilder::SumDown(TensorId a) {
  Definition d = Start({Dims(a)[1]}, {Dims(a)[0]}, Reducer::kSum);
  d.body = Read(0, Bare({1, 0}));
  return AddNode(std::move(d), {a});
}

TensorId ModelBuilder::SubtractColumn(TensorId a, TensorId b) {
  Definition d = Start(Dims(a), {}, Reducer::kNone);
  d.body = Call(Function::kSub, {Read(0, Bare({0, 1})), Read(1, Bare({0}))});
  return AddNode(std::move(d), {a, b});
}

// y[p, j] = sum(u) (a[p*stride + u - low, j] else 0) * filter[u, j]
TensorId ModelBuilder::Window(TensorId a, TensorId filter, int64_t stride, int64_t low) {
  const int64_t taps = Dims(filter)[0];
  const int64_t rows = (Dims(a)[0] + 2 * low - taps) / stride + 1;
  Definition d = Start({rows, Dims(a)[1]}, {taps}, Reducer::kSum);
  const Affine row = IndexAffine(0) * stride + IndexAffine(2) - ConstantAffine(low);
  d.body = Call(Function::kMul, {Read(0, {row, IndexAffine(1)}, Zero()), Read(1, Bare({2, 1}))});
  return AddNode(std::move(d), {a, filter});
}

// y[q, j] = sum(t, u where t*stride + u - low == q) a[t, j] * filter[u, j]
TensorId ModelBuilder::Spread(TensorId a, TensorId filter, int64_t stride, int64_t low) {
  const int64_t taps = Dims(filter)[0];
  const int64_t rows = (Dims(a)[0] - 1) * stride + taps - 2 * low;
  Definition d = Start({rows, Dims(a)[1]}, {Dims(a)[0], taps}, Reducer::kSum);
  Constraint constraint;
  constraint.equality = true;
  constraint.expression =
      IndexAffine(2) * stride + IndexAffine(3) - ConstantAffine(low) - IndexAffine(0);
  d.where = {constraint};
  d.body = Call(Function::kMul, {Read(0, Bare({2, 1})), Read(1, Bare({3, 1}))});
  return AddNode(std::move(d), {a, filter});
}

Model ModelBuilder::Finish(std::vector<TensorId> outputs, bool all_unread) {
  Graph& graph = model_.graph;
  graph.outputs = std::move(outputs);
  Link(graph);
  for (TensorId id = 0; all_unread && id < static_cast<TensorId>(graph.tensors.size()); ++id) {
    const Tensor& tensor = graph.tensors[id];
    if (tensor.producer >= 0 && tensor.consumers.empty() && !tensor.output) {
      graph.outputs.push_back(id);
    }
  }
  Link(graph);
  CheckGraph(graph);
  return std::move(model_);
}

namespace {

int Pick(Random& random, int count) {
  return std::uniform_int_distribution<int>(0, count - 1)(random);
}

}  // namespace

TensorId AddRandomNode(ModelBuilder& build, const std::vector<TensorId>& matrices, Random& random) {
  const TensorId a = matrices[Pick(random, static_cast<int>(matrices.size()))];
  const int64_t rows = build.Dims(a)[0], columns = build.Dims(a)[1];
  const auto parameter = [&](std::vector<int64_t> dims) {
    return build.Input(std::move(dims), TensorKind::kParameter);
  };
  switch (Pick(random, 8)) {
    case 0: return build.MatMul(a, parameter({columns, 2 + Pick(random, 6)}));
    case 1:
      for (TensorId b : matrices) {
        if (b != a && build.Dims(b) == build.Dims(a)) return build.Add(a, b);
      }
      return build.Add(a, a);
    case 2: return build.AddRow(a, parameter({columns}));
    case 3: return build.SubtractColumn(a, build.Reduce(a, Reducer::kMax));
    case 4: return build.SubtractColumn(a, build.Reduce(a, Reducer::kSum));
    case 5:
      if (rows < 3) return build.Relu(a);
      return build.Window(a, parameter({3, columns}), 1 + Pick(random, 2), Pick(random, 2));
    case 6:
      if (rows > 9) return build.Relu(a);
      return build.Spread(a, parameter({2 + Pick(random, 2), columns}), 1 + Pick(random, 2),
                          Pick(random, 2));
    default:
      for (TensorId b : matrices) {
        if (build.Dims(b)[0] == columns) return build.MatMul(a, b);
      }
      return build.Relu(a);
  }
}

namespace {

// A sharding at random of dimensions with these extents; an extent of 0 is never cut.
Sharding RandomSharding(const std::vector<int64_t>& extents, const Mesh& mesh, Random& random) {
  Sharding sharding;
  sharding.axes.resize(extents.size());
  std::vector<int> axes = Count(static_cast<int>(mesh.axes.size()));
  std::shuffle(axes.begin(), axes.end(), random);
  for (int axis : axes) {
    if (extents.empty() || Pick(random, 8) == 0) continue;
    const int d = Pick(random, static_cast<int>(extents.size()));
    if (extents[d] < PartCount(mesh, sharding.axes[d]) * mesh.axes[axis].size) continue;
    sharding.axes[d].push_back(static_cast<uint8_t>(axis));
  }
  return sharding;
}

}  // namespace

Model RandomModel(Random& random) {
  ModelBuilder build;
  const int64_t rows = 2 + Pick(random, 7), columns = 2 + Pick(random, 7);
  std::vector<TensorId> matrices = {build.Input({rows, columns})};
  if (Pick(random, 2) == 0) matrices.push_back(build.Input({rows, columns}));
  const int nodes = 2 + Pick(random, 4);
  for (int n = 0; n < nodes; ++n) matrices.push_back(AddRandomNode(build, matrices, random));
  const TensorId rowwise = build.Reduce(matrices.back(), Reducer::kSum);
  const TensorId scalar = build.Reduce(rowwise, Reducer::kSum);
  return build.Finish({matrices.back(), scalar}, true);
}

Model RandomSums(const Mesh& mesh, Random& random) {
  ModelBuilder build;
  const auto parameter = [&](std::vector<int64_t> dims) {
    return build.Input(std::move(dims), TensorKind::kParameter);
  };
  const int64_t rows = 4 + Pick(random, 5), columns = 4 + Pick(random, 5);
  const TensorId a = build.Input({rows, 3 + Pick(random, 8)});
  const TensorId b = Pick(random, 2) == 0 ? a : build.Input({rows, 3 + Pick(random, 8)});
  TensorId sum = build.Add(build.MatMul(a, parameter({build.Dims(a)[1], columns})),
                           build.MatMul(b, parameter({build.Dims(b)[1], columns})));
  if (Pick(random, 2) == 0) sum = build.Relu(build.AddRow(sum, parameter({columns})));
  if (rows < 8 && Pick(random, 2) == 0) {  // a second sum, of terms that reach some elements only
    const TensorId spread = build.Spread(sum, parameter({3, columns}), 1, 1);
    const TensorId window = build.Window(sum, parameter({3, columns}), 1, 1);
    sum = build.Add(spread, window);
  }
  Model model = build.Finish({sum});
  model.graph = search::WithAccumulators(model.graph, mesh);
  return model;
}

Model RandomLongSums(const Mesh& mesh, Random& random) {
  ModelBuilder build;
  const int64_t rows = 8 + Pick(random, 3), columns = 8 + Pick(random, 3);
  std::vector<TensorId> terms;
  for (int left = 5 + Pick(random, 8); left > 0; --left) {
    const int64_t inner = 3 + Pick(random, 8);
    const TensorId w = build.Input({inner, columns}, TensorKind::kParameter);
    terms.push_back(build.MatMul(build.Input({rows, inner}), w));
  }
  for (size_t t = terms.size(); t-- > 1;)
    std::swap(terms[t], terms[Pick(random, static_cast<int>(t) + 1)]);
  TensorId sum = build.Sum(terms);
  if (Pick(random, 2) == 0) sum = build.Relu(sum);
  Model model = build.Finish({sum});
  model.graph = search::WithAccumulators(model.graph, mesh);
  return model;
}

Model RandomTables(Random& random) {
  ModelBuilder build;
  TensorId at = build.Input({3 + Pick(random, 10), 1 + Pick(random, 3)});
  const int steps = 1 + Pick(random, 3);
  for (int step = 0; step < steps; ++step) {
    const int64_t rows = build.Dims(at)[0], others = 3 + Pick(random, 10);
    const bool scatter = Pick(random, 2) == 0, sorted = Pick(random, 2) == 0;
    std::vector<int64_t> table;
    for (int64_t row = 0; row < (scatter ? rows : others); ++row)
      table.push_back(Pick(random, static_cast<int>(scatter ? others : rows)));
    if (sorted) std::sort(table.begin(), table.end());
    at = scatter ? build.Scatter(at, others, table) : build.Gather(at, table);
    if (Pick(random, 2) == 0) at = build.Relu(at);
  }
  return build.Finish({at});
}

Model RandomLinear(const Mesh& mesh, Random& random) {
  ModelBuilder build;
  const auto parameter = [&](std::vector<int64_t> dims) {
    return build.Input(std::move(dims), TensorKind::kParameter);
  };
  const auto size = [&] { return int64_t{4} + Pick(random, 5); };
  const TensorId a = build.Input({size(), size()});
  const auto product = [&](TensorId left, int64_t columns) {
    return build.MatMul(left, parameter({build.Dims(left)[1], columns}));
  };
  TensorId at = product(a, size());
  const int steps = 1 + Pick(random, 2);
  for (int step = 0; step < steps; ++step) {
    const int64_t columns = build.Dims(at)[1];
    switch (Pick(random, 5)) {
      case 0: at = build.Subtract(at, product(a, columns)); break;
      case 1: at = build.Window(at, parameter({3, columns}), 1, 1); break;
      case 2: at = build.MultiplyRow(at, parameter({columns})); break;
      default: at = product(at, size()); break;
    }
  }
  if (Pick(random, 3) == 0) at = build.Reduce(at, Reducer::kSum);
  if (Pick(random, 2) == 0) at = build.Relu(at);
  Model model = build.Finish({at});
  model.graph = search::WithPartials(model.graph, mesh);
  return model;
}

namespace {

std::vector<int> Without(const std::vector<int>& axes, const AxisList& others) {
  std::vector<int> rest;
  for (int axis : axes) {
    if (std::count(others.begin(), others.end(), axis) == 0) rest.push_back(axis);
  }
  return rest;
}

// A sharding at random that uses all of `axes`, each in a dimension that is still long enough.
Sharding FullSharding(const std::vector<int64_t>& extents, std::vector<int> axes, const Mesh& mesh,
                      Random& random) {
  Sharding sharding;
  sharding.axes.resize(extents.size());
  std::shuffle(axes.begin(), axes.end(), random);
  for (int axis : axes) {
    std::vector<int> room;
    for (size_t d = 0; d < extents.size(); ++d) {
      const int64_t parts = PartCount(mesh, sharding.axes[d]) * mesh.axes[axis].size;
      if (parts <= extents[d]) room.push_back(static_cast<int>(d));
    }
    sharding.axes[room[Pick(random, static_cast<int>(room.size()))]].push_back(axis);
  }
  return sharding;
}

}  // namespace

search::Plan RandomPlan(const Graph& graph, const Mesh& mesh, Random& random) {
  search::Plan plan;
  plan.mesh = mesh;
  for (const Tensor& tensor : graph.tensors) {
    plan.tensors.emplace_back(RandomSharding(tensor.type.dims, mesh, random));
  }
  for (const Node& node : graph.nodes) {
    std::vector<int64_t> extents(node.definition->indices.size(), 0);
    for (int index : CuttableIndices(*node.definition)) {
      extents[index] = node.definition->indices[index].extent;
    }
    const bool all = node.definition->partial || !node.definition->partial_operands.empty();
    const std::vector<int> axes = Count(static_cast<int>(mesh.axes.size()));
    plan.nodes.emplace_back(all ? FullSharding(extents, axes, mesh, random)
                                : RandomSharding(extents, mesh, random));
    const Sharding& partition = plan.nodes.back();
    for (size_t o = 0; o < node.operands.size(); ++o) {
      if (!ReadsPartials(*node.definition, o)) continue;
      const std::vector<int64_t>& dims = graph.tensors[node.operands[o]].type.dims;
      plan.tensors[node.operands[o]] = search::Choice(
          IsAccumulator(node)
              ? search::PartialsSharding(partition)
              : FullSharding(dims, Without(axes, partition.axes.back()), mesh, random));
    }
  }
  return plan;
}

std::vector<TensorValue> RandomValues(const Graph& graph, Arithmetic arithmetic, Random& random) {
  std::vector<TensorValue> values(graph.tensors.size());
  for (size_t id = 0; id < values.size(); ++id) {
    values[id].type = graph.tensors[id].type;
    if (!IsStored(graph.tensors[id].kind)) continue;
    values[id].elements.resize(ElementCount(values[id].type));
    for (Scalar& element : values[id].elements) {
      if (arithmetic == Arithmetic::kHash)
        element.hash = (uint64_t{random()} << 32) + random();
      else
        element.number = Pick(random, 9) - 4;
    }
  }
  return values;
}

}  // namespace yuba::compiler
