#include "opsemantics/definition/graph.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/index_names.h"
#include "opsemantics/definition/linear.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba {
namespace {

bool IsId(TensorId id, const Graph& graph) {
  return id >= 0 && id < static_cast<TensorId>(graph.tensors.size());
}

// Whether the body is the sum of all operands, each read once at the indices of the result.
bool AddsOperands(const Definition& definition) {
  std::vector<bool> read(definition.operands.size(), false);
  bool sum = definition.reducer == Reducer::kSum;
  size_t terms = 0;
  Walk(definition.body, [&](const Expr& expr) {
    if (expr.kind == Expr::kCall) {
      sum = sum && expr.function == Function::kAdd;
    } else {
      sum = sum && expr.kind == Expr::kRead && expr.args.empty() &&
            expr.position == definition.left && !read[expr.operand];
      if (expr.kind == Expr::kRead) read[expr.operand] = true;
      ++terms;
    }
  });
  // A sum that uses a term twice has more leaves than distinct ones.
  return sum && terms == read.size() &&
         TreeSize(definition.body) == 2 * static_cast<int64_t>(terms) - 1;
}

void CheckTensor(const Tensor& tensor) {
  std::vector<int64_t> flat;
  for (const std::vector<int64_t>& dim : tensor.dims) {
    flat.insert(flat.end(), dim.begin(), dim.end());
  }
  YUBA_CHECK(flat == tensor.type.dims) << "factors of " << tensor.name;
}

void CheckNode(const Graph& graph, const Node& node) {
  YUBA_CHECK(node.definition != nullptr) << node.name;
  const Definition& definition = *node.definition;
  YUBA_CHECK(IsId(node.result, graph)) << node.name;
  YUBA_CHECK(graph.tensors[node.result].type == definition.result) << node.name;
  YUBA_CHECK(definition.left.size() == definition.result.dims.size()) << node.name;
  YUBA_CHECK(definition.body != nullptr) << node.name;
  YUBA_CHECK(HasDistinctIndices(definition)) << node.name << ": " << ToString(definition);
  YUBA_CHECK(node.operands.size() == definition.operands.size()) << node.name;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    YUBA_CHECK(IsId(node.operands[i], graph)) << node.name;
    YUBA_CHECK(graph.tensors[node.operands[i]].type == definition.operands[i])
        << node.name << ": operand " << i;
    for (size_t j = 0; j < i; ++j) YUBA_CHECK(node.operands[j] != node.operands[i]) << node.name;
  }
  YUBA_CHECK(!IsCopy(graph, node) || IsIdentity(definition)) << node.name;
  YUBA_CHECK(WhyPartialsIllegal(graph, node).empty()) << WhyPartialsIllegal(graph, node);
  YUBA_CHECK(WhyOpaqueIllegal(definition).empty())
      << node.name << ": " << WhyOpaqueIllegal(definition);
}

void CheckEntries(const Graph& graph) {
  YUBA_CHECK(!graph.entries.empty());
  for (const Entry& entry : graph.entries) YUBA_CHECK(entry.times >= 1) << entry.name;
  int entry = 0;
  for (const Node& node : graph.nodes) {
    YUBA_CHECK(entry <= node.entry && node.entry < static_cast<int>(graph.entries.size()))
        << node.name << " is of entry " << node.entry;
    entry = node.entry;
  }
}

}  // namespace

const char* Name(TensorKind kind) {
  switch (kind) {
    case TensorKind::kInput: return "input";
    case TensorKind::kParameter: return "weight";
    case TensorKind::kConstant: return "constant";
    case TensorKind::kState: return "state";
    case TensorKind::kActivation: return "activation";
    case TensorKind::kCopy: return "copy";
    case TensorKind::kPartial: return "partial";
  }
  return "?";
}

bool IsStored(TensorKind kind) { return kind == TensorKind::kInput || HasInitialValue(kind); }

bool HasInitialValue(TensorKind kind) {
  return kind == TensorKind::kParameter || kind == TensorKind::kConstant ||
         kind == TensorKind::kState;
}

