#include "compiler/check_read.h"

#include <algorithm>

#include "compiler/cluster/cluster.h"
#include "compiler/import/onnx.h"
#include "compiler/order/order.h"
#include "compiler/search_model.h"
#include "compiler/simplify/simplify.h"
#include "opsemantics/base/status.h"
#include "search/check/check.h"
#include "search/file/plan_file.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/copies.h"
#include "search/rewrite/partials.h"

namespace yuba::compiler {
namespace {

template <typename... Args>
absl::Status ErrorAt(const std::string& place, const Args&... args) {
  return UserError(place, ": error: ", args...);
}

// The graph that a plan of this space is of.
Graph SharedGraph(const Graph& bare, const search::Plan& plan) {
  search::PlanFile file;
  file.space = plan.space;
  file.mesh = plan.mesh;
  return search::SharedGraph(bare, file);
}

// The graph's hash, which is that of its canonical order, whatever order its nodes are in. Empty
// where the graph has what the canonical order leaves out, or numbers tensors otherwise.
std::string HashInAnyOrder(const Graph& graph) {
  Model model;
  model.graph = graph;
  PutInCanonicalOrder(model);
  const std::vector<Tensor>&tensors = model.graph.tensors, &given = graph.tensors;
  const bool equal = model.graph.nodes.size() == graph.nodes.size() &&
                     std::equal(tensors.begin(), tensors.end(), given.begin(), given.end(),
                                [](const Tensor& a, const Tensor& b) { return a.name == b.name; });
  return equal ? HashOfGraph(model.graph) : "";
}

absl::Status CheckHash(const StatePlaces& places, const Model& model, const search::Plan& plan) {
  if (search::HasAccumulators(model.graph)) return absl::OkStatus();
  // Of a graph with states the order of nodes says which values they read, so nodes in another
  // order have no hash to compare. CheckOfModel compares the graph with the model itself.
  if (std::any_of(model.graph.tensors.begin(), model.graph.tensors.end(), IsCarried)) {
    return absl::OkStatus();
  }
  const Graph bare = search::WithoutCopies(search::WithoutPartials(model.graph)).graph;
  const std::string hash = HashInAnyOrder(bare), found = HashOfGraph(model.graph);
  if (hash != model.graph_hash) {
    return ErrorAt(places.graph, "'hash' is \"", model.graph_hash,
                   "\", but the hash of this graph is \"", hash, "\": dump the model again");
  }
  const absl::Status ordered = CheckOrderOfEntries(bare);
  if (!ordered.ok()) {
    return ErrorAt(places.graph, ordered.message(), ": start with --from order");
  }
  const bool planned = !plan.tensors.empty();
  if (found == HashOfGraph(planned ? SharedGraph(bare, plan) : bare)) return absl::OkStatus();
  return ErrorAt(places.graph,
                 planned ? "its copies and partials are not those of its space"
                         : "it has copies or partials, but no plan",
                 ": start with --from search");
}

// As CheckPlan; the bound is replayed only where `replay` says so.
absl::Status CheckPlan(const StatePlaces& places, bool replay, Compilation& c) {
  search::Plan& plan = c.plan;
  const auto never = [] { return true; };
  const absl::Status status =
      search::CheckPlan(c.model.graph, plan, replay ? c.stop_replay : search::Stop(never));
  plan.replayed = status.ok();
  if (!status.ok() && !absl::IsCancelled(status)) {
    return ErrorAt(places.graph, status.message(), ": start with --from search");
  }
  if (plan.space.memory == 0) return absl::OkStatus();
  const int64_t arena = ArenaBytes(c.model.graph, plan);
  if (arena <= plan.space.memory) return absl::OkStatus();
  return ErrorAt(places.graph, "'memory' is ", plan.space.memory,
                 ", but the plan's program allocates ", arena,
                 " bytes a device: start with --from search and --memory");
}

absl::Status CheckFlags(const StatePlaces& places, const Graph& graph, const search::Space& space) {
  if (space.accumulators != search::HasAccumulators(graph)) {
    return ErrorAt(places.graph, "'accumulators' is not what the graph has");
  }
  if (space.partials != search::HasPartials(graph)) {
    return ErrorAt(places.graph, "'partials' is not what the graph has");
  }
  return absl::OkStatus();
}

// An empty list of names is a list of empty names.
bool NamedAlike(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (size_t d = 0; d < std::max(a.size(), b.size()); ++d) {
    if ((d < a.size() ? a[d] : "") != (d < b.size() ? b[d] : "")) return false;
  }
  return true;
}

bool IsEqual(const Tensor& a, const Tensor& b) {
  return a.name == b.name && a.kind == b.kind && a.type == b.type && a.dims == b.dims &&
         a.output == b.output && a.batch_dim == b.batch_dim && NamedAlike(a.dim_names, b.dim_names);
}

bool IsEqual(const Node& a, const Node& b) {
  return a.name == b.name && a.op == b.op && a.from == b.from && a.instance == b.instance &&
         a.operands == b.operands && a.result == b.result && *a.definition == *b.definition;
}

}  // namespace

absl::Status CheckRead(const StatePlaces& places, bool replay, Compilation& c) {
  const search::Plan& plan = c.plan;
  if (!plan.tensors.empty()) {
    YUBA_RETURN_IF_ERROR(CheckFlags(places, c.model.graph, plan.space));
  }
  YUBA_RETURN_IF_ERROR(CheckHash(places, c.model, plan));
  const absl::Status clustered = CheckClusters(c.model.graph, c.model.clusters);
  if (!clustered.ok()) {
    return ErrorAt(places.graph, clustered.message(), ": start with --from cluster");
  }
  if (!plan.tensors.empty()) YUBA_RETURN_IF_ERROR(CheckPlan(places, replay, c));
  if (c.program.stages_size() == 0 || c.program.graph_hash() == c.model.graph_hash) {
    return absl::OkStatus();
  }
  return ErrorAt(places.program, "'graph_hash' is \"", c.program.graph_hash(),
                 "\", but the hash of the graph is \"", c.model.graph_hash,
                 "\": start with --from spmd");
}

absl::Status CheckOfModel(const StatePlaces& places, bool ordered, const Compilation& c) {
  const Model& model = c.model;
  onnx::ImportOptions options = c.request.import;
  const bool planned = !c.plan.tensors.empty();
  if (planned) options.factors = c.plan.space.factors;
  YUBA_ASSIGN_OR_RETURN(Model read, onnx::ImportOnnx(c.request.model_file, options));
  if (ordered) {
    YUBA_RETURN_IF_ERROR(OrderModel(read));
    ClusterModel(read);
  }
  if (planned) read.graph = SharedGraph(read.graph, c.plan);
  const auto differs = [&](const std::string& place, const auto&... what) {
    return ErrorAt(place, what..., " not that of ", c.request.model_file,
                   ": give the flags that the dump was made with, or dump the model again");
  };
  const Graph &found = model.graph, &expected = read.graph;
  for (size_t t = 0; t < std::min(found.tensors.size(), expected.tensors.size()); ++t) {
    if (IsEqual(found.tensors[t], expected.tensors[t])) continue;
    return differs(places.tensors[t], "the tensor ", found.tensors[t].name, " is");
  }
  for (size_t n = 0; n < std::min(found.nodes.size(), expected.nodes.size()); ++n) {
    if (IsEqual(found.nodes[n], expected.nodes[n])) continue;
    return differs(places.tensors[found.nodes[n].result], "the node ", found.nodes[n].name, " is");
  }
  const bool equal = found.tensors.size() == expected.tensors.size() &&
                     found.nodes.size() == expected.nodes.size() &&
                     found.inputs == expected.inputs && found.outputs == expected.outputs;
  if (!equal) return differs(places.graph, "the graph is");
  if (!model.clusters.empty() && !(model.clusters == read.clusters)) {
    return differs(places.graph, "'clusters' is");
  }
  const bool same = model.graph_hash == read.graph_hash && model.opset == read.opset &&
                    model.file_nodes == read.file_nodes && model.flops == read.flops &&
                    model.file_inputs == read.file_inputs &&
                    model.file_outputs == read.file_outputs;
  if (same) return absl::OkStatus();
  return differs(places.graph,
                 "one of hash, opset, file_nodes, flops, file_inputs and file_outputs is");
}

}  // namespace yuba::compiler
