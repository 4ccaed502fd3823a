#include "runtime/program/used_buffers.h"

#include "runtime/program/check_attention.h"

namespace yuba::program {

std::vector<UsedBuffers> UsedBuffersOf(const Program& program) {
  std::vector<UsedBuffers> used;
  for (const Instruction& instruction : program.instructions()) {
    UsedBuffers& own = used.emplace_back();
    if (instruction.has_exchange()) {
      own.reads.push_back(instruction.exchange().source());
      own.writes.push_back(instruction.exchange().destination());
      continue;
    }
    for (const Access& operand : instruction.kernel().operands())
      own.reads.push_back(operand.buffer());
    for (const Access& result : instruction.kernel().results())
      own.writes.push_back(result.buffer());
  }
  for (const Attention& attention : program.attention()) {
    if (!HasBackward(attention)) continue;
    used[attention.forward_begin()].writes.push_back(attention.row_sums());
    for (const int kept : KeptOf(program, attention))
      used[attention.backward_begin()].reads.push_back(kept);
  }
  return used;
}

}  // namespace yuba::program