void Link(Graph& graph) {
  for (Tensor& tensor : graph.tensors) {
    tensor.producer = -1;
    tensor.producers.clear();
    tensor.consumers.clear();
    tensor.output = false;
  }
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const Node& node = graph.nodes[id];
    Tensor& result = graph.tensors[node.result];
    if (result.producer < 0) result.producer = id;
    result.producers.push_back(id);
    for (TensorId operand : node.operands) {
      std::vector<NodeId>& consumers = graph.tensors[operand].consumers;
      if (consumers.empty() || consumers.back() != id) consumers.push_back(id);
    }
  }
  for (TensorId output : graph.outputs) graph.tensors[output].output = true;
}

NodeId ProducerFor(const Graph& graph, TensorId tensor, NodeId reader) {
  const Tensor& of = graph.tensors[tensor];
  if (!IsStored(of.kind)) return of.producer;
  for (const NodeId producer : of.producers) {
    const bool same_entry = graph.nodes[producer].entry == graph.nodes[reader].entry;
    if (same_entry && producer < reader) return producer;
  }
  return -1;
}

NodeId ProducerIn(const Graph& graph, TensorId tensor, int entry) {
  for (const NodeId producer : graph.tensors[tensor].producers) {
    if (graph.nodes[producer].entry == entry) return producer;
  }
  return -1;
}

Interval NodesOf(const Graph& graph, int entry) {
  const auto first = std::lower_bound(graph.nodes.begin(), graph.nodes.end(), entry,
                                      [](const Node& node, int e) { return node.entry < e; });
  const auto last = std::upper_bound(first, graph.nodes.end(), entry,
                                     [](int e, const Node& node) { return e < node.entry; });
  return {first - graph.nodes.begin(), last - graph.nodes.begin()};
}

Graph GraphOfEntry(const Graph& graph, int entry) {
  const Interval nodes = NodesOf(graph, entry);
  Graph part = graph;
  part.nodes.assign(graph.nodes.begin() + nodes.begin, graph.nodes.begin() + nodes.end);
  Link(part);
  return part;
}

std::string NameInEntry(const std::vector<Entry>& entries, int entry, const std::string& name) {
  return entries.size() > 1 ? entries[entry].name + ":" + name : name;
}

void CheckGraph(const Graph& graph) {
  CheckEntries(graph);
  std::vector<bool> known;
  std::vector<int> computed_in(graph.tensors.size(), -1);  // the last entry that computes it
  for (const Tensor& tensor : graph.tensors) {
    CheckTensor(tensor);
    // A copy past which its readers read (compiler/make_program.cc) is left without a node.
    const bool left_over = tensor.kind == TensorKind::kCopy && tensor.consumers.empty();
    YUBA_CHECK(tensor.producer >= 0 || IsStored(tensor.kind) || left_over) << tensor.name;
    const bool may_be_carried =
        tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kState;
    YUBA_CHECK(!IsCarried(tensor) || may_be_carried) << tensor.name;
    known.push_back(IsStored(tensor.kind));
  }
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const Node& node = graph.nodes[id];
    CheckNode(graph, node);
    for (TensorId operand : node.operands) {
      const Tensor& tensor = graph.tensors[operand];
      const bool other_entry = !IsStored(tensor.kind) && tensor.producer >= 0 &&
                               graph.nodes[tensor.producer].entry != node.entry;
      YUBA_CHECK(known[operand] && !other_entry)
          << node.name << " reads " << tensor.name
          << (other_entry ? " of another entry" : " before it is computed");
    }
    const Tensor& result = graph.tensors[node.result];
    YUBA_CHECK(computed_in[node.result] < (IsStored(result.kind) ? node.entry : 0))
        << result.name << " is computed twice";
    YUBA_CHECK(std::count(result.producers.begin(), result.producers.end(), id) == 1) << node.name;
    known[node.result] = true;
    computed_in[node.result] = node.entry;
  }
  for (TensorId id : graph.inputs) YUBA_CHECK(IsId(id, graph));
  for (TensorId id : graph.outputs) YUBA_CHECK(IsId(id, graph) && known[id]);
}

bool IsCopy(const Graph& graph, const Node& node) {
  return graph.tensors[node.result].kind == TensorKind::kCopy;
}

bool IsTransient(const Tensor& tensor) {
  return tensor.kind == TensorKind::kCopy || tensor.kind == TensorKind::kPartial;
}

