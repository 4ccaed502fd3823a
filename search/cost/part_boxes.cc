#include "search/cost/part_boxes.h"

namespace yuba::search {

Regions::Regions(const Definition& definition, int operand, bool partial)
    : boxes_(definition, operand, partial), pieces_(boxes_.factors().size()) {
  for (const Index& index : definition.indices) extents_.push_back(index.extent);
  dims_ = operand < 0 ? definition.result.dims : definition.operands[operand].dims;
}

const PartBoxes& Regions::PiecesOf(int factor, const Grid& grid) {
  const Grid here = GridAlong(grid, factors()[factor].indices);
  auto found = pieces_[factor].find(here);
  if (found == pieces_[factor].end()) {
    found = pieces_[factor].emplace(here, Make(factor, here)).first;
  }
  return found->second;
}

PartBoxes Regions::Make(int factor, const Grid& grid) const {
  const BoxFactor& shape = factors()[factor];
  const std::vector<int> parts = PartsOf(grid);
  PartBoxes pieces;
  pieces.count = Product(parts);
  for (const std::vector<int>& of_kind : grid) pieces.by_kind.push_back(Product(of_kind));
  std::vector<Interval> ranges(parts.size());
  std::vector<int> number(parts.size(), 0);
  for (int64_t piece = 0; piece < pieces.count; ++piece) {
    for (size_t i = 0; i < parts.size(); ++i) {
      ranges[i] = PartOf(extents_[shape.indices[i]], parts[i], number[i]);
    }
    BoxFactors::Piece here = boxes_.Of(factor, ranges);
    int64_t volume = here.empty ? 0 : 1;
    for (Interval& bounds : here.box) {
      if (here.empty) bounds = {0, 0};
      volume *= bounds.size();
      pieces.bounds.push_back(bounds);
    }
    pieces.volume += volume;
    pieces.exists.push_back(!here.empty);
    for (size_t i = parts.size(); i-- > 0;) {
      if (++number[i] < parts[i]) break;
      number[i] = 0;
    }
  }
  pieces.even = IsEven(shape, pieces);
  return pieces;
}

bool Regions::IsEven(const BoxFactor& shape, const PartBoxes& pieces) const {
  if (shape.dims.size() != 1 || (shape.indices.size() != 1 && pieces.count != 1)) return false;
  const int64_t extent = dims_[shape.dims[0]];
  if (extent % pieces.count != 0) return false;
  for (int64_t piece = 0; piece < pieces.count; ++piece) {
    if (pieces.bounds[piece] != PartOf(extent, pieces.count, piece)) return false;
  }
  return true;
}

}  // namespace yuba::search
