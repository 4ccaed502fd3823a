// Exchanges that begin with the exchange before them (Instruction.joins).
#include <algorithm>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/base/status.h"
#include "runtime/program/program.h"
#include "runtime/program/validate.h"

namespace yuba::runtime {
namespace {

// Bytes of the arena that an exchange uses.
struct Use {
  Interval bytes;
  int instruction = 0;
};

Use UseOf(const LoadedProgram& program, int instruction, int buffer) {
  const program::Buffer& slot = program.message().buffers(buffer);
  return {{slot.offset(), slot.offset() + slot.size()}, instruction};
}

absl::Status InTheWay(const LoadedProgram& program, int a, int b) {
  return UserError(program.Describe(std::max(a, b)), ": begins together with instruction ",
                   std::min(a, b), ", and one of them writes memory that the other one uses");
}

// The exchanges [begin, end) begin together.
absl::Status CheckTogether(const LoadedProgram& program, int begin, int end) {
  std::vector<Use> writes;
  for (int i = begin; i < end; ++i) {
    writes.push_back(UseOf(program, i, program.instructions()[i].exchange().destination()));
    if (writes.back().bytes.empty()) writes.pop_back();
  }
  std::sort(writes.begin(), writes.end(),
            [](const Use& a, const Use& b) { return a.bytes.begin < b.bytes.begin; });
  for (size_t w = 1; w < writes.size(); ++w) {
    if (writes[w].bytes.begin < writes[w - 1].bytes.end)
      return InTheWay(program, writes[w - 1].instruction, writes[w].instruction);
  }
  for (int i = begin; i < end; ++i) {
    const Use read = UseOf(program, i, program.instructions()[i].exchange().source());
    if (read.bytes.empty()) continue;
    // By now no two of them overlap, so that ends ascend too.
    auto write =
        std::upper_bound(writes.begin(), writes.end(), read.bytes.begin,
                         [](int64_t begins, const Use& use) { return begins < use.bytes.end; });
    for (; write != writes.end() && write->bytes.begin < read.bytes.end; ++write) {
      if (write->instruction != i) return InTheWay(program, write->instruction, i);
    }
  }
  return absl::OkStatus();
}

// Whether instruction `i` may join the one before it, which is of the same entry where i > begin.
absl::Status CheckJoins(const LoadedProgram& program, const program::EntryRange& entry, int i) {
  const auto& instructions = program.instructions();
  if (i > entry.begin && instructions[i].has_exchange() && instructions[i - 1].has_exchange())
    return absl::OkStatus();
  return UserError(program.Describe(i),
                   ": joins the instruction before it, and they are not two "
                   "exchanges of one entry");
}

}  // namespace

absl::Status ValidateJoins(const LoadedProgram& program) {
  for (const program::EntryRange& entry : program.entries()) {
    int begin = entry.begin;  // of those that begin together
    for (int i = entry.begin; i < entry.end; ++i) {
      const bool joins = program.instructions()[i].joins();
      if (joins) YUBA_RETURN_IF_ERROR(CheckJoins(program, entry, i));
      if (!joins) begin = i;
      const bool last = i + 1 == entry.end || !program.instructions()[i + 1].joins();
      if (joins && last) YUBA_RETURN_IF_ERROR(CheckTogether(program, begin, i + 1));
    }
  }
  return absl::OkStatus();
}

}  // namespace yuba::runtime
