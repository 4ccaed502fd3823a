// A plan file is attached to its graph: everything is compared, and the first difference is the
// error.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/file/plan_file.h"
#include "search/plan/choice_space.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/copies.h"
#include "search/rewrite/partials.h"

namespace yuba::search {
namespace {

absl::Status OtherGraph(const std::string& what) {
  return UserError("the plan is of another graph: ", what,
                   "; plan this model again with `yuba partition`");
}

absl::Status CompareTensors(const Graph& graph, const PlanFile& file) {
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (t >= file.tensors.size()) return OtherGraph(absl::StrCat("it has no tensor ", tensor.name));
    const PlanFile::TensorRow& row = file.tensors[t];
    if (row.name != tensor.name) {
      return OtherGraph(
          absl::StrCat("tensor ", t, " is ", tensor.name, ", in the plan ", row.name));
    }
    if (row.kind != Name(tensor.kind) || row.type != tensor.type.type) {
      return OtherGraph(absl::StrCat("tensor ", tensor.name, " is ", Name(tensor.type.type), " ",
                                     Name(tensor.kind), ", in the plan ", Name(row.type), " ",
                                     row.kind));
    }
    if (row.dims != tensor.dims) {
      return OtherGraph(absl::StrCat("tensor ", tensor.name, " has other dimensions"));
    }
  }
  if (file.tensors.size() == graph.tensors.size()) return absl::OkStatus();
  return OtherGraph(
      absl::StrCat("the model has no tensor ", file.tensors[graph.tensors.size()].name));
}

absl::Status CompareNodes(const Graph& graph, const PlanFile& file) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (n >= file.nodes.size()) return OtherGraph(absl::StrCat("it has no node ", node.name));
    const PlanFile::NodeRow& row = file.nodes[n];
    if (row.name != node.name || row.op != node.op) {
      return OtherGraph(absl::StrCat("node ", n, " is ", node.name, " (", node.op,
                                     "), in the plan ", row.name, " (", row.op, ")"));
    }
    std::vector<std::string> reads;
    for (TensorId operand : node.operands) reads.push_back(graph.tensors[operand].name);
    if (row.reads != reads)
      return OtherGraph(absl::StrCat("node ", node.name, " reads other tensors"));
    const Tensor& result = graph.tensors[node.result];
    if (row.writes != result.name)
      return OtherGraph(absl::StrCat("node ", node.name, " computes another tensor"));
  }
  if (file.nodes.size() == graph.nodes.size()) return absl::OkStatus();
  return OtherGraph(absl::StrCat("the model has no node ", file.nodes[graph.nodes.size()].name));
}

absl::Status CompareHash(const char* what, const std::string& found, const std::string& expected) {
  if (expected.empty() || found == expected) return absl::OkStatus();
  return UserError("the plan was made with another ", what, " (", found, ", here ", expected,
                   "); plan this model again with `yuba partition`");
}

absl::Status NodePartition(const Node& node, const PlanFile::NodeRow& row, Sharding* partition) {
  const std::vector<Index>& indices = node.definition->indices;
  *partition = Sharding();
  partition->axes.resize(indices.size());
  for (size_t i = 0; i < row.indices.size(); ++i) {
    auto found = std::find_if(indices.begin(), indices.end(),
                              [&](const Index& index) { return index.name == row.indices[i]; });
    if (found == indices.end()) {
      return OtherGraph(absl::StrCat("node ", node.name, " has no index ", row.indices[i]));
    }
    partition->axes[found - indices.begin()] = row.axes[i];
  }
  return absl::OkStatus();
}

// All other code relies on this much. Whether a sharding goes as far as it can is for `yuba check`
// to say.
absl::Status RequireLegal(const std::string& what, const ChoiceSpace& space, const Mesh& mesh,
                          const Sharding& sharding) {
  std::string why = WhyImpossible(space, mesh, sharding);
  if (why.empty()) return absl::OkStatus();
  return ProofError("the plan shards ", what, " illegally: ", why);
}

