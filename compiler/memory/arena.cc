#include "compiler/memory/arena.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "compiler/memory/fit_within.h"
#include "opsemantics/base/slot.h"

namespace yuba::compiler {
namespace {

constexpr int kTurns = 30;    // orders tried after the fixed ones
constexpr int kHalvings = 3;  // of the bytes by which the arena exceeds the least

// Buffers for which there is one stretch of time in which to look for what lives at once with them.
constexpr int64_t kOfStretch = 128;

// A buffer that has its place: bytes [offset, end) at times [begin, until).
struct Placed {
  int64_t offset, end;
  int64_t begin, until;
};

// Placed buffers by offset, in chunks of neighbours: of tens of thousands in one list, a new
// one would move half.
class ByOffset {
 public:
  void Insert(const Placed& placed) {
    if (chunks_.empty()) chunks_.emplace_back();
    const auto after = [](int64_t offset, const Placed& other) { return offset < other.offset; };
    const auto begins_after = [](int64_t offset, const std::vector<Placed>& chunk) {
      return offset < chunk[0].offset;
    };
    auto chunk =
        std::upper_bound(chunks_.begin() + 1, chunks_.end(), placed.offset, begins_after) - 1;
    chunk->insert(std::upper_bound(chunk->begin(), chunk->end(), placed.offset, after), placed);
    if (chunk->size() < kChunkSize) return;
    std::vector<Placed> rest(chunk->begin() + kChunkSize / 2, chunk->end());
    chunk->resize(kChunkSize / 2);
    chunks_.insert(chunk + 1, std::move(rest));
  }

  // The lowest offset that is free throughout the life.
  int64_t LowestFree(const BufferLife& life) const {
    int64_t offset = 0;
    for (const std::vector<Placed>& chunk : chunks_) {
      for (const Placed& other : chunk) {
        if (other.offset >= offset + life.size) return offset;
        if (other.begin < life.end && life.begin < other.until) {
          offset = std::max(offset, other.end);
        }
      }
    }
    return offset;
  }

 private:
  static constexpr size_t kChunkSize = 256;
  std::vector<std::vector<Placed>> chunks_;  // none but the first is empty
};

// What is placed, by offset. Most buffers live for a few instructions, so what lives at once with
// them is looked for in a list of what lives in their stretch of time.
class PlacedBuffers {
 public:
  explicit PlacedBuffers(const std::vector<BufferLife>& lives) {
    int64_t last = 0;
    for (const BufferLife& life : lives) last = std::max(last, life.end);
    const int64_t stretches = 1 + static_cast<int64_t>(lives.size()) / kOfStretch;
    width_ = 1 + last / stretches;
    by_stretch_.resize(stretches);
  }

  // The lowest offset that is free throughout the life.
  int64_t LowestFree(const BufferLife& life) const {
    const int64_t first = life.begin / width_;
    return (first == Last(life) ? by_stretch_[first] : all_).LowestFree(life);
  }

  void Place(const BufferLife& life, int64_t offset) {
    const Placed placed = {offset, SlotBytes(offset + life.size), life.begin, life.end};
    for (int64_t i = life.begin / width_; i <= Last(life); ++i) by_stretch_[i].Insert(placed);
    all_.Insert(placed);
  }

 private:
  int64_t Last(const BufferLife& life) const { return (life.end - 1) / width_; }

  int64_t width_;
  ByOffset all_;
  std::vector<ByOffset> by_stretch_;
};

// First fit: the slots in `order`, each at the lowest offset that is free throughout its life.
ArenaLayout InOrder(const std::vector<BufferLife>& lives, const std::vector<int>& order) {
  ArenaLayout result;
  result.offsets.assign(lives.size(), 0);
  PlacedBuffers placed(lives);
  for (int id : order) {
    if (lives[id].size == 0) continue;
    const int64_t offset = placed.LowestFree(lives[id]);
    result.offsets[id] = offset;
    result.arena = std::max(result.arena, SlotBytes(offset + lives[id].size));
    placed.Place(lives[id], offset);
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
