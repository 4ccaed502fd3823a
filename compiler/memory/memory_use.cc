#include "compiler/memory/memory_use.h"

#include <algorithm>
#include <numeric>

#include "opsemantics/base/slot.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {
namespace {

template <typename Visit>
void ForEachBuffer(const program::Instruction& instruction, const Visit& visit) {
  if (instruction.has_kernel()) {
    for (const program::Access& operand : instruction.kernel().operands()) visit(operand.buffer());
    for (const program::Access& result : instruction.kernel().results()) visit(result.buffer());
  } else {
    visit(instruction.exchange().source());
    visit(instruction.exchange().destination());
  }
}

// [instruction]: the sum of the bytes of the buffers that live there. bytes: [buffer].
std::vector<int64_t> LiveBytes(const program::Program& program, const std::vector<int64_t>& bytes) {
  std::vector<int64_t> change(std::max(1, program.instructions_size()) + 1, 0);
  for (int id = 0; id < program.buffers_size(); ++id) {
    change[program.buffers(id).first()] += bytes[id];
    change[program.buffers(id).last() + 1] -= bytes[id];
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.pop_back();
  return change;
}

std::vector<int64_t> LiveSlots(const program::Program& program) {
  std::vector<int64_t> bytes;
  for (const program::Buffer& buffer : program.buffers()) bytes.push_back(SlotBytes(buffer.size()));
  return LiveBytes(program, bytes);
}

// [buffer]
std::vector<BufferRole> RolesOf(const program::Program& program) {
  std::vector<BufferRole> roles(program.buffers_size(), BufferRole::kActivation);
  for (const program::Instruction& instruction : program.instructions()) {
    const program::Exchange& exchange = instruction.exchange();
    if (!instruction.has_exchange() || exchange.source() == exchange.destination()) continue;
    if (exchange.reduce()) {
      roles[exchange.source()] = BufferRole::kWritten;
    } else {
      roles[exchange.destination()] = BufferRole::kGathered;
    }
  }
  for (int id = 0; id < program.buffers_size(); ++id) {
    if (program.buffers(id).initialized()) roles[id] = BufferRole::kStored;
  }
  for (const program::Port& port : program.outputs()) roles[port.buffer()] = BufferRole::kStored;
  return roles;
}

// [buffer]: the bytes of the device's box.
std::vector<int64_t> BoxBytes(const program::Program& program, int device) {
  const Mesh mesh = MeshOf(program);
  std::vector<int64_t> bytes;
  for (const program::Buffer& buffer : program.buffers()) {
    bytes.push_back(Volume(BoxOn(mesh, buffer.box(), device)) * ElementBytes(program, buffer));
  }
  return bytes;
}

}  // namespace

std::vector<Users> UsersOf(const program::Program& program) {
  std::vector<Users> users(program.buffers_size());
  for (int i = 0; i < program.instructions_size(); ++i) {
    ForEachBuffer(program.instructions(i), [&](int id) {
      if (users[id].none()) users[id].first = i;
      users[id].last = i;
    });
  }
  return users;
}

const std::string& NodeOf(const program::Instruction& instruction) {
  return instruction.has_kernel() ? instruction.kernel().node(0) : instruction.exchange().node();
}

ProgramMemory MeasureMemory(const program::Program& program) {
  const std::vector<int64_t> live = LiveSlots(program);
  return {program.arena_size(), *std::max_element(live.begin(), live.end())};
}

DeviceUse MeasureDevice(const program::Program& program, int device) {
  DeviceUse use;
  const std::vector<int64_t> bytes = BoxBytes(program, device);
  const std::vector<int64_t> live = LiveBytes(program, bytes);
  const int peak = std::max_element(live.begin(), live.end()) - live.begin();
  use.peak = live[peak];
  if (peak < program.instructions_size()) use.at = NodeOf(program.instructions(peak));
  const std::vector<BufferRole> roles = RolesOf(program);
  for (int id = 0; id < program.buffers_size(); ++id) {
    if (program.buffers(id).first() > peak || program.buffers(id).last() < peak) continue;
    switch (roles[id]) {
      case BufferRole::kStored: use.stored += bytes[id]; break;
      case BufferRole::kActivation: use.activations += bytes[id]; break;
      case BufferRole::kGathered:
      case BufferRole::kWritten: use.buffers += bytes[id]; break;
    }
  }
  return use;
}

MemoryOverTime MeasureOverTime(const program::Program& program, int device) {
  MemoryOverTime memory;
  memory.boxes = BoxBytes(program, device);
  memory.own = LiveBytes(program, memory.boxes);
  memory.slots = LiveSlots(program);
  memory.roles = RolesOf(program);
  return memory;
}

}  // namespace yuba::compiler
