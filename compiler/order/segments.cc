// SegmentsOf of steps.h.
#include <algorithm>

#include "compiler/order/steps.h"

namespace yuba::compiler {
namespace {

// [step]: whether every order that matters has it at this place: all earlier steps must run before
// it and all later ones after it. The former holds where each earlier step is followed by one up to
// this one, the latter where each later step follows one from this one on. Sources and free sinks
// are at the side of the step that they belong to: they hinder nothing, and lead to nothing.
std::vector<bool> Fixed(const std::vector<Step>& steps) {
  const int count = static_cast<int>(steps.size());
  std::vector<bool> beside(count), fixed(count);
  for (int i = 0; i < count; ++i) beside[i] = IsSource(steps[i]) || IsFreeSink(steps, steps[i]);
  const auto counts = [&](int s) { return !beside[s]; };
  int latest = -1;  // of the first followers of earlier steps
  for (int i = 0; i < count; ++i) {
    if (beside[i]) continue;
    fixed[i] = latest <= i;
    const std::vector<int>& after = steps[i].after;
    const auto first = std::find_if(after.begin(), after.end(), counts);
    latest = std::max(latest, first == after.end() ? count : *first);
  }
  int earliest = count;  // of the last predecessors of later steps
  for (int i = count - 1; i >= 0; --i) {
    if (beside[i]) continue;
    fixed[i] = fixed[i] && earliest >= i;
    const std::vector<int>& before = steps[i].before;
    const auto last = std::find_if(before.rbegin(), before.rend(), counts);
    earliest = std::min(earliest, last == before.rend() ? -1 : *last);
  }
  return fixed;
}

// The numbers in `list` that are in [first, end), counted from `first`.
std::vector<int> Within(const std::vector<int>& list, int first, int end) {
  std::vector<int> result;
  for (const int s : list) {
    if (s >= first && s < end) result.push_back(s - first);
  }
  return result;
}

// The steps [first, end), without what is live before them.
Segment Range(const std::vector<Step>& steps, int first, int end) {
  Segment segment;
  segment.first = first;
  for (int i = first; i < end; ++i) {
    Step step = steps[i];
    step.before = Within(step.before, first, end);
    step.after = Within(step.after, first, end);
    step.reads = Within(step.reads, first, end);
    const bool stays = !step.readers.empty() && step.readers.back() >= end;
    step.readers = stays ? std::vector<int>() : Within(step.readers, first, end);
    segment.steps.push_back(std::move(step));
  }
  return segment;
}

// The bytes that are live while `step` runs, whatever the order, where `through` are live at all
// times.
int64_t LeastOf(const Segment& segment, const Step& step, int64_t through) {
  const size_t own = segment.steps.size();
  int64_t bytes = through + step.extra;
  for (const size_t r : step.reads) {
    bytes += r < own ? segment.steps[r].bytes : segment.inherited[r - own].bytes;
  }
  return bytes;
}

}  // namespace

std::vector<Segment> SegmentsOf(const std::vector<Step>& steps) {
  const std::vector<bool> fixed = Fixed(steps);
  std::vector<Segment> segments;
  std::vector<int> live;  // the steps whose results are live before the segment
  const int count = static_cast<int>(steps.size());
  for (int first = 0, end = 0; first < count; first = end) {
    while (!fixed[end++] && end < count) continue;
    Segment segment = Range(steps, first, end);
    int64_t through = 0;
    for (const int s : live) {
      segment.live += steps[s].bytes;
      if (steps[s].readers.back() >= end) {
        through += steps[s].bytes;
        continue;
      }
      const int number = static_cast<int>(segment.steps.size() + segment.inherited.size());
      segment.inherited.push_back({steps[s].bytes, Within(steps[s].readers, first, end)});
      for (const int reader : segment.inherited.back().readers) {
        segment.steps[reader].reads.push_back(number);
      }
    }
    segment.least = segment.live;
    for (const Step& step : segment.steps) {
      segment.least = std::max(segment.least, LeastOf(segment, step, through));
    }
    for (int s = first; s < end; ++s) live.push_back(s);
    live.erase(std::remove_if(live.begin(), live.end(),
                              [&](int s) {
                                return steps[s].readers.empty() || steps[s].readers.back() < end;
                              }),
               live.end());
    segments.push_back(std::move(segment));
  }
  return segments;
}

}  // namespace yuba::compiler
