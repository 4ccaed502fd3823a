#include "compiler/calls/joint_calls.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "absl/types/optional.h"
#include "compiler/calls/kernel_parts.h"
#include "opsemantics/regions/structure.h"
#include "runtime/program/check_joint_calls.h"

namespace yuba::compiler {
namespace {

using Position = std::vector<Affine>;

// The operand's position in the sums, where these are sums of it and of nothing else. Small floats
// may be cast to the type in which they are added up.
const Position* SummedAt(const Definition& definition) {
  if (definition.reducer != Reducer::kSum || !definition.where.empty() ||
      !definition.data_where.empty() || !definition.partial_operands.empty() ||
      definition.operands.size() != 1) {
    return nullptr;
  }
  const Expr* read = definition.body.get();
  if (read->kind == Expr::kCall && read->function == Function::kCast &&
      read->type == AccumulatorType(definition.operands[0].type)) {
    read = read->args[0].get();
  }
  return read->kind == Expr::kRead && read->args.empty() ? &read->position : nullptr;
}

// For each index of `sums`, whose operand is at `summed` there and at `read` in the product, the
// product's index that runs along the same dimension; nullopt where some do not, or where one of
// the two is summed over a dimension and the other is not. All inner indices of the product are
// along some dimension of each operand.
absl::optional<std::vector<int>> IndicesOfProduct(const Definition& sums, const Position& summed,
                                                  const Position& read, const Definition& product) {
  std::vector<int> of_product(sums.indices.size(), -1);
  size_t inner = 0;
  for (size_t d = 0; d < summed.size(); ++d) {
    const int index = summed[d].BareIndex(), of_read = read[d].BareIndex();
    if (index < 0 || of_read < 0 || of_product[index] >= 0 ||
        sums.indices[index].reduction != product.indices[of_read].reduction)
      return absl::nullopt;
    of_product[index] = of_read;
    inner += product.indices[of_read].reduction ? 1 : 0;
  }
  if (inner == 0) return absl::nullopt;
  return of_product;
}

// Where the product reads that operand, once.
const Position* ReadAt(const Definition& product, int operand) {
  const Position* found = nullptr;
  for (const ExprPtr& factor : FactorsOf(product)) {
    if (factor->operand != operand) continue;
    if (found != nullptr) return nullptr;
    found = &factor->position;
  }
  return found;
}

// The sums of the product's operand that `sums` is, if it is.
absl::optional<JointNodes> Match(const Node& product, int operand, const Node& sums) {
  const Definition& definition = *sums.definition;
  const Position* const summed = SummedAt(definition);
  const Position* const read = ReadAt(*product.definition, operand);
  if (summed == nullptr || read == nullptr || sums.entry != product.entry ||
      definition.result.type != product.definition->result.type)
    return absl::nullopt;
  const auto of_product = IndicesOfProduct(definition, *summed, *read, *product.definition);
  if (!of_product.has_value()) return absl::nullopt;
  JointNodes joint;
  joint.product = product.name;
  joint.other = sums.name;
  joint.operand = product.operands[operand];
  for (const Affine& dim : definition.left) {
    const int index = dim.BareIndex();
    if (index < 0) return absl::nullopt;
    joint.indices.push_back((*of_product)[index]);
  }
  return joint.indices.empty() ? absl::nullopt : absl::make_optional(std::move(joint));
}

std::map<std::string, NodeId> NodesByName(const Graph& graph) {
  std::map<std::string, NodeId> nodes;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    nodes.emplace(graph.nodes[n].name, static_cast<NodeId>(n));
  return nodes;
}

// Which nodes are kernels of their own, and which are the last of one.
struct NodesOfKernels {
  explicit NodesOfKernels(const program::Program& program) {
    for (const program::Instruction& instruction : program.instructions()) {
      const auto& nodes = instruction.kernel().node();
      if (nodes.size() == 1) alone.insert(nodes[0]);
      if (!nodes.empty()) last.insert(nodes[nodes.size() - 1]);
    }
  }
  bool MayBeJoint(const JointNodes& joint) const {
    const bool sums = joint.kind == program::JointCall::OPERAND_SUMS;
    return (sums ? alone : last).count(joint.product) != 0 && alone.count(joint.other) != 0;
  }

