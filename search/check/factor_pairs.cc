#include "search/check/factor_pairs.h"

#include <algorithm>

namespace yuba::search {

FactorPairs::FactorPairs(const Definition& definition, int operand, bool sums, bool reaches,
                         LinkTerm term, const std::vector<Grid>& tensor_grids, PairNumbers* numbers)
    : definition_(definition),
      operand_(operand),
      sums_(sums),
      reaches_(reaches),
      term_(term),
      boxes_(definition, operand, sums),
      numbers_(numbers) {
  const TensorType& type = operand < 0 ? definition.result : definition.operands[operand];
  if (type.dims.empty()) return;
  for (const BoxFactor& shape : boxes_.factors()) {
    Factor& factor = factors_.emplace_back();
    for (const int d : shape.dims) factor.extents.push_back(type.dims[d]);
    for (const Grid& tensor : tensor_grids) {
      Grid cut = GridAlong(tensor, shape.dims);
      const int way = ways_.emplace(WayOf(factor.extents, cut), ways()).first->second;
      factor.way_of.push_back(way);
      factor.different.emplace(way, std::move(cut));
    }
  }
}

// What costs depend on of a tensor's way to cut a factor. In the near term a tensor into which
// nodes reduce counts by its parts; in the far term one that is read by those that axes of outer
// kinds make, and where not all are equally large by all parts too, since the largest decides.
Grid FactorPairs::WayOf(const std::vector<int64_t>& extents, const Grid& cut) const {
  const bool reads = operand_ >= 0;
  const std::vector<int> parts = PartsOf(cut);
  if (term_ == LinkTerm::kNear && !reads) return {parts};
  if (term_ != LinkTerm::kFar || !reads) return cut;
  Grid way(cut.begin() + 1, cut.end());
  for (size_t d = 0; d < parts.size(); ++d) {
    if (extents[d] % parts[d] == 0) continue;
    way.push_back(parts);
    break;
  }
  return way;
}

namespace {

// Leaves out what costs of the term do not depend on, so that more pairs are equal.
void KeepTerm(LinkTerm term, bool reduces, FactorPair* pair) {
  FactorReach& reach = pair->reach;
  if (term == LinkTerm::kNear) {
    reach.elements.clear();
    for (Reach& pieces : reach.pieces) pieces.mean = pieces.mean_of = 0;
  }
  if (term == LinkTerm::kFar) {
    pair->shared.by_part.counts = {{0, 1}};
    if (reduces) pair->boxes = 1;
    reach.meetings = 0;
    reach.pieces.clear();
  }
}

}  // namespace

FactorPair FactorPairs::PairOf(size_t f, const FactorParts& parts, const Grid& cut,
                               const Grid& way) const {
  const std::vector<int64_t>& extents = factors_[f].extents;
  FactorPair pair;
  pair.boxes = parts.number;
  pair.volume = parts.volume;
  if (term_ != LinkTerm::kFar) {
    pair.shared = OverlapBoundOf(extents, way, parts, term_ == LinkTerm::kAll);
  }
  if (!reaches_) return pair;
  pair.reach = operand_ < 0
                   ? ReachOfReduction(definition_, shape(f), extents, way, parts, cut, sums_)
                   : ReachOfGather(extents, way, parts);
  KeepTerm(term_, operand_ < 0, &pair);
  return pair;
}

const FactorPairs::Column* FactorPairs::ColumnOf(size_t f, const Grid& node) {
  Factor& factor = factors_[f];
  const Grid cut = GridAlong(node, indices(f));
  const auto [place, is_new] = factor.columns.try_emplace(cut);
  Column& column = place->second;
  if (!is_new) return &column;
  const FactorParts parts = FactorPartsOf(definition_, boxes_, static_cast<int>(f), cut);
  column.pairs.resize(ways());
  for (const auto& [way, grid] : factor.different) column.pairs[way] = PairOf(f, parts, cut, grid);
  column.alike = AlikeTo(factor, column);
  return &column;
}

int FactorPairs::AlikeTo(const Factor& factor, const Column& column) {
  std::vector<int> numbers(ways(), -1);
  for (const auto& [way, grid] : factor.different) {
    const auto shares = SharesOf(column.pairs[way], factor.extents);
    numbers[way] = numbers_->emplace(shares, static_cast<int>(numbers_->size())).first->second;
  }
  const auto agree = [&](const std::vector<int>& others) {
    for (int way = 0; way < ways(); ++way) {
      if (numbers[way] >= 0 && others[way] >= 0 && numbers[way] != others[way]) return false;
    }
    return true;
  };
  auto place = std::find_if(alike_.begin(), alike_.end(), agree);
  if (place == alike_.end()) place = alike_.emplace(alike_.end(), ways(), -1);
  for (int way = 0; way < ways(); ++way) (*place)[way] = std::max((*place)[way], numbers[way]);
  return static_cast<int>(place - alike_.begin());
}

std::vector<size_t> FactorPairs::Groups() const {
  std::vector<size_t> groups;
  std::vector<size_t> first(alike_.size(), factors_.size());  // factor with such a column
  for (size_t f = 0; f < factors_.size(); ++f) {
    groups.push_back(f);
    for (const auto& [cut, column] : factors_[f].columns) {
      const size_t other = std::min(first[column.alike], f);
      first[column.alike] = other;
      const size_t joined = std::min(groups[f], groups[other]);
      const size_t left = std::max(groups[f], groups[other]);
      std::replace(groups.begin(), groups.end(), left, joined);
    }
  }
  return groups;
}

}  // namespace yuba::search
