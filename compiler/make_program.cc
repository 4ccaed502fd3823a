#include "compiler/make_program.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compiler/attention/neighbours.h"
#include "compiler/attention/stands_for.h"
#include "compiler/calls/joint_calls.h"
#include "compiler/calls/stored_arguments.h"
#include "compiler/cluster/cluster.h"
#include "compiler/cluster/products.h"
#include "compiler/cluster/rows.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/order/follow.h"
#include "compiler/order/gather.h"
#include "compiler/order/order.h"
#include "compiler/search_model.h"
#include "compiler/spmd/spmd.h"
#include "opsemantics/base/check.h"
#include "opsemantics/gradient/slopes.h"

namespace yuba::compiler {
namespace {

// Which nodes share kernels. On a GPU the threads of a warp or block share out the loops inside of
// shared indices, where they can. What a kernel of several nodes reads and writes is
// live at once, and a limit on memory was kept with a kernel for each node: where it is not kept
// otherwise, it stays so.
struct SharedKernels {
  Joins joins = Joins::kNone;
  std::vector<Cluster> products;
};
SharedKernels SharedKernelsFor(const Compilation& c) {
  SharedKernels shared;
  shared.joins = c.request.kernels.target.facts->parallel ? Joins::kRows : Joins::kAll;
  // Of the graph at hand: a plan's may have copies and accumulators.
  const std::vector<Cluster> products = FindProducts(c.model.graph);
  const absl::Status sound = CheckProducts(c.model.graph, products);
  YUBA_CHECK(sound.ok()) << sound;
  shared.products = kernels::LibraryProducts(c.model.graph, products, c.request.kernels);
  const int64_t limit = c.plan.space.memory;
  if (limit == 0 || (!c.request.kernels.target.facts->parallel && c.model.clusters.empty() &&
                     shared.products.empty()))
    return shared;
  const auto program =
      MakeSpmdProgram(c.model, c.plan, Arithmetic::kFloat, shared.joins, shared.products);
  return ArenaBytesOf(program, c.plan) > limit ? SharedKernels() : shared;
}

// Gives node n what was planned for node order[n].
void FollowNodes(const std::vector<NodeId>& order, search::Plan& plan) {
  search::Choices nodes;
  for (const NodeId node : order) nodes.push_back(std::move(plan.nodes[node]));
  plan.nodes = std::move(nodes);
}

std::vector<NodeId> FollowPass(const std::vector<Cluster>& products, Model& model) {
  return FollowClusters(products, model);
}

// Readers of copies that lie where their tensors do read the tensors: copies between nodes would
// hide what these have in common, and nothing moves. What is left of such a copy is a tensor that
// nothing makes or reads.
void ReadThroughCopies(Compilation& c) {
  Graph& graph = c.model.graph;
  std::vector<Node> nodes;
  search::Choices planned;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    const bool copy = IsCopy(graph, node) &&
                      c.plan.tensors[node.result] == c.plan.tensors[SourceOf(graph, node.result)];
    if (copy) continue;
    planned.push_back(std::move(c.plan.nodes[n]));
    nodes.push_back(node);
    for (TensorId& operand : nodes.back().operands) {
      const TensorId source = SourceOf(graph, operand);
      if (c.plan.tensors[operand] == c.plan.tensors[source]) operand = source;
    }
  }
  graph.nodes = std::move(nodes);
  c.plan.nodes = std::move(planned);
  Link(graph);
}

// Sums that one call may compute with their product (JoinProducts): nothing joins these either.
std::vector<Cluster> WithJointSums(const Compilation& c, std::vector<Cluster> products) {
  std::set<std::string> sums;
  const auto is_product = [&](const Node& node) {
    return kernels::MayHaveOperandSums(*node.definition, c.request.kernels);
  };
  for (const JointNodes& joint : FindOperandSums(c.model.graph, is_product))
    sums.insert(joint.other);
  std::set<TensorId> taken;
  for (const Cluster& cluster : c.model.clusters)
    taken.insert(cluster.results.begin(), cluster.results.end());
  for (const Node& node : c.model.graph.nodes) {
    if (sums.count(node.name) == 0 || taken.count(node.result) != 0) continue;
    Cluster sum;
    sum.results = {node.result};
    sum.entry = node.entry;
    products.push_back(std::move(sum));
  }
  return products;
}

// Brings kernels of a GPU together that can be one: the nodes of graph and plan move alike. Where
// there is a limit on memory, the program must keep it.
void BringTogether(Compilation& c) {
  if (!c.request.kernels.target.facts->parallel || !c.request.kernels.gathers) return;
  const Model before = c.model;
  const search::Choices planned = c.plan.nodes;
  ReadThroughCopies(c);
  for (const auto& pass : {FollowPass, GatherKernels}) {
    std::vector<Cluster> products =
        kernels::LibraryProducts(c.model.graph, FindProducts(c.model.graph), c.request.kernels);
    const std::vector<NodeId> order = pass(WithJointSums(c, std::move(products)), c.model);
    FollowNodes(order, c.plan);
  }
  if (c.plan.space.memory == 0 || SharedKernelsFor(c).joins != Joins::kNone) return;
  c.model = before;
  c.plan.nodes = planned;
}

// Puts the nodes of graph and plan into this order, and renumbers those of attention.
void MoveNodes(const std::vector<NodeId>& order, std::vector<Attention>& attention,
               Compilation& c) {
  Reorder(order, c.model);
  FollowNodes(order, c.plan);
  std::vector<NodeId> numbers(order.size());
  for (size_t n = 0; n < order.size(); ++n) numbers[order[n]] = static_cast<NodeId>(n);
  for (Attention& each : attention) Renumber(numbers, each);
}

// The attention that the target's library may compute, its nodes neighbours in graph and plan.
std::vector<Attention> PlaceAttention(Compilation& c) {
  const kernels::KernelChoice& choice = c.request.kernels;
  if (!choice.library || choice.target.arithmetic == Arithmetic::kHash ||
      choice.target.facts->libraries.attention == nullptr) {
    return {};
  }
  Graph& graph = c.model.graph;
  std::vector<Attention> found;
  for (Attention& attention : FindAttention(c.model)) {
    if (IsForLibrary(graph, attention)) found.push_back(std::move(attention));
  }
  if (found.empty()) return found;
  const std::vector<NodeId> order = NeighboursOrder(graph, found);
  MoveNodes(order, found, c);
  return found;
}

// The results of attention are those of its call: nothing follows them in one kernel.
void KeepResultsAlone(const Graph& graph, const std::vector<Attention>& attention,
                      std::vector<Cluster>& products) {
  std::set<TensorId> results;
  for (const Attention& each : attention) {
    for (const program::AttentionStep step : {program::kValues, program::kValueGradients,
                                              program::kQueryGradients, program::kKeyGradients})
      if (each.NodeOf(step) >= 0) results.insert(graph.nodes[each.NodeOf(step)].result);
  }
  products.erase(std::remove_if(products.begin(), products.end(),
                                [&](const Cluster& product) {
                                  return results.count(product.results[0]) != 0;
                                }),
                 products.end());
}

// Takes from the products those with a slope behind them, which are two kernels and a joint call.
std::vector<JointNodes> TakeSlopes(const Graph& graph, std::vector<Cluster>& products) {
  std::vector<JointNodes> slopes;
  const auto is_slope = [&](const Cluster& cluster) {
    const Node& last = graph.nodes[ProducerIn(graph, cluster.results.back(), cluster.entry)];
    const auto value = std::find(last.operands.begin(), last.operands.end(), cluster.results[0]);
    if (cluster.results.size() != 2 || value == last.operands.end()) return false;
    const auto steps =
        MatchPostOpsAndSlopes(*last.definition, static_cast<int>(value - last.operands.begin()));
    if (!steps.has_value() || steps->size() != 1 || (*steps)[0].kind != PostOp::kGeluTanhSlope)
      return false;
    JointNodes joint;
    joint.kind = program::JointCall::SLOPE;
    joint.product = graph.nodes[ProducerIn(graph, cluster.results[0], cluster.entry)].name;
    joint.other = last.name;
    joint.operand = last.operands[(*steps)[0].operand];
    joint.indices = (*steps)[0].indices;
    slopes.push_back(std::move(joint));
    return true;
  };
  products.erase(std::remove_if(products.begin(), products.end(), is_slope), products.end());
  return slopes;
}

// The program of the graph as it is, with what calls stand for.
program::Program ProgramOf(const Compilation& c, const std::vector<Attention>& attention,
                           const std::vector<JointNodes>& joint) {
  SharedKernels shared = SharedKernelsFor(c);
  std::vector<JointNodes> slopes = TakeSlopes(c.model.graph, shared.products);
  // Apart, a product and its slope have a buffer more between them.
  const int64_t limit = c.plan.space.memory;
  if (limit > 0 && !slopes.empty() &&
      ArenaBytesOf(
          MakeSpmdProgram(c.model, c.plan, Arithmetic::kFloat, shared.joins, shared.products),
          c.plan) > limit) {
    shared = SharedKernels();
    slopes.clear();
  }
  KeepResultsAlone(c.model.graph, attention, shared.products);
  program::Program program = MakeSpmdProgram(c.model, c.plan, c.request.kernels.target.arithmetic,
                                             shared.joins, shared.products, c.layouts);
  AddAttention(c.model.graph, attention, program);
  AddJointCalls(c.model.graph, slopes, program);
  AddJointCalls(c.model.graph, joint, program);
  return program;
}

// Stores what activations are of in graph and plan, where the target's library has such calls;
// `wanted` as StoreArguments has it. What is to be joined then.
std::vector<JointNodes> StoreArgumentsOf(const absl::optional<std::set<std::string>>& wanted,
                                         Compilation& c) {
  const kernels::KernelChoice& choice = c.request.kernels;
  if (choice.joint_calls != kernels::JointCalls::kAll || !choice.gathers ||
      !choice.target.facts->libraries.joint_calls)
    return {};
  ReadThroughCopies(c);
  StoredArguments stored = StoreArguments(
      c.model.graph,
      [&](const Node& product, const std::vector<PostOp>& steps) {
        return kernels::MayStoreArgument(*product.definition, steps, choice);
      },
      wanted);
  search::Choices tensors, nodes;
  for (const TensorId tensor : stored.tensors) tensors.push_back(c.plan.tensors[tensor]);
  for (const NodeId node : stored.nodes) nodes.push_back(c.plan.nodes[node]);
  c.model.graph = std::move(stored.graph);
  c.plan.tensors = std::move(tensors);
  c.plan.nodes = std::move(nodes);
  return std::move(stored.joint);
}

// What may be one call with a product that is no part of attention.
std::vector<JointNodes> FindJoint(const Compilation& c, const std::vector<Attention>& attention) {
  std::set<const Node*> taken;
  for (const Attention& each : attention) {
    for (const std::vector<NodeId>* half : {&each.forward, &each.backward})
      for (const NodeId node : *half) taken.insert(&c.model.graph.nodes[node]);
  }
  return FindOperandSums(c.model.graph, [&](const Node& node) {
    return taken.count(&node) == 0 &&
           kernels::MayHaveOperandSums(*node.definition, c.request.kernels);
  });
}

// Moves sums to their products in graph, plan and program. What a joint call reads and writes is
// live at once: where there is a limit on memory, the program must keep it, and has none otherwise.
void JoinProducts(std::vector<Attention> attention, const std::vector<JointNodes>& activations,
                  Compilation& c) {
  std::vector<JointNodes> joint = FindJoint(c, attention);
  joint.insert(joint.end(), activations.begin(), activations.end());
  if (joint.empty()) return;
  const Model before = c.model;
  const search::Choices planned = c.plan.nodes;
  const std::vector<NodeId> order = BesideProducts(c.model.graph, joint, c.program);
  MoveNodes(order, attention, c);
  program::Program joined = ProgramOf(c, attention, joint);
  const int64_t limit = c.plan.space.memory;
  if (joined.joint_calls().empty() || (limit > 0 && ArenaBytesOf(joined, c.plan) > limit)) {
    c.model = before;
    c.plan.nodes = planned;
    return;
  }
  c.program = std::move(joined);
}

std::set<std::string> JoinedActivations(const program::Program& program) {
  std::set<std::string> joined;
  for (const program::JointCall& call : program.joint_calls()) {
    if (call.kind() == program::JointCall::ACTIVATION)
      joined.insert(program.instructions(call.other()).kernel().node(0));
  }
  return joined;
}

}  // namespace

absl::Status MakeProgram(Compilation& c) {
  const Model model = c.model;
  const search::Plan plan = c.plan;
  absl::optional<std::set<std::string>> wanted;  // activations
  while (true) {
    const std::vector<JointNodes> activations = StoreArgumentsOf(wanted, c);
    BringTogether(c);
    if (c.request.kernels.target.facts->parallel) MarkFewRows(c.plan, c.model);
    const std::vector<Attention> attention = PlaceAttention(c);
    c.program = ProgramOf(c, attention, {});
    JoinProducts(attention, activations, c);
    wanted = JoinedActivations(c.program);
    if (wanted->size() == activations.size()) break;
    // What is stored for a call that there is not would be a kernel more.
    c.model = model;
    c.plan = plan;
  }
  c.program.set_version(c.request.version);
  return absl::OkStatus();
}

}  // namespace yuba::compiler
