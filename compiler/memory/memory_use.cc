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
  } else if (instruction.has_exchange()) {
    visit(instruction.exchange().source());
    visit(instruction.exchange().destination());
  } else {
    for (const program::Instruction& inner : instruction.repeat().body()) {
      ForEachBuffer(inner, visit);
    }
  }
}

// [instruction]: the sum of the bytes of the buffers that live there. bytes: [buffer].
std::vector<int64_t> LiveBytes(const program::Stage& stage, const std::vector<int64_t>& bytes) {
  std::vector<int64_t> change(std::max(1, stage.instructions_size()) + 1, 0);
  for (int id = 0; id < stage.buffers_size(); ++id) {
    change[stage.buffers(id).first()] += bytes[id];
    change[stage.buffers(id).last() + 1] -= bytes[id];
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.pop_back();
  return change;
}

std::vector<int64_t> LiveSlots(const program::Stage& stage) {
  std::vector<int64_t> bytes;
  for (const program::Buffer& buffer : stage.buffers()) bytes.push_back(SlotBytes(buffer.size()));
  return LiveBytes(stage, bytes);
}

// [buffer]
std::vector<BufferRole> RolesOf(const program::Program& program, const program::Stage& stage) {
  std::vector<BufferRole> roles(stage.buffers_size(), BufferRole::kActivation);
  for (const program::Instruction& instruction : stage.instructions()) {
    const program::Exchange& exchange = instruction.exchange();
    if (!instruction.has_exchange() || exchange.source() == exchange.destination()) continue;
    if (exchange.reduce()) {
      roles[exchange.source()] = BufferRole::kWritten;
    } else {
      roles[exchange.destination()] = BufferRole::kGathered;
    }
  }
  for (int id = 0; id < stage.buffers_size(); ++id) {
    if (stage.buffers(id).initialized()) roles[id] = BufferRole::kStored;
  }
  for (const program::Port& port : program.outputs()) roles[port.buffer()] = BufferRole::kStored;
  return roles;
}

// [buffer]: the bytes of the device's box.
std::vector<int64_t> BoxBytes(const program::Program& program, const program::Stage& stage,
                              int device) {
  const Mesh mesh = MeshOf(program);
  std::vector<int64_t> bytes;
  for (const program::Buffer& buffer : stage.buffers()) {
    bytes.push_back(Volume(BoxOn(mesh, buffer.box(), device)) * ElementBytes(program, buffer));
  }
  return bytes;
}

}  // namespace

std::vector<Users> UsersOf(const program::Stage& stage) {
  std::vector<Users> users(stage.buffers_size());
  for (int i = 0; i < stage.instructions_size(); ++i) {
    ForEachBuffer(stage.instructions(i), [&](int id) {
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
  ProgramMemory use;
  for (const program::Stage& stage : program.stages()) {
    use.arena = std::max(use.arena, stage.arena_size());
    const std::vector<int64_t> live = LiveSlots(stage);
    const auto peak = std::max_element(live.begin(), live.end());
    if (*peak <= use.live_bound) continue;
    use.live_bound = *peak;
    use.peak_instruction = peak - live.begin();
  }
  return use;
}

DeviceUse MeasureDevice(const program::Program& program, int device) {
  DeviceUse use;
  for (const program::Stage& stage : program.stages()) {
    const std::vector<int64_t> bytes = BoxBytes(program, stage, device);
    const std::vector<int64_t> live = LiveBytes(stage, bytes);
    const int peak = std::max_element(live.begin(), live.end()) - live.begin();
    if (live[peak] <= use.peak) continue;
    use = DeviceUse();
    use.peak = live[peak];
    if (peak < stage.instructions_size()) use.at = NodeOf(stage.instructions(peak));
    const std::vector<BufferRole> roles = RolesOf(program, stage);
    for (int id = 0; id < stage.buffers_size(); ++id) {
      if (stage.buffers(id).first() > peak || stage.buffers(id).last() < peak) continue;
      switch (roles[id]) {
        case BufferRole::kStored: use.stored += bytes[id]; break;
        case BufferRole::kActivation: use.activations += bytes[id]; break;
        case BufferRole::kGathered:
        case BufferRole::kWritten: use.buffers += bytes[id]; break;
      }
    }
  }
  return use;
}

MemoryOverTime MeasureOverTime(const program::Program& program, int device) {
  const program::Stage& stage = program.stages(0);
  MemoryOverTime memory;
  memory.boxes = BoxBytes(program, stage, device);
  memory.own = LiveBytes(stage, memory.boxes);
  memory.slots = LiveSlots(stage);
  memory.roles = RolesOf(program, stage);
  return memory;
}

}  // namespace yuba::compiler
