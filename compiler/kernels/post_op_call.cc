#include "compiler/kernels/post_op_call.h"

#include <algorithm>
#include <utility>

#include "compiler/kernels/has_chain.h"
#include "opsemantics/gradient/slopes.h"

namespace yuba::kernels {
namespace {

program::PostOp::Kind KindOf(PostOp::Kind kind) {
  switch (kind) {
    case PostOp::kAdd: return program::PostOp::ADD;
    case PostOp::kSubtract: return program::PostOp::SUBTRACT;
    case PostOp::kMultiply: return program::PostOp::MULTIPLY;
    case PostOp::kScale: return program::PostOp::SCALE;
    case PostOp::kRelu: return program::PostOp::RELU;
    case PostOp::kGeluTanh: return program::PostOp::GELU_TANH;
    case PostOp::kGeluErf: return program::PostOp::GELU_ERF;
    case PostOp::kGeluTanhSlope: break;  // a kernel of its own, and a joint call
  }
  return program::PostOp::ADD;
}

// Which operand of definition `d` is what the definition before it computes; -1: none is.
int OperandFromBefore(const program::Function& function, int d) {
  const std::string computed = function.definitions(d - 1).computes().SerializeAsString();
  const auto& operands = function.definitions(d).operands();
  const auto found = std::find_if(operands.begin(), operands.end(), [&](const auto& operand) {
    return operand.SerializeAsString() == computed;
  });
  return found == operands.end() ? -1 : static_cast<int>(found - operands.begin());
}

// Adds the step of a map to the call; false where it reads what no operand of the kernel is.
// Indices of `step` become those of the kernel.
bool AddStep(const program::FunctionDefinition& map, PostOp& step, program::LibraryCall& call) {
  program::PostOp& added = *call.add_post_ops();
  added.set_kind(KindOf(step.kind));
  if (step.kind == PostOp::kScale) added.set_factor(step.factor);
  if (!step.HasOperand()) return true;
  const program::KernelTensor& tensor = map.operands(step.operand);
  if (tensor.kind_case() != program::KernelTensor::kOperand) return false;
  added.set_operand(tensor.operand());
  for (int& index : step.indices) {
    if (index >= 0) index = map.indices(index);
    added.add_indices(index);
  }
  return true;
}

}  // namespace

absl::optional<std::vector<PostOp>> LibrarySteps(const TargetFacts& target, const Definition& map,
                                                 int value, bool slopes) {
  const bool rounds = AccumulatorType(map.result.type) != map.result.type;
  if (rounds && !target.post_ops.small_floats) return absl::nullopt;
  return slopes ? MatchPostOpsAndSlopes(map, value) : MatchPostOps(map, value);
}

absl::optional<program::LibraryCall> CallWithPostOps(const std::vector<Definition>& definitions,
                                                     const program::Function& function,
                                                     const TargetFacts& target,
                                                     const LibraryFeatures& features) {
  Definition product = definitions[0];
  product.left = definitions.back().left;
  product.result = definitions.back().result;
  absl::optional<program::LibraryCall> call = LibraryCallFor(product, features);
  if (!call.has_value()) return absl::nullopt;
  const auto& operands = function.definitions(0).operands();
  call->set_left(operands[call->left()].operand());
  call->set_right(operands[call->right()].operand());
  std::vector<PostOp> chain;
  for (int d = 1; d < function.definitions_size(); ++d) {
    const int value = OperandFromBefore(function, d);
    if (value < 0) return absl::nullopt;
    auto steps = LibrarySteps(target, definitions[d], value, /*slopes=*/false);
    if (!steps.has_value()) return absl::nullopt;
    for (PostOp& step : *steps) {
      if (!AddStep(function.definitions(d), step, *call)) return absl::nullopt;
      chain.push_back(std::move(step));
    }
  }
  if (!HasChain(target.post_ops, *call, product.indices, chain)) return absl::nullopt;
  return call;
}

}  // namespace yuba::kernels
