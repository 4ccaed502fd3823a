#include <algorithm>
#include <tuple>
#include <utility>

#include "compiler/memory/arena.h"
#include "opsemantics/base/slot.h"

namespace yuba::compiler {
namespace {

// The steps that one search may take: kSteps beyond those of placing all buffers without turning
// back, and kMostSteps in all.
constexpr int64_t kSteps = int64_t{1} << 17, kMostSteps = int64_t{1} << 22;

// The times at which a set of buffers live that is contained in no other time's set. Two buffers
// overlap in time exactly if both live at one of these, so they are all the times that matter.
std::vector<int64_t> Crowded(const std::vector<BufferLife>& lives) {
  std::vector<std::pair<int64_t, bool>> events;  // time, and whether a life ends there
  for (const BufferLife& life : lives) {
    events.emplace_back(life.first, false);
    events.emplace_back(life.last, true);
  }
  std::sort(events.begin(), events.end());
  std::vector<int64_t> times;
  int64_t begun = 0;
  bool some = false;  // whether a life has begun since the last end
  for (const auto& [time, ends] : events) {
    if (!ends) begun = time;
    if (ends && some) times.push_back(begun);
    some = !ends;
  }
  return times;
}

// A buffer as a rectangle of columns (crowded times) and bytes.
struct Box {
  int buffer = 0, begin = 0, end = 0;  // columns [begin, end)
  int64_t size = 0;                    // bytes, a multiple of kSlotBytes
  int64_t slack = 0;  // of its columns, the least capacity minus all that lives there: bytes
  int length() const { return end - begin; }
};

// Which of several boxes that would lie equally high is tried first. No order is best for all: of
// 68 hard programs each fits 23 to 46 into the least arena, all five together 63.
using Before = bool (*)(const Box& a, const Box& b);
constexpr Before kOrders[] = {
    [](const Box& a, const Box& b) {
      return std::make_tuple(-a.begin, a.length()) > std::make_tuple(-b.begin, b.length());
    },
    [](const Box& a, const Box& b) {
      return std::make_tuple(a.end, a.length()) > std::make_tuple(b.end, b.length());
    },
    [](const Box& a, const Box& b) {
      return std::make_tuple(a.length(), -a.size) > std::make_tuple(b.length(), -b.size);
    },
    [](const Box& a, const Box& b) {
      return std::make_tuple(-a.slack, a.length(), a.size) >
             std::make_tuple(-b.slack, b.length(), b.size);
    },
    [](const Box& a, const Box& b) {
      return std::make_tuple(a.end, -a.length()) > std::make_tuple(b.end, -b.length());
    },
};

class Fitting {
 public:
  Fitting(const std::vector<BufferLife>& lives, int64_t capacity)
      : capacity_(capacity), offsets_(lives.size(), 0) {
    const std::vector<int64_t> times = Crowded(lives);
    const auto column = [&](int64_t time) {
      return static_cast<int>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
    };
    floor_.assign(times.size(), 0);
    left_.assign(times.size(), 0);
    for (size_t b = 0; b < lives.size(); ++b) {
      if (lives[b].size == 0) continue;
      Box box = {static_cast<int>(b), column(lives[b].first), column(lives[b].last + 1),
                 SlotBytes(lives[b].size)};
      for (int time = box.begin; time < box.end; ++time) left_[time] += box.size;
      boxes_.push_back(box);
    }
    for (Box& box : boxes_) {
      box.slack = capacity_ - *std::max_element(left_.begin() + box.begin, left_.begin() + box.end);
      all_columns_ += box.length();
    }
    placed_.assign(boxes_.size(), false);
  }

  bool Run() {
    const auto most = std::max_element(left_.begin(), left_.end());
    if (most != left_.end() && *most > capacity_) return false;
    const int64_t straight = static_cast<int64_t>(boxes_.size()) * all_columns_;
    for (const Before before : kOrders) {
      std::stable_sort(boxes_.begin(), boxes_.end(), before);
      steps_ = std::min(kMostSteps, kSteps + straight);
      if (Place(boxes_.size(), 0, -1)) return true;
      if (steps_ >= 0) return false;  // all was tried: there is no layout
    }
    return false;
  }

