#include "compiler/memory/memory.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "compiler/memory/arena.h"
#include "compiler/spmd/tables.h"
#include "runtime/program/program.pb.h"
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

void SetLifetimes(const program::Program& program, program::Stage& stage) {
  const int last = std::max(0, stage.instructions_size() - 1);
  std::vector<bool> used(stage.buffers_size(), false);
  for (int i = 0; i < stage.instructions_size(); ++i) {
    ForEachBuffer(stage.instructions(i), [&](int id) {
      program::Buffer& buffer = *stage.mutable_buffers(id);
      if (!used[id]) buffer.set_first(i);
      buffer.set_last(i);
      used[id] = true;
    });
  }
  const auto live_always = [&](int id) {
    stage.mutable_buffers(id)->set_first(0);
    stage.mutable_buffers(id)->set_last(last);
  };
  for (int id = 0; id < stage.buffers_size(); ++id) {
    if (stage.buffers(id).initialized() || !used[id]) live_always(id);
  }
  for (const program::Port& port : program.outputs()) live_always(port.buffer());
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

enum class BufferRole { kStored, kActivation, kExchanged };

// [buffer]. Exchanged are the buffers in which gathers from other buffers arrive, and those from
// which reductions start.
std::vector<BufferRole> RolesOf(const program::Program& program, const program::Stage& stage) {
  std::vector<BufferRole> roles(stage.buffers_size(), BufferRole::kActivation);
  for (const program::Instruction& instruction : stage.instructions()) {
    const program::Exchange& exchange = instruction.exchange();
    if (!instruction.has_exchange() || exchange.source() == exchange.destination()) continue;
    roles[exchange.reduce() ? exchange.source() : exchange.destination()] = BufferRole::kExchanged;
  }
  for (int id = 0; id < stage.buffers_size(); ++id) {
    if (stage.buffers(id).initialized()) roles[id] = BufferRole::kStored;
  }
  for (const program::Port& port : program.outputs()) roles[port.buffer()] = BufferRole::kStored;
  return roles;
}

// Of a kernel of several nodes the first.
const std::string& NodeOf(const program::Instruction& instruction) {
  return instruction.has_kernel() ? instruction.kernel().node(0) : instruction.exchange().node();
}

int64_t BoxBytes(const program::Program& program, const Mesh& mesh, const program::Buffer& buffer,
                 int device) {
  return Volume(BoxOn(mesh, buffer.box(), device)) * ElementBytes(program, buffer);
}

}  // namespace

void PlanMemory(program::Program& program, int64_t limit) {
  const Mesh mesh = MeshOf(program);
  for (program::Stage& stage : *program.mutable_stages()) {
    SetLifetimes(program, stage);
    for (program::Buffer& buffer : *stage.mutable_buffers()) {
      int64_t elements = 0;
      for (const Box& box : BoxesOn(mesh, buffer.box())) {
        elements = std::max(elements, Volume(box));
      }
      buffer.set_size(elements * ElementBytes(program, buffer));
    }
    std::vector<BufferLife> lives;
    for (const program::Buffer& buffer : stage.buffers()) {
      lives.push_back({buffer.first(), buffer.last() + 1, buffer.size()});
    }
    const ArenaLayout layout = PlaceBuffers(lives, limit);
    for (int id = 0; id < stage.buffers_size(); ++id) {
      stage.mutable_buffers(id)->set_offset(layout.offsets[id]);
    }
    stage.set_arena_size(layout.arena);
  }
}

ProgramMemory MeasureMemory(const program::Program& program) {
  ProgramMemory use;
  for (const program::Stage& stage : program.stages()) {
    use.arena = std::max(use.arena, stage.arena_size());
    std::vector<int64_t> bytes;
    for (const program::Buffer& buffer : stage.buffers()) bytes.push_back(buffer.size());
    const std::vector<int64_t> live = LiveBytes(stage, bytes);
    const auto peak = std::max_element(live.begin(), live.end());
    if (*peak <= use.live_bound) continue;
    use.live_bound = *peak;
    use.peak_instruction = peak - live.begin();
  }
  return use;
}

DeviceUse MeasureDevice(const program::Program& program, int device) {
  DeviceUse use;
  const Mesh mesh = MeshOf(program);
  for (const program::Stage& stage : program.stages()) {
    std::vector<int64_t> bytes;
    for (const program::Buffer& buffer : stage.buffers()) {
      bytes.push_back(BoxBytes(program, mesh, buffer, device));
    }
    const std::vector<int64_t> live = LiveBytes(stage, bytes);
    const int peak = std::max_element(live.begin(), live.end()) - live.begin();
    if (live[peak] <= use.peak) continue;
    use = DeviceUse();
    use.peak = live[peak];
    if (peak < stage.instructions_size()) use.at = NodeOf(stage.instructions(peak));
    const std::vector<BufferRole> roles = RolesOf(program, stage);
    for (int id = 0; id < stage.buffers_size(); ++id) {
      if (stage.buffers(id).first() > peak || stage.buffers(id).last() < peak) continue;
      if (roles[id] == BufferRole::kStored) use.stored += bytes[id];
      if (roles[id] == BufferRole::kActivation) use.activations += bytes[id];
      if (roles[id] == BufferRole::kExchanged) use.buffers += bytes[id];
    }
  }
  return use;
}

}  // namespace yuba::compiler
