#include "compiler/memory/arena.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "compiler/memory/fit_within.h"
#include "opsemantics/base/slot.h"

namespace yuba::compiler {
namespace {

constexpr int kTurns = 30;    // orders tried after the fixed ones
constexpr int kHalvings = 3;  // of the bytes by which the arena exceeds the least

// First fit: the slots in `order`, each at the lowest offset that is free throughout its life.
ArenaLayout InOrder(const std::vector<BufferLife>& lives, const std::vector<int>& order) {
  ArenaLayout result;
  result.offsets.assign(lives.size(), 0);
  std::vector<int64_t>& offsets = result.offsets;
  std::vector<int> placed;  // by offset
  for (int id : order) {
    if (lives[id].size == 0) continue;
    int64_t offset = 0;
    for (int other : placed) {
      if (offsets[other] >= offset + lives[id].size) break;
      if (!LiveAtOnce(lives[id], lives[other])) continue;
      offset = std::max(offset, SlotBytes(offsets[other] + lives[other].size));
    }
    offsets[id] = offset;
    result.arena = std::max(result.arena, SlotBytes(offset + lives[id].size));
    const auto after = [&](int64_t value, int other) { return value < offsets[other]; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset, after), id);
  }
  return result;
}

// Orders worth trying: none is best for all programs.
std::vector<std::vector<int>> Orders(const std::vector<BufferLife>& lives) {
  using Key = std::function<double(const BufferLife&)>;
  const auto length = [](const BufferLife& b) { return double(b.end) - b.begin; };
  const std::vector<Key> keys = {
      [](const BufferLife& b) { return double(b.size); },
      [&](const BufferLife& b) { return length(b); },
      [&](const BufferLife& b) { return double(b.size) * length(b); },
      [](const BufferLife& b) { return -double(b.begin); },
      [](const BufferLife& b) { return double(b.end); },
  };
  std::vector<std::vector<int>> orders;
  for (const Key& key : keys) {
    orders.emplace_back(lives.size());
    std::iota(orders.back().begin(), orders.back().end(), 0);
    std::stable_sort(orders.back().begin(), orders.back().end(), [&](int a, int b) {
      const double first = key(lives[a]), second = key(lives[b]);
      return first != second ? first > second : lives[a].size > lives[b].size;
    });
  }
  return orders;
}

// The largest sum of slots, in bytes, that live at one time.
int64_t LeastArena(const std::vector<BufferLife>& lives) {
  std::map<int64_t, int64_t> change;  // by time
  for (const BufferLife& life : lives) {
    change[life.begin] += SlotBytes(life.size);
    change[life.end] -= SlotBytes(life.size);
  }
  int64_t live = 0, most = 0;
  for (const auto& [time, by] : change) most = std::max(most, live += by);
  return most;
}

// The best first fit of all orders; `least`: no arena is smaller. The best order is then changed
// `turns` times, until the arena has at most `enough` bytes: the slot that ends highest goes to the
// front (Joslin and Clements, "Squeaky Wheel" Optimization, JAIR 1999).
ArenaLayout BestOfOrders(const std::vector<BufferLife>& lives, int64_t least, int64_t enough,
                         int turns) {
  ArenaLayout best;
  std::vector<int> best_order;
  const auto consider = [&](const std::vector<int>& order) {
    ArenaLayout here = InOrder(lives, order);
    if (best_order.empty() || here.arena < best.arena) {
      best = here;
      best_order = order;
    }
    return here;
  };
  for (const std::vector<int>& order : Orders(lives)) {
    consider(order);
    if (best.arena <= least) return best;
  }
  ArenaLayout last = best;
  std::vector<int> order = best_order;
  for (int turn = 0; turn < turns && best.arena > enough; ++turn) {
    const auto highest = std::find_if(order.begin(), order.end(), [&](int id) {
      return SlotBytes(last.offsets[id] + lives[id].size) == last.arena;
    });
    if (highest == order.begin()) break;
    std::rotate(order.begin(), highest, highest + 1);
    last = consider(order);
  }
  return best;
}

}  // namespace

ArenaLayout PlaceBuffers(const std::vector<BufferLife>& lives, int64_t limit) {
  const int64_t least = LeastArena(lives);
  int64_t capacity = std::max(least, limit / kSlotBytes * kSlotBytes);
  const bool exceeds = limit > 0 && limit < least;  // whatever the layout
  ArenaLayout best = BestOfOrders(lives, least, capacity, exceeds ? 0 : kTurns);
  if (exceeds) return best;
  for (int turn = 0; turn <= kHalvings && capacity < best.arena; ++turn) {
    Fit fit = FitWithin(lives, capacity);
    if (fit.offsets.has_value()) return {*std::move(fit.offsets), capacity};
    if (limit > 0) break;
    capacity += (best.arena - capacity) / 2 / kSlotBytes * kSlotBytes;
  }
  return best;
}

}  // namespace yuba::compiler
