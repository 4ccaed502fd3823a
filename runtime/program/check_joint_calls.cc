#include "runtime/program/check_joint_calls.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "runtime/program/check_attention.h"

namespace yuba::program {
namespace {

template <typename Message>
bool Equal(const Message& a, const Message& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

class JointCallChecker {
 public:
  explicit JointCallChecker(const Program& program)
      : program_(program), taken_(program.instructions_size(), false) {
    for (const Attention& attention : program.attention()) {
      for (const auto& [begin, end] : PartsOf(attention))
        for (int i = begin; i < end; ++i) taken_[i] = true;
    }
  }

  absl::Status Check() {
    for (int c = 0; c < program_.joint_calls_size(); ++c)
      YUBA_RETURN_IF_ERROR(
          Annotate(CheckOne(program_.joint_calls(c)), absl::StrCat("joint call ", c)));
    return absl::OkStatus();
  }

 private:
  absl::Status CheckOne(const JointCall& call) {
    if (!JointCall::Kind_IsValid(call.kind())) return UserError("is of no kind ", call.kind());
    for (const int i : {call.product(), call.other()}) {
      if (i < 0 || i >= program_.instructions_size() || !program_.instructions(i).has_kernel())
        return UserError("names instruction ", i, ", which is no kernel");
      if (taken_[i]) return UserError("names instruction ", i, ", for which a call stands already");
    }
    const int distance = call.other() - call.product();
    if (distance != 1 && (call.kind() != JointCall::OPERAND_SUMS || distance != -1))
      return UserError("joins instructions ", call.product(), " and ", call.other(),
                       ", which do not follow each other");
    for (const int i : {call.product(), call.other()}) taken_[i] = true;
    const Kernel& product = program_.instructions(call.product()).kernel();
    const Kernel& other = program_.instructions(call.other()).kernel();
    const int operands = call.kind() == JointCall::SLOPE ? 2 : 1;
    if (product.results_size() != 1 || other.results_size() != 1 ||
        other.operands_size() != operands || DefinitionsOf(other) != 1 ||
        (call.kind() == JointCall::OPERAND_SUMS && DefinitionsOf(product) != 1))
      return UserError("joins kernels that compute more than one call can");
    for (const Entry& entry : program_.entries()) {
      if (entry.begin() == FirstOf(call) + 1) return UserError("joins instructions of two entries");
    }
    YUBA_RETURN_IF_ERROR(CheckRead(call, product, other));
    if (call.kind() == JointCall::SLOPE) YUBA_RETURN_IF_ERROR(CheckUnread(call, product));
    const Reducer reducer = program_.functions(other.function()).definitions(0).reducer();
    if (reducer != (call.kind() == JointCall::OPERAND_SUMS ? SUM : NONE))
      return UserError("has a second kernel that reduces otherwise than the call");
    return CheckResult(call, product, other);
  }

  int DefinitionsOf(const Kernel& kernel) const {
    return program_.functions(kernel.function()).definitions_size();
  }

  static absl::Status CheckRead(const JointCall& call, const Kernel& product, const Kernel& other) {
    const bool sums = call.kind() == JointCall::OPERAND_SUMS;
    if (sums && (call.operand() < 0 || call.operand() >= product.operands_size()))
      return UserError("sums operand ", call.operand(), ", which is not there");
    if (call.kind() == JointCall::SLOPE && (call.operand() < 0 || call.operand() > 1))
      return UserError("has the slope at operand ", call.operand(), ", which is not there");
    const Access& shared = sums ? product.operands(call.operand()) : product.results(0);
    const Access& read = other.operands(call.kind() == JointCall::SLOPE ? 1 - call.operand() : 0);
    if (read.buffer() == shared.buffer() && !read.partial() && !shared.partial() &&
        Equal(read.box(), shared.box())) {
      return absl::OkStatus();
    }
    return UserError("has a second kernel that reads something else than ",
                     sums ? "the operand" : "the result", " of the product");
  }

  // The product's result is not stored.
  absl::Status CheckUnread(const JointCall& call, const Kernel& product) const {
    const int result = product.results(0).buffer();
    bool used = program_.buffers(result).initialized();
    for (const Port& port : program_.outputs()) used |= port.buffer() == result;
    for (int i = 0; i < program_.instructions_size(); ++i) {
      if (i == call.product() || i == call.other()) continue;
      const Instruction& instruction = program_.instructions(i);
      for (const Access& operand : instruction.kernel().operands())
        used |= operand.buffer() == result;
      for (const Access& written : instruction.kernel().results())
        used |= written.buffer() == result;
      if (instruction.has_exchange())
        used |= instruction.exchange().source() == result ||
                instruction.exchange().destination() == result;
    }
    return used ? UserError("has a product whose result is used elsewhere") : absl::OkStatus();
  }

  absl::Status CheckResult(const JointCall& call, const Kernel& product,
                           const Kernel& other) const {
    const Access& result = other.results(0);
    if (program_.buffers(result.buffer()).type() !=
        program_.buffers(product.results(0).buffer()).type())
      return UserError("has two results of different types");
    if (call.indices_size() != result.box().dims_size())
      return UserError("names ", call.indices_size(), " indices for ", result.box().dims_size(),
                       " dimensions");
    std::set<int> seen;
    for (int d = 0; d < call.indices_size(); ++d) {
      const int index = call.indices(d);
      if (index < 0 || index >= product.indices_size() || !seen.insert(index).second)
        return UserError("names index ", index, ", which is none of the product, or twice");
      if (!Equal(product.indices(index), result.box().dims(d)))
        return UserError("has a second result that runs over another part of index ", index);
    }
    return absl::OkStatus();
  }

  const Program& program_;
  std::vector<bool> taken_;  // [instruction]: a call stands for it
};

}  // namespace

absl::Status CheckJointCalls(const Program& program) { return JointCallChecker(program).Check(); }

}  // namespace yuba::program