bool CombinesPartials(const Definition& definition) {
  return !definition.partial_operands.empty() &&
         definition.partial_operands.size() == definition.operands.size() &&
         definition.indices.size() == definition.left.size() + 1 && AddsOperands(definition);
}

Definition AccumulatorOf(const TensorType& type, int operands) {
  Definition sum;
  sum.name = "acc";
  sum.reducer = Reducer::kSum;
  sum.result = type;
  sum.operands.assign(operands, type);
  for (size_t d = 0; d < type.dims.size(); ++d) {
    sum.indices.push_back({"i" + std::to_string(d), type.dims[d], false});
    sum.left.push_back(IndexAffine(static_cast<int>(d)));
  }
  sum.indices.push_back({"group", kMostGroups, true});
  for (int operand = 0; operand < operands; ++operand) {
    sum.partial_operands.push_back(operand);
    ExprPtr term = ReadExpr(operand, sum.left, type.type);
    sum.body = operand == 0 ? term : CallExpr(Function::kAdd, {sum.body, term}, type.type);
  }
  return sum;
}

bool IsAccumulator(const Node& node) { return CombinesPartials(*node.definition); }

std::string WhyPartialsIllegal(const Graph& graph, const Node& node) {
  const Definition& definition = *node.definition;
  const Tensor& result = graph.tensors[node.result];
  const bool partial = definition.partial;
  if (partial != (result.kind == TensorKind::kPartial)) return node.name + " keeps no partials";
  if (partial &&
      (definition.reducer != Reducer::kSum || result.consumers.size() != 1 || result.output)) {
    return node.name + " keeps partials that are not of a sum, or not for one reader alone";
  }
  std::vector<int> partials;
  for (size_t o = 0; o < node.operands.size(); ++o) {
    if (graph.tensors[node.operands[o]].kind == TensorKind::kPartial) {
      partials.push_back(static_cast<int>(o));
    }
  }
  if (partials != definition.partial_operands) {
    return node.name + " reads partials as whole results, or the other way round";
  }
  if (partials.empty()) return "";
  if (definition.reducer != Reducer::kSum || !IsLinearIn(definition, partials)) {
    return node.name + " is not linear in its partials";
  }
  return NumbersGroups(definition) ? ""
                                   : node.name + " has no index for the groups of its partials";
}

bool IsIdentity(const Definition& definition) {
  const Expr& body = *definition.body;
  return definition.reducer == Reducer::kNone && definition.operands.size() == 1 &&
         definition.operands[0] == definition.result && body.kind == Expr::kRead &&
         body.operand == 0 && body.position == definition.left;
}

Definition IdentityOf(const TensorType& type, const std::string& name) {
  Definition definition;
  definition.name = name;
  for (size_t d = 0; d < type.dims.size(); ++d) {
    definition.indices.push_back({"i" + std::to_string(d), type.dims[d], false});
    definition.left.push_back(IndexAffine(static_cast<int>(d)));
  }
  definition.operands = {type};
  definition.result = type;
  definition.body = ReadExpr(0, definition.left, type.type);
  return definition;
}

bool MayOverwrite(const Definition& definition, int operand) {
  bool same =
      definition.reducer == Reducer::kNone && definition.operands[operand] == definition.result;
  Walk(definition.body, [&](const Expr& expr) {
    if (expr.kind == Expr::kRead && expr.operand == operand) {
      same = same && expr.position == definition.left;
    }
  });
  return same;
}

TensorId SourceOf(const Graph& graph, TensorId tensor) {
  while (graph.tensors[tensor].kind == TensorKind::kCopy) {
    tensor = graph.nodes[graph.tensors[tensor].producer].operands[0];
  }
  return tensor;
}

std::vector<int64_t> WholeDims(const Tensor& tensor) {
  std::vector<int64_t> whole;
  for (const std::vector<int64_t>& factors : tensor.dims) {
    int64_t product = 1;
    for (int64_t factor : factors) product *= factor;
    whole.push_back(product);
  }
  return whole;
}

int64_t ElementCount(const TensorType& type) {
  int64_t count = 1;
  for (int64_t dim : type.dims) count *= dim;
  return count;
}

bool IsGradient(absl::string_view op) { return absl::EndsWith(op, kGradientSuffix); }

}  // namespace yuba
