#include "runtime/program/check_attention.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"

namespace yuba::program {
namespace {

constexpr AttentionStep kForwardProducts = kWeightGradients;  // all without gradients

class AttentionChecker {
 public:
  explicit AttentionChecker(const Program& program)
      : program_(program), owner_(program.instructions_size(), -1) {}

  absl::Status Check() {
    for (int a = 0; a < program_.attention_size(); ++a)
      YUBA_RETURN_IF_ERROR(Annotate(CheckOne(a), absl::StrCat("attention ", a)));
    return CheckSubstitutes();
  }

 private:
  absl::Status CheckOne(int number) {
    const Attention& attention = program_.attention(number);
    for (const auto& [begin, end] : PartsOf(attention)) {
      if (begin < 0 || begin >= end || end > program_.instructions_size())
        return UserError("stands for instructions ", begin, " to ", end);
      for (int i = begin; i < end; ++i) {
        if (!program_.instructions(i).has_kernel() || owner_[i] >= 0)
          return UserError("stands for instruction ", i, ", which is no kernel of its own");
        owner_[i] = number;
      }
    }
    const bool backward = HasBackward(attention);
    if (attention.products_size() != (backward ? kAttentionSteps : kForwardProducts))
      return UserError("has ", attention.products_size(), " products");
    for (int p = 0; p < attention.products_size(); ++p)
      YUBA_RETURN_IF_ERROR(CheckProduct(attention, p));
    if (!std::isfinite(attention.scale())) return UserError("has no finite scale");
    if (backward) YUBA_RETURN_IF_ERROR(CheckGradients(attention));
    return CheckMask(attention);
  }

  absl::Status CheckGradients(const Attention& attention) const {
    if (attention.backward_begin() < attention.forward_end())
      return UserError("has gradients before its result");
    const int sums = attention.row_sums();
    if (sums < 0 || sums >= program_.buffers_size() || program_.buffers(sums).substitute() ||
        program_.buffers(sums).initialized() || program_.buffers(sums).type() != F32) {
      return UserError("has no buffer for the sums of rows");
    }
    return absl::OkStatus();
  }

  absl::Status CheckProduct(const Attention& attention, int number) const {
    const AttentionProduct& product = attention.products(number);
    const auto& [begin, end] = PartsOf(attention)[number < kForwardProducts ? 0 : 1];
    if (product.instruction() < begin || product.instruction() >= end)
      return UserError("has a product, ", product.instruction(), ", for which it does not stand");
    const Kernel& kernel = program_.instructions(product.instruction()).kernel();
    const Kernel& scores =
        program_.instructions(attention.products(kScores).instruction()).kernel();
    if (product.factor() < 0 || product.factor() >= kernel.operands_size() ||
        kernel.results().empty() || product.indices_size() != kernel.indices_size()) {
      return UserError("does not fit to instruction ", product.instruction());
    }
    for (const int index : product.indices()) {
      if (index < -1 || index >= scores.indices_size())
        return UserError("names index ", index, " of its first product");
    }
    return absl::OkStatus();
  }

  absl::Status CheckMask(const Attention& attention) const {
    const Kernel& scores =
        program_.instructions(attention.products(kScores).instruction()).kernel();
    const auto is_index = [&](int index) { return index >= 0 && index < scores.indices_size(); };
    if (attention.causal() &&
        (!is_index(attention.query_index()) || !is_index(attention.key_index()) ||
         std::isnan(attention.hidden()))) {
      return UserError("has a mask of indices that its scores do not have");
    }
    if (!attention.has_bias()) return absl::OkStatus();
    if (attention.bias() < 0 || attention.bias() >= program_.buffers_size() ||
        attention.bias_indices_size() != program_.buffers(attention.bias()).dims_size()) {
      return UserError("has no buffer for its bias");
    }
    for (const int index : attention.bias_indices()) {
      if (index != -1 && !is_index(index)) return UserError("has a bias of unknown indices");
    }
    return absl::OkStatus();
  }

  absl::Status CheckSubstitutes() const {
    std::vector<int> user(program_.buffers_size(), -2);  // -2: none yet
    for (int i = 0; i < program_.instructions_size(); ++i) {
      const auto use = [&](int buffer) -> absl::Status {
        if (!program_.buffers(buffer).substitute()) return absl::OkStatus();
        if (owner_[i] < 0 || (user[buffer] != -2 && user[buffer] != owner_[i])) {
          return UserError("buffer ", program_.buffers(buffer).name(),
                           " is a substitute and is used for more than one attention");
        }
        user[buffer] = owner_[i];
        return absl::OkStatus();
      };
      const Instruction& instruction = program_.instructions(i);
      for (const Access& operand : instruction.kernel().operands())
        YUBA_RETURN_IF_ERROR(use(operand.buffer()));
      for (const Access& result : instruction.kernel().results())
        YUBA_RETURN_IF_ERROR(use(result.buffer()));
      if (!instruction.has_exchange()) continue;
      YUBA_RETURN_IF_ERROR(use(instruction.exchange().source()));
      YUBA_RETURN_IF_ERROR(use(instruction.exchange().destination()));
    }
    const auto is_stored = [&](int buffer) {
      return UserError("buffer ", program_.buffers(buffer).name(), " is stored and a substitute");
    };
    for (int b = 0; b < program_.buffers_size(); ++b) {
      if (program_.buffers(b).substitute() && program_.buffers(b).initialized())
        return is_stored(b);
    }
    for (const Port& port : program_.outputs()) {
      if (port.buffer() >= 0 && port.buffer() < program_.buffers_size() &&
          program_.buffers(port.buffer()).substitute()) {
        return is_stored(port.buffer());
      }
    }
    return absl::OkStatus();
  }

  const Program& program_;
  std::vector<int> owner_;  // [instruction]: the attention whose call stands for it; -1: none
};

}  // namespace

std::vector<std::pair<int, int>> PartsOf(const Attention& attention) {
  std::vector<std::pair<int, int>> parts = {{attention.forward_begin(), attention.forward_end()}};
  if (HasBackward(attention))
    parts.emplace_back(attention.backward_begin(), attention.backward_end());
  return parts;
}

std::vector<int> KeptOf(const Program& program, const Attention& attention) {
  if (!HasBackward(attention)) return {};
  const auto product = [&](AttentionStep step) -> const Kernel& {
    return program.instructions(attention.products(step).instruction()).kernel();
  };
  const auto factor = [&](AttentionStep step) { return attention.products(step).factor(); };
  const Kernel &scores = product(kScores), &values = product(kValues);
  std::vector<int> kept = {
      scores.operands(factor(kScores)).buffer(), scores.operands(1 - factor(kScores)).buffer(),
      values.operands(factor(kValues)).buffer(), values.results(0).buffer(), attention.row_sums()};
  if (attention.has_bias()) kept.push_back(attention.bias());
  return kept;
}

absl::Status CheckAttention(const Program& program) { return AttentionChecker(program).Check(); }

}  // namespace yuba::program
