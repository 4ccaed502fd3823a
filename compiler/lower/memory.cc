// plan memory: when each buffer is live, and an offset for it in one arena that is the same on all
// devices. A slot is as large as the largest device's box.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "compiler/lower/lower.h"
#include "compiler/lower/tables.h"
#include "search/memory_price.h"

namespace yuba {
namespace {

constexpr int kTurns = 30;

template <typename Visit>
void ForEachBuffer(const program::Instruction& instruction, const Visit& visit) {
  if (instruction.has_kernel()) {
    for (const program::Access& operand : instruction.kernel().operands()) visit(operand.buffer());
    visit(instruction.kernel().result().buffer());
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

bool LiveTogether(const program::Buffer& a, const program::Buffer& b) {
  return a.first() <= b.last() && b.first() <= a.last();
}

// Places the slots in `order`, each at the lowest offset that is free throughout its life. Returns
// the size of the arena.
int64_t Place(const program::Stage& stage, const std::vector<int>& order,
              std::vector<int64_t>& offsets) {
  std::vector<int> placed;  // by offset
  int64_t arena = 0;
  for (int id : order) {
    const program::Buffer& buffer = stage.buffers(id);
    int64_t offset = 0;
    for (int other : placed) {
      if (offsets[other] >= offset + buffer.size()) break;
      if (!LiveTogether(buffer, stage.buffers(other))) continue;
      offset = std::max(offset, Slot(offsets[other] + stage.buffers(other).size()));
    }
    offsets[id] = offset;
    arena = std::max(arena, offset + buffer.size());
    if (buffer.size() == 0) continue;
    const auto after = [&](int64_t value, int other) { return value < offsets[other]; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset, after), id);
  }
  return arena;
}

// Orders worth trying: none is best for all programs.
std::vector<std::vector<int>> Orders(const program::Stage& stage) {
  using Key = std::function<double(const program::Buffer&)>;
  const auto length = [](const program::Buffer& b) { return double(b.last()) - b.first() + 1; };
  const std::vector<Key> keys = {
      [](const program::Buffer& b) { return double(b.size()); },
      [&](const program::Buffer& b) { return length(b); },
      [&](const program::Buffer& b) { return double(b.size()) * length(b); },
      [](const program::Buffer& b) { return -double(b.first()); },
      [](const program::Buffer& b) { return double(b.last()); },
  };
  std::vector<std::vector<int>> orders;
  for (const Key& key : keys) {
    orders.emplace_back(stage.buffers_size());
    std::iota(orders.back().begin(), orders.back().end(), 0);
    std::stable_sort(orders.back().begin(), orders.back().end(), [&](int a, int b) {
      const double first = key(stage.buffers(a)), second = key(stage.buffers(b));
      return first != second ? first > second : stage.buffers(a).size() > stage.buffers(b).size();
    });
  }
  return orders;
}

// Bytes live at each instruction. bytes: [buffer].
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

struct Placement {
  std::vector<int64_t> offsets;  // by buffer
  int64_t arena = -1;
};

// Of all orders, and of what becomes of the best where the slot that ends highest goes first, again
// and again (squeaky wheels: Joslin and Clements 1999), until no order can be better.
Placement BestPlacement(const program::Stage& stage) {
  std::vector<int64_t> slots;
  for (const program::Buffer& buffer : stage.buffers()) slots.push_back(Slot(buffer.size()));
  const std::vector<int64_t> live = LiveBytes(stage, slots);
  const int64_t least = *std::max_element(live.begin(), live.end());
  Placement best;
  std::vector<int> best_order;
  const auto consider = [&](const std::vector<int>& order) {
    Placement here;
    here.offsets.assign(stage.buffers_size(), 0);
    here.arena = Place(stage, order, here.offsets);
    if (best.arena < 0 || here.arena < best.arena) {
      best = here;
      best_order = order;
    }
    return here;
  };
  for (const std::vector<int>& order : Orders(stage)) consider(order);
  Placement last = best;
  std::vector<int> order = best_order;
  for (int turn = 0; turn < kTurns && Slot(best.arena) > least; ++turn) {
    const auto highest = std::find_if(order.begin(), order.end(), [&](int id) {
      return last.offsets[id] + stage.buffers(id).size() == last.arena;
    });
    if (highest == order.begin()) break;
    std::rotate(order.begin(), highest, highest + 1);
    last = consider(order);
  }
  return best;
}

enum class BufferRole { kStored, kActivation, kExchanged };

// Fetch buffers are where fetches from other buffers arrive, made buffers where deliveries start.
std::vector<BufferRole> RolesOf(const program::Program& program, const program::Stage& stage) {
  std::vector<BufferRole> roles(stage.buffers_size(), BufferRole::kActivation);
  for (const program::Instruction& instruction : stage.instructions()) {
    const program::Exchange& exchange = instruction.exchange();
    if (!instruction.has_exchange() || exchange.source() == exchange.destination()) continue;
    roles[exchange.deliver() ? exchange.source() : exchange.destination()] = BufferRole::kExchanged;
  }
  for (int id = 0; id < stage.buffers_size(); ++id) {
    if (stage.buffers(id).initialized()) roles[id] = BufferRole::kStored;
  }
  for (const program::Port& port : program.outputs()) roles[port.buffer()] = BufferRole::kStored;
  return roles;
}

const std::string& NodeOf(const program::Instruction& instruction) {
  return instruction.has_kernel() ? instruction.kernel().node() : instruction.exchange().node();
}

int64_t BoxBytes(const program::Program& program, const Mesh& mesh, const program::Buffer& buffer,
                 int device) {
  return Volume(BoxOn(mesh, buffer.box(), device)) *
         ElementBytes(buffer.type(), program.hash_arithmetic());
}

}  // namespace

void PlanMemory(program::Program& program) {
  const Mesh mesh = MeshOf(program);
  for (program::Stage& stage : *program.mutable_stages()) {
    SetLifetimes(program, stage);
    for (program::Buffer& buffer : *stage.mutable_buffers()) {
      int64_t size = 0;
      for (int device = 0; device < mesh.devices(); ++device) {
        size = std::max(size, BoxBytes(program, mesh, buffer, device));
      }
      buffer.set_size(size);
    }
    const Placement best = BestPlacement(stage);
    for (int id = 0; id < stage.buffers_size(); ++id) {
      stage.mutable_buffers(id)->set_offset(best.offsets[id]);
    }
    stage.set_arena_size(Slot(best.arena));
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

}  // namespace yuba