  std::set<std::string> alone, last;
};

// Whether `moved` may change places with `other`.
bool MayPass(const Graph& graph, const Node& moved, const Node& other) {
  const auto is_of = [&](const Node& reader, TensorId tensor) {
    return std::any_of(reader.operands.begin(), reader.operands.end(), [&](TensorId operand) {
      return operand == tensor || SourceOf(graph, operand) == tensor;
    });
  };
  return !is_of(moved, other.result) && !is_of(other, moved.result) && moved.result != other.result;
}

// Indices of the product are the first ones of its kernel's first definition.
absl::optional<program::JointCall> MessageOf(const JointNodes& joint, const Graph& graph,
                                             NodeId product, NodeId other, const KernelParts& parts,
                                             const program::Program& program) {
  program::JointCall call;
  call.set_kind(joint.kind);
  call.set_product(parts.KernelOf(product));
  call.set_other(parts.KernelOf(other));
  const program::Kernel& kernel = parts.KernelAt(product);
  const auto& definition = program.functions(kernel.function()).definitions(0);
  if (joint.kind != program::JointCall::ACTIVATION) {
    const bool sums = joint.kind == program::JointCall::OPERAND_SUMS;
    const std::vector<TensorId>& operands = graph.nodes[sums ? product : other].operands;
    const auto operand = std::find(operands.begin(), operands.end(), joint.operand);
    if (operand == operands.end()) return absl::nullopt;
    const auto& reader =
        sums ? definition : program.functions(parts.KernelAt(other).function()).definitions(0);
    call.set_operand(reader.operands(static_cast<int>(operand - operands.begin())).operand());
  }
  for (const int index : joint.indices) call.add_indices(definition.indices(index));
  return call;
}

}  // namespace

std::vector<JointNodes> FindOperandSums(const Graph& graph,
                                        const std::function<bool(const Node&)>& is_product) {
  std::vector<JointNodes> found;
  std::set<NodeId> taken;
  for (const Node& product : graph.nodes) {
    if (!product.definition->partial_operands.empty()) continue;
    const auto contraction = MatchContraction(*product.definition);
    if (!contraction.has_value() || !contraction->batch.empty() || !is_product(product)) continue;
    absl::optional<JointNodes> joint;
    for (size_t o = 0; o < product.operands.size() && !joint.has_value(); ++o) {
      for (const NodeId reader : graph.tensors[product.operands[o]].consumers) {
        if (taken.count(reader) != 0) continue;
        joint = Match(product, static_cast<int>(o), graph.nodes[reader]);
        if (!joint.has_value()) continue;
        taken.insert(reader);
        break;
      }
    }
    if (joint.has_value()) found.push_back(*std::move(joint));
  }
  return found;
}

std::vector<NodeId> BesideProducts(const Graph& graph, const std::vector<JointNodes>& joint,
                                   const program::Program& program) {
  std::vector<NodeId> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  const std::map<std::string, NodeId> nodes = NodesByName(graph);
  const NodesOfKernels kernels(program);
  for (const JointNodes& each : joint) {
    if (!kernels.MayBeJoint(each)) continue;
    const auto product = std::find(order.begin(), order.end(), nodes.at(each.product));
    const auto sums = std::find(order.begin(), order.end(), nodes.at(each.other));
    const bool up = product < sums;
    const Node& moved = graph.nodes[*sums];
    const auto may_pass = [&](NodeId other) { return MayPass(graph, moved, graph.nodes[other]); };
    if (up && std::all_of(product + 1, sums, may_pass))
      std::rotate(product + 1, sums, sums + 1);
    else if (!up && each.kind == program::JointCall::OPERAND_SUMS &&
             std::all_of(sums + 1, product, may_pass))
      std::rotate(sums, sums + 1, product);
  }
  return order;
}

void AddJointCalls(const Graph& graph, const std::vector<JointNodes>& joint,
                   program::Program& program) {
  KernelParts parts(graph, program);
  const std::map<std::string, NodeId> nodes = NodesByName(graph);
  for (const JointNodes& each : joint) {
    const NodeId product = nodes.at(each.product), other = nodes.at(each.other);
    if (parts.KernelOf(product) < 0 || parts.KernelOf(other) < 0) continue;
    std::vector<NodeId> members = {other};
    for (const std::string& node : parts.KernelAt(product).node())
      members.push_back(nodes.at(node));
    const absl::optional<Part> part = parts.Gather(members);
    if (!part.has_value() || part->end - part->begin != 2) continue;
    const auto call = MessageOf(each, graph, product, other, parts, program);
    if (!call.has_value()) continue;
    *program.add_joint_calls() = *call;
    if (!program::CheckJointCalls(program).ok()) program.mutable_joint_calls()->RemoveLast();
  }
}

}  // namespace yuba::compiler