  const std::vector<int64_t>& offsets() const { return offsets_; }

 private:
  struct Choice {
    int64_t offset = 0;
    int box = 0;
    bool operator<(const Choice& other) const {
      return offset != other.offset ? offset < other.offset : box < other.box;
    }
  };

  static bool Meet(const Box& a, const Box& b) { return a.begin < b.end && b.begin < a.end; }

  // Where each box that is not placed yet would lie; nothing where one no longer fits.
  absl::optional<std::vector<Choice>> Choices() {
    std::vector<Choice> choices;
    for (size_t i = 0; i < boxes_.size(); ++i) {
      if (placed_[i]) continue;
      const Box& box = boxes_[i];
      const int64_t offset =
          *std::max_element(floor_.begin() + box.begin, floor_.begin() + box.end);
      steps_ -= box.length();
      if (offset + box.size > capacity_) return absl::nullopt;
      choices.push_back({offset, static_cast<int>(i)});
    }
    std::sort(choices.begin(), choices.end());
    return choices;
  }

  // Whether another choice fits below `choice`, in columns that they share: then that one is to be
  // placed first.
  bool LeavesRoom(const Choice& choice, const std::vector<Choice>& choices) {
    for (const Choice& other : choices) {
      --steps_;
      if (other.offset >= choice.offset) return false;
      if (other.offset + boxes_[other.box].size <= choice.offset &&
          Meet(boxes_[other.box], boxes_[choice.box])) {
        return true;
      }
    }
    return false;
  }

  // Places the `rest` boxes that are left, each no lower than the one before it. The last one
  // placed is box `last`, at `offset`.
  bool Place(size_t rest, int64_t offset, int last) {
    if (rest == 0) return true;
    const absl::optional<std::vector<Choice>> choices = Choices();
    if (!choices.has_value()) return false;
    for (const Choice& choice : *choices) {
      if (steps_ < 0) return false;
      const bool rises = choice.offset > offset || (choice.offset == offset && choice.box > last);
      if (!rises || LeavesRoom(choice, *choices)) continue;
      const Box& box = boxes_[choice.box];
      const std::vector<int64_t> before(floor_.begin() + box.begin, floor_.begin() + box.end);
      bool fits = true;
      for (int time = box.begin; time < box.end; ++time) {
        floor_[time] = choice.offset + box.size;
        left_[time] -= box.size;
        if (floor_[time] + left_[time] > capacity_) fits = false;
      }
      placed_[choice.box] = true;
      offsets_[box.buffer] = choice.offset;
      if (fits && Place(rest - 1, choice.offset, choice.box)) return true;
      placed_[choice.box] = false;
      std::copy(before.begin(), before.end(), floor_.begin() + box.begin);
      for (int time = box.begin; time < box.end; ++time) left_[time] += box.size;
    }
    return false;
  }

  const int64_t capacity_;
  int64_t steps_ = 0;             // that the search may still take
  int64_t all_columns_ = 0;       // the sum of the boxes' lengths
  std::vector<int64_t> offsets_;  // [buffer]
  std::vector<Box> boxes_;
  std::vector<bool> placed_;    // [box]
  std::vector<int64_t> floor_;  // [column]: the end of the highest box placed there, bytes
  std::vector<int64_t> left_;   // [column]: the sum of the sizes not yet placed there, bytes
};

}  // namespace

absl::optional<std::vector<int64_t>> FitWithin(const std::vector<BufferLife>& lives,
                                               int64_t capacity) {
  Fitting fitting(lives, capacity);
  if (!fitting.Run()) return absl::nullopt;
  return fitting.offsets();
}

}  // namespace yuba::compiler
