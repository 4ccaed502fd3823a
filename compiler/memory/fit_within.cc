#include "compiler/memory/fit_within.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "compiler/memory/preorder_search.h"
#include "opsemantics/base/slot.h"

namespace yuba::compiler {
namespace {

// The times of the sections, ascending: in each, a life has begun since another last ended.
std::vector<int64_t> SectionTimes(const std::vector<BufferLife>& lives) {
  std::vector<std::pair<int64_t, bool>> events;  // time, and whether a life begins there
  for (const BufferLife& life : lives) {
    events.emplace_back(life.begin, true);
    events.emplace_back(life.end, false);
  }
  std::sort(events.begin(), events.end());  // at one time, ends come before beginnings
  std::vector<int64_t> times;
  int64_t begun = 0;
  bool grown = false;  // whether a life has begun since the last end
  for (const auto& [time, begins] : events) {
    if (begins) begun = time;
    if (!begins && grown) times.push_back(begun);
    grown = begins;
  }
  return times;
}

// Preorders: which of several buffers of equal offset is tried first. None is best for all: of 68
// hard programs each fits 23 to 46 into the least arena, all five together 63.
using Before = bool (*)(const PlacedBuffer& a, const PlacedBuffer& b);
constexpr Before kPreorders[] = {
    [](const PlacedBuffer& a, const PlacedBuffer& b) {
      return std::make_tuple(-a.begin, a.length()) > std::make_tuple(-b.begin, b.length());
    },
    [](const PlacedBuffer& a, const PlacedBuffer& b) {
      return std::make_tuple(a.end, a.length()) > std::make_tuple(b.end, b.length());
    },
    [](const PlacedBuffer& a, const PlacedBuffer& b) {
      return std::make_tuple(a.length(), -a.size) > std::make_tuple(b.length(), -b.size);
    },
    [](const PlacedBuffer& a, const PlacedBuffer& b) {
      return std::make_tuple(-a.slack, a.length(), a.size) >
             std::make_tuple(-b.slack, b.length(), b.size);
    },
    [](const PlacedBuffer& a, const PlacedBuffer& b) {
      return std::make_tuple(a.end, -a.length()) > std::make_tuple(b.end, -b.length());
    },
};

// Lives as rectangles, and what the sections hold.
struct Problem {
  std::vector<PlacedBuffer> buffers;
  std::vector<int64_t> load;  // [section]: the sum of the sizes there, bytes
};

Problem ProblemOf(const std::vector<BufferLife>& lives) {
  const std::vector<int64_t> times = SectionTimes(lives);
  const auto section = [&](int64_t time) {
    return static_cast<int>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
  };
  Problem problem;
  problem.load.assign(times.size() + 1, 0);  // first how it changes
  for (size_t b = 0; b < lives.size(); ++b) {
    if (lives[b].size == 0) continue;
    PlacedBuffer buffer;
    buffer.id = static_cast<int>(b);
    buffer.begin = section(lives[b].begin);
    buffer.end = section(lives[b].end);
    buffer.size = SlotBytes(lives[b].size);
    problem.load[buffer.begin] += buffer.size;
    problem.load[buffer.end] -= buffer.size;
    problem.buffers.push_back(buffer);
  }
  std::partial_sum(problem.load.begin(), problem.load.end(), problem.load.begin());
  problem.load.pop_back();
  return problem;
}

// Of placing all buffers without turning back: two looks at each that is still to be placed, and
// one at the sections.
int64_t StepsOfDescent(const std::vector<PlacedBuffer>& buffers) {
  const int64_t count = static_cast<int64_t>(buffers.size());
  int64_t steps = count * count;
  for (const PlacedBuffer& buffer : buffers) steps += buffer.length();
  return steps;
}

}  // namespace

Fit FitWithin(const std::vector<BufferLife>& lives, int64_t capacity, const FitOptions& options) {
  Problem problem = ProblemOf(lives);
  std::vector<PlacedBuffer>& buffers = problem.buffers;
  const std::vector<int64_t>& load = problem.load;
  const int64_t descent = StepsOfDescent(buffers);
  Fit fit;
  fit.impossible =
      std::any_of(load.begin(), load.end(), [&](int64_t bytes) { return bytes > capacity; });
  if (fit.impossible || descent > options.most_steps) return fit;
  for (PlacedBuffer& buffer : buffers) {
    buffer.slack =
        capacity - *std::max_element(load.begin() + buffer.begin, load.begin() + buffer.end);
  }
  for (const Before before : kPreorders) {
    const int64_t left = options.most_steps - fit.steps;
    if (descent > left) break;
    std::stable_sort(buffers.begin(), buffers.end(), before);
    PreorderSearch search(buffers, load, capacity);
    const PreorderSearch::Result result =
        search.Run(std::min(left, descent + options.steps_beyond_descent));
    fit.steps += search.steps();
    if (result == PreorderSearch::Result::kOutOfSteps) continue;
    fit.impossible = result == PreorderSearch::Result::kImpossible;
    if (fit.impossible) break;
    fit.offsets.emplace(lives.size(), 0);
    for (const PlacedBuffer& buffer : search.placed()) (*fit.offsets)[buffer.id] = buffer.offset;
    break;
  }
  return fit;
}

}  // namespace yuba::compiler
