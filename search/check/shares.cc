#include "search/check/shares.h"

#include <algorithm>
#include <utility>

namespace yuba::search {
namespace {

Large CommonDivisor(Large a, Large b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

// Goes over the numbers of a pair, first to find the unit in which it counts elements.
class Shares {
 public:
  Shares(const FactorPair& pair, const std::vector<int64_t>& extents) : pair_(pair) {
    for (const int64_t extent : extents) all_ *= extent;
    // Of several dimensions by_part and by_piece are elements only when multiplied.
    if (extents.size() == 1) unit_ = Unit();
  }

  std::vector<Large> Written() {
    const Large common = std::max<Large>(1, CommonDivisor(all_, unit_));
    Write({all_ / common, unit_ / common, pair_.boxes, pair_.volume / unit_});
    const OverlapBound& shared = pair_.shared;
    Write({shared.either, shared.mean / unit_, shared.mean_of});
    Write(shared.by_part, PartsAreElements() ? unit_ : 1);
    Write(shared.by_piece, PiecesAreElements() ? unit_ : 1);
    Write({pair_.reach.parts, pair_.reach.meetings});
    for (const Reach& reach : pair_.reach.elements) Write(reach, unit_);
    for (const Reach& reach : pair_.reach.pieces) Write(reach, 1);
    return std::move(numbers_);
  }

 private:
  // Of one dimension at most one of the two differs from 1, but where each is a bound alone.
  bool PartsAreElements() const { return pair_.shared.either || pair_.shared.by_piece == Spread(); }
  bool PiecesAreElements() const { return pair_.shared.either || pair_.shared.by_part == Spread(); }

  // The greatest that divides all numbers of elements.
  Large Unit() const {
    Large unit = CommonDivisor(pair_.volume, pair_.shared.mean);
    const auto add = [&](Large number) { unit = CommonDivisor(unit, number); };
    if (PartsAreElements()) {
      for (const auto& each : pair_.shared.by_part.counts) add(each.first);
    }
    if (PiecesAreElements()) {
      for (const auto& each : pair_.shared.by_piece.counts) add(each.first);
    }
    for (const Reach& reach : pair_.reach.elements) {
      add(reach.total);
      add(reach.most);
      add(reach.mean);
    }
    return std::max<Large>(1, unit);
  }

  void Write(std::initializer_list<Large> numbers) {
    numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  }
  void Write(const Spread& spread, Large unit) {
    Write({static_cast<Large>(spread.counts.size()), spread.number});
    for (const auto& [value, times] : spread.counts) Write({value / unit, times});
  }
  void Write(const Reach& reach, Large unit) {
    Write({reach.total / unit, reach.most / unit, reach.mean / unit, reach.mean_of});
  }

  const FactorPair& pair_;
  Large all_ = 1, unit_ = 1;
  std::vector<Large> numbers_;
};

}  // namespace

std::vector<Large> SharesOf(const FactorPair& pair, const std::vector<int64_t>& extents) {
  return Shares(pair, extents).Written();
}

}  // namespace yuba::search
