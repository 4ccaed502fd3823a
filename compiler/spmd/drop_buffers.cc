#include "compiler/spmd/drop_buffers.h"

#include <utility>
#include <vector>

namespace yuba::compiler {

void DropBuffers(const std::set<int>& unused, program::Program& program) {
  if (unused.empty()) return;
  std::vector<int> number(program.buffers_size());
  google::protobuf::RepeatedPtrField<program::Buffer> kept;
  for (int id = 0; id < program.buffers_size(); ++id) {
    number[id] = kept.size();
    if (unused.count(id) == 0) *kept.Add() = std::move(*program.mutable_buffers(id));
  }
  *program.mutable_buffers() = std::move(kept);
  const auto renumber = [&](auto& access) { access.set_buffer(number[access.buffer()]); };
  for (program::Instruction& instruction : *program.mutable_instructions()) {
    if (instruction.has_exchange()) {
      program::Exchange& exchange = *instruction.mutable_exchange();
      exchange.set_source(number[exchange.source()]);
      exchange.set_destination(number[exchange.destination()]);
      continue;
    }
    program::Kernel& kernel = *instruction.mutable_kernel();
    for (program::Access& operand : *kernel.mutable_operands()) renumber(operand);
    for (program::Access& result : *kernel.mutable_results()) renumber(result);
  }
  for (program::Port& port : *program.mutable_inputs()) renumber(port);
  for (program::Port& port : *program.mutable_outputs()) renumber(port);
  for (program::Initializer& parameter : *program.mutable_parameters())
    renumber(*parameter.mutable_port());
}

}  // namespace yuba::compiler