// Pins speak of each extent of their elements.
absl::Status ComparePins(const Graph& graph, const Space& space) {
  const size_t tensors = graph.tensors.size();
  for (size_t p = 0; p < space.pins.size(); ++p) {
    const PinnedElement& pin = space.pins[p];
    const size_t element = pin.element;
    const size_t extents = element < tensors
                               ? graph.tensors[element].type.dims.size()
                               : graph.nodes[element - tensors].definition->indices.size();
    if (pin.demands.size() == extents) continue;
    return UserError(
        "space.pins[", p, "] speaks of ", pin.demands.size(),
        element < tensors ? " dimensions of tensor " : " indices of node ",
        element < tensors ? graph.tensors[element].name : graph.nodes[element - tensors].name,
        ", which has ", extents);
  }
  return absl::OkStatus();
}

}  // namespace

Graph SharedGraph(const Graph& bare, const PlanFile& file) {
  Graph graph = file.space.copies ? WithCopies(bare) : bare;
  if (file.space.accumulators) graph = WithAccumulators(graph, file.mesh);
  if (file.space.partials) graph = WithPartials(graph, file.mesh);
  return graph;
}

absl::StatusOr<Plan> AttachPlan(const Graph& graph, const PlanFile& file,
                                const PlanNotes& expected) {
  if (file.space.copies != graph.copies) {
    return OtherGraph(graph.copies ? "its readers share copies, those of the plan do not"
                                   : "its readers share no copies, those of the plan do");
  }
  YUBA_RETURN_IF_ERROR(CompareTensors(graph, file));
  YUBA_RETURN_IF_ERROR(CompareNodes(graph, file));
  YUBA_RETURN_IF_ERROR(ComparePins(graph, file.space));
  if (file.space.accumulators != HasAccumulators(graph)) {
    return OtherGraph(file.space.accumulators
                          ? "no sum of it has an accumulator, some in the plan have"
                          : "some of its sums have accumulators, none in the plan");
  }
  if (file.space.partials != HasPartials(graph)) {
    return OtherGraph(file.space.partials ? "no sum of it stays unreduced, some in the plan do"
                                          : "some of its sums stay unreduced, none in the plan");
  }
  YUBA_RETURN_IF_ERROR(CompareHash("graph", file.notes.graph_hash, expected.graph_hash));
  YUBA_RETURN_IF_ERROR(
      CompareHash("operator library", file.notes.library_hash, expected.library_hash));
  YUBA_RETURN_IF_ERROR(CompareHash("version of yuba", file.notes.version, expected.version));
  Plan plan;
  plan.mesh = file.mesh;
  plan.space = file.space;
  plan.search = file.search;
  plan.stopped = file.stopped;
  plan.cost = file.cost;
  plan.time = file.time;
  plan.lower_bound = file.lower_bound;
  plan.asked_bound = file.asked_bound;
  plan.proof = file.proof;
  plan.replayed = file.replayed;
  plan.unpinned = file.unpinned;
  if (plan.cost.bytes() != file.claimed_bytes) {
    return ProofError("the plan says it moves ", file.claimed_bytes,
                      " bytes, but its kinds add up to ", plan.cost.bytes());
  }
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    plan.tensors.emplace_back(file.tensors[t].sharding);
    YUBA_RETURN_IF_ERROR(RequireLegal(absl::StrCat("tensor ", graph.tensors[t].name),
                                      SpaceOfTensor(graph, static_cast<TensorId>(t)), plan.mesh,
                                      plan.tensors[t]));
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    plan.nodes.emplace_back();
    YUBA_RETURN_IF_ERROR(NodePartition(graph.nodes[n], file.nodes[n], &plan.nodes[n]));
    YUBA_RETURN_IF_ERROR(RequireLegal(absl::StrCat("node ", graph.nodes[n].name),
                                      SpaceOfNode(graph, static_cast<NodeId>(n)), plan.mesh,
                                      plan.nodes[n]));
    const std::string why =
        WhyUnlikeTensors(graph, static_cast<NodeId>(n), plan.tensors, plan.nodes[n]);
    if (!why.empty()) return ProofError("node ", graph.nodes[n].name, " of the plan: ", why);
  }
  return plan;
}

}  // namespace yuba::search
