#include "compiler/memory/preorder_search.h"

#include <algorithm>
#include <functional>

namespace yuba::compiler {
namespace {

bool ShareSection(const PlacedBuffer& a, const PlacedBuffer& b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

PreorderSearch::PreorderSearch(const std::vector<PlacedBuffer>& buffers,
                               const std::vector<int64_t>& load, int64_t capacity)
    : to_come_(load), capacity_(capacity), unplaced_(buffers) {
  for (size_t b = 0; b < buffers.size(); ++b) {
    unplaced_[b].number = static_cast<int>(b);
    index_.push_back(b);
  }
}

PreorderSearch::Result PreorderSearch::Run(int64_t most) {
  most_ = most;
  Choice last = {0, -1};  // choices up to this one were tried, or break the order of placement
  while (!unplaced_.empty()) {
    if (steps_ > most_) return Result::kOutOfSteps;
    const absl::optional<Choice> next = NextChoice(last);
    if (steps_ > most_ && !next.has_value()) return Result::kOutOfSteps;
    if (next.has_value()) {
      Place(*next);
      last = *next;
    } else if (!placed_.empty()) {
      last = Remove();
    } else {
      return Result::kImpossible;
    }
  }
  return Result::kFound;
}

absl::optional<PreorderSearch::Choice> PreorderSearch::NextChoice(const Choice& last) {
  Choice first = {capacity_, 0};  // of those after `last`
  int64_t lowest_end = capacity_;
  for (const PlacedBuffer& buffer : unplaced_) {
    const Choice choice = {buffer.offset, buffer.number};
    lowest_end = std::min(lowest_end, buffer.offset + buffer.size);
    if (last < choice && choice < first) first = choice;
  }
  steps_ += static_cast<int64_t>(unplaced_.size());
  if (first.offset == capacity_) return absl::nullopt;
  if (IsPossible(first, lowest_end)) return first;
  std::vector<Choice> later;  // a heap with the least on top
  for (const PlacedBuffer& buffer : unplaced_) {
    const Choice choice = {buffer.offset, buffer.number};
    if (first < choice) later.push_back(choice);
  }
  steps_ += static_cast<int64_t>(unplaced_.size());
  std::make_heap(later.begin(), later.end(), std::greater<>());
  while (!later.empty() && steps_ <= most_) {
    if (IsPossible(later.front(), lowest_end)) return later.front();
    std::pop_heap(later.begin(), later.end(), std::greater<>());
    later.pop_back();
  }
  return absl::nullopt;
}

bool PreorderSearch::IsPossible(const Choice& choice, int64_t lowest_end) {
  const PlacedBuffer& buffer = unplaced_[index_[choice.buffer]];
  return (buffer.offset < lowest_end || !IsDominated(buffer)) && LeavesRoom(buffer);
}

bool PreorderSearch::IsDominated(const PlacedBuffer& buffer) {
  steps_ += static_cast<int64_t>(unplaced_.size());
  return std::any_of(unplaced_.begin(), unplaced_.end(), [&](const PlacedBuffer& other) {
    return other.offset + other.size <= buffer.offset && ShareSection(other, buffer);
  });
}

bool PreorderSearch::LeavesRoom(const PlacedBuffer& buffer) {
  steps_ += buffer.length();
  const auto begin = to_come_.begin();
  return buffer.offset + *std::max_element(begin + buffer.begin, begin + buffer.end) <= capacity_;
}

void PreorderSearch::Place(const Choice& choice) {
  const size_t index = index_[choice.buffer];
  const PlacedBuffer buffer = unplaced_[index];
  placed_.push_back(buffer);
  changes_before_.push_back(changes_.size());
  for (int s = buffer.begin; s < buffer.end; ++s) to_come_[s] -= buffer.size;
  unplaced_[index] = unplaced_.back();
  index_[unplaced_[index].number] = index;
  unplaced_.pop_back();
  const int64_t top = buffer.offset + buffer.size;
  for (PlacedBuffer& other : unplaced_) {
    if (other.offset >= top || !ShareSection(other, buffer)) continue;
    changes_.push_back({other.offset, other.number});
    other.offset = top;
  }
  steps_ += static_cast<int64_t>(unplaced_.size());
}

PreorderSearch::Choice PreorderSearch::Remove() {
  const PlacedBuffer buffer = placed_.back();
  placed_.pop_back();
  for (; changes_.size() > changes_before_.back(); changes_.pop_back()) {
    unplaced_[index_[changes_.back().buffer]].offset = changes_.back().offset;
  }
  changes_before_.pop_back();
  for (int s = buffer.begin; s < buffer.end; ++s) to_come_[s] += buffer.size;
  index_[buffer.number] = unplaced_.size();
  unplaced_.push_back(buffer);
  return {buffer.offset, buffer.number};
}

}  // namespace yuba::compiler
