#include "search/cost/grid_bounds.h"

#include <utility>

namespace yuba::search {

namespace {

// The part of a bound on which the costs of the term depend.
CrossingBound OfTerm(const CrossingBound& bound, LinkTerm term) {
  CrossingBound part = bound;
  if (term == LinkTerm::kFar) part.met = Fraction();
  for (CrossingBound::Near& near : part.near) {
    if (term == LinkTerm::kFar) near.parts = Found();
    if (term == LinkTerm::kNear) near = {Found(), {near.parts.mean, near.parts.greatest}};
  }
  return part;
}

// How many parts there are along each extent, and where `by_kind`, how many axes of each kind make.
std::vector<std::vector<int>> Counts(const Grid& cut, bool by_kind) {
  std::vector<std::vector<int>> counts = {PartsOf(cut)};
  if (!by_kind) return counts;
  counts.emplace_back();
  for (const std::vector<int>& of_kind : cut) counts.back().push_back(Product(of_kind));
  return counts;
}

bool AreEven(const std::vector<int64_t>& extents, const std::vector<int>& parts) {
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] % parts[d] != 0) return false;
  }
  return true;
}

}  // namespace

// Of the side that needs, kinds of axes matter where a factor is one dimension (the second bounds
// of crossings_by_factor.cc and overlap_bound.h).
GridBounds::CutKey GridBounds::TensorKey(const std::vector<int64_t>& extents,
                                         const Grid& cut) const {
  const bool has_second_bound = extents.size() == 1 && term_ != LinkTerm::kNear;
  if (crossings_ == nullptr || crossings_->reduces()) return Counts(cut, has_second_bound);
  CutKey counts = Counts(cut, true);
  if (term_ != LinkTerm::kFar || !AreEven(extents, counts[0])) return counts;
  // Of equal parts a group has 1 / (parts of outer axes) of the tensor, however inner ones cut it:
  // neither parts nor kind 0 matter.
  return {{}, {counts[1].begin() + 1, counts[1].end()}};
}

GridBounds::CutKey GridBounds::NodeKey(const BoxFactor& factor, const Grid& cut) const {
  const bool has_second_bound = factor.dims.size() == 1 && term_ != LinkTerm::kNear;
  if (crossings_ == nullptr || !crossings_->reduces()) return Counts(cut, has_second_bound);
  CutKey counts = Counts(cut, true);
  counts.push_back(crossings_->PartialsByKind(factor.indices, cut));
  return counts;
}

GridBounds::GridBounds(int64_t devices, const Crossings* crossings, LinkTerm term)
    : crossings_(crossings), term_(term), overlaps_(devices, term == LinkTerm::kAll) {
  if (crossings != nullptr) found_.Of(crossings->One());
  bounds_.Of({overlaps_.one(), 0, volumes_.Of(Fraction())});
}

std::vector<FactorBounds> GridBounds::OfFactors(const std::vector<int64_t>& dims,
                                                const std::vector<Grid>& tensor_grids,
                                                const std::vector<Grid>& node_grids,
                                                Regions* regions) {
  std::vector<FactorBounds> factors;
  // A scalar's box is never empty.
  for (size_t f = 0; f < regions->factors().size() && !dims.empty(); ++f) {
    factors.push_back(OfFactor(dims, tensor_grids, node_grids, static_cast<int>(f), regions));
  }
  return factors;
}

FactorBounds GridBounds::OfFactor(const std::vector<int64_t>& dims,
                                  const std::vector<Grid>& tensor_grids,
                                  const std::vector<Grid>& node_grids, int number,
                                  Regions* regions) {
  const BoxFactor& factor = regions->factors()[number];
  std::vector<int64_t> extents;
  for (const int d : factor.dims) extents.push_back(dims[d]);
  Numbering<CutKey> row_keys, column_keys;
  std::vector<int> row_kinds, column_kinds;
  std::vector<Grid> rows, columns;  // [kind]: one of it
  for (const Grid& tensor : tensor_grids) {
    Grid cut = GridAlong(tensor, factor.dims);
    row_kinds.push_back(row_keys.Of(TensorKey(extents, cut)));
    if (row_keys.size() > static_cast<int>(rows.size())) rows.push_back(std::move(cut));
  }
  std::vector<const PartBoxes*> pieces;  // [kind of column]
  for (const Grid& node : node_grids) {
    Grid cut = GridAlong(node, factor.indices);
    column_kinds.push_back(column_keys.Of(NodeKey(factor, cut)));
    if (column_keys.size() == static_cast<int>(columns.size())) continue;
    columns.push_back(std::move(cut));
    pieces.push_back(&regions->PiecesOf(number, node));
  }
  FactorBounds bounds(std::move(row_kinds), std::move(column_kinds));
  bounds.SetAll([&](int row, int column) {
    const PartBoxes& boxes = *pieces[column];
    Bound bound;
    const bool far = term_ == LinkTerm::kFar;
    bound.overlap = far ? overlaps_.one() : overlaps_.Of(extents, rows[row], boxes);
    if (crossings_ != nullptr) {
      bound.found =
          found_.Of(OfTerm(crossings_->Of(factor, rows[row], columns[column], boxes), term_));
    }
    bound.volume = volumes_.Of(Fraction(boxes.volume, far ? 1 : boxes.count));
    return bounds_.Of(bound);
  });
  if (term_ != LinkTerm::kAll) bounds.JoinKinds();
  return bounds;
}

int GridBounds::Product(int number, int other) {
  const Bound a = bounds_.at(number), b = bounds_.at(other);
  Bound product;
  product.overlap = overlaps_.Product(a.overlap, b.overlap);
  if (crossings_ != nullptr) product.found = found_.Of(found_.at(a.found) * found_.at(b.found));
  product.volume = volumes_.Of(volumes_.at(a.volume) * volumes_.at(b.volume));
  return bounds_.Of(product);
}

}  // namespace yuba::search
