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
      const int way = ways_.emplace(WayOfTensor(factor.extents, cut), ways()).first->second;
      factor.way_of.push_back(way);
      factor.different.emplace(way, std::move(cut));
    }
  }
}

namespace {

// How many parts there are along each extent, and where `by_kind`, how many axes of each kind make.
FactorPairs::Way Counted(const Grid& cut, bool by_kind) {
  FactorPairs::Way way = {PartsOf(cut)};
  if (!by_kind) return way;
  std::vector<int> made;
  for (const std::vector<int>& of_kind : cut) made.push_back(Product(of_kind));
  way.push_back(std::move(made));
  return way;
}

// Leaves out what costs of the term do not depend on, so that more pairs are equal.
void KeepTerm(LinkTerm term, bool reduces, FactorPair* pair) {
  FactorReach& reach = pair->reach;
  if (term == LinkTerm::kNear) {
    reach.elements.clear();
    for (Reach& pieces : reach.pieces) pieces.mean = pieces.mean_of = 0;
  }
  if (term == LinkTerm::kFar) {
    // Not the spread of 1, which would be the unit in which shares.h counts elements.
    pair->shared.by_part.counts = {{0, 1}};
    if (reduces) pair->boxes = 1;
    reach.meetings = 0;
    reach.pieces.clear();
  }
}

}  // namespace

// By parts along each dimension, and by the parts that axes of each kind make. Two exceptions: of
// the near term of a reduction kinds do not matter; and of the far term of a gather from equal
// parts only outer kinds do, since a group then has 1 / (their parts) of the tensor.
FactorPairs::Way FactorPairs::WayOfTensor(const std::vector<int64_t>& extents,
                                          const Grid& cut) const {
  if (operand_ < 0) return Counted(cut, term_ != LinkTerm::kNear);
  Way way = Counted(cut, true);
  bool even = term_ == LinkTerm::kFar;
  for (size_t d = 0; d < extents.size(); ++d) even &= extents[d] % way[0][d] == 0;
  if (even) return {std::vector<int>(way[1].begin() + 1, way[1].end())};
  return way;
}

// Where the node needs what others have, kinds decide nothing but the bounds of means, which one
// dimension has (overlap.h).
FactorPairs::Way FactorPairs::WayOfNode(size_t f, const Grid& cut) const {
  const bool means = factors_[f].extents.size() == 1 && term_ != LinkTerm::kNear;
  if (!reaches_ || operand_ >= 0) return Counted(cut, means);
  Way way = Counted(cut, true);
  way.push_back(CopiesByKind(definition_, shape(f), cut, sums_));
  return way;
}

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
  const auto [place, is_new] = factor.columns.try_emplace(WayOfNode(f, cut));
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
