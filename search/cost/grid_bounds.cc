#include "search/cost/grid_bounds.h"

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

}  // namespace

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
  Numbering<Grid> rows, columns;
  std::vector<int> row_kinds, column_kinds;
  for (const Grid& tensor : tensor_grids) {
    row_kinds.push_back(rows.Of(GridAlong(tensor, factor.dims)));
  }
  std::vector<const PartBoxes*> pieces;  // [kind of column]
  for (const Grid& node : node_grids) {
    column_kinds.push_back(columns.Of(GridAlong(node, factor.indices)));
    if (columns.size() == static_cast<int>(pieces.size())) continue;
    pieces.push_back(&regions->PiecesOf(number, node));
  }
  FactorBounds bounds(std::move(row_kinds), std::move(column_kinds));
  bounds.SetAll([&](int row, int column) {
    const PartBoxes& boxes = *pieces[column];
    Bound bound;
    const bool far = term_ == LinkTerm::kFar;
    bound.overlap = far ? overlaps_.one() : overlaps_.Of(extents, rows.at(row), boxes);
    if (crossings_ != nullptr) {
      bound.found =
          found_.Of(OfTerm(crossings_->Of(factor, rows.at(row), columns.at(column), boxes), term_));
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
