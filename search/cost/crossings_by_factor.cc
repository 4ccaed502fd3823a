// What devices find in their groups of one factor of a use's boxes.
#include <algorithm>
#include <numeric>
#include <utility>

#include "opsemantics/base/arithmetic.h"
#include "search/cost/crossings.h"

namespace yuba::search {
namespace {

// [kind]: into how many parts axes of lesser kinds cut the extents together.
std::vector<int64_t> PartsBelow(const Grid& grid) {
  std::vector<int64_t> below = {1};
  for (size_t kind = 0; kind + 1 < grid.size(); ++kind) {
    below.push_back(below.back() * Product(grid[kind]));
  }
  return below;
}

// The shards of some dimensions that have elements in common with a box, along each dimension.
struct Met {
  std::vector<int64_t> first, count;
  int64_t all = 1;  // counts multiplied
};

Met MetBy(const Interval* box, const std::vector<int64_t>& extents, const std::vector<int>& parts) {
  Met met;
  for (size_t d = 0; d < extents.size(); ++d) {
    const Interval inside = Intersect(box[d], {0, extents[d]});
    // Part i begins at floor(i * extent / parts).
    const auto holding = [&](int64_t at) { return CeilDiv((at + 1) * parts[d], extents[d]) - 1; };
    const int64_t first = inside.empty() ? 0 : holding(inside.begin);
    met.first.push_back(first);
    met.count.push_back(inside.empty() ? 0 : holding(inside.end - 1) - first + 1);
    met.all *= met.count.back();
  }
  return met;
}

int64_t VolumeOf(const Interval* box, size_t rank) {
  int64_t volume = 1;
  for (size_t d = 0; d < rank; ++d) volume *= box[d].size();
  return volume;
}

// [shard], row-major: its elements.
std::vector<int64_t> ShardVolumes(const std::vector<int64_t>& extents,
                                  const std::vector<int>& parts) {
  std::vector<int64_t> volumes = {1};
  for (size_t d = 0; d < extents.size(); ++d) {
    std::vector<int64_t> product;
    for (const int64_t outer : volumes) {
      for (int part = 0; part < parts[d]; ++part) {
        product.push_back(outer * PartOf(extents[d], parts[d], part).size());
      }
    }
    volumes = std::move(product);
  }
  return volumes;
}

// Adds 1 for each shard that is met.
void Count(const Met& met, const std::vector<int>& parts, std::vector<int64_t>& shards) {
  if (met.all == 0) return;
  std::vector<int64_t> at(parts.size(), 0);
  while (true) {
    int64_t shard = 0;
    for (size_t d = 0; d < parts.size(); ++d) shard = shard * parts[d] + met.first[d] + at[d];
    ++shards[shard];
    size_t d = parts.size();
    while (d > 0 && ++at[d - 1] == met.count[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace

// What is found of the parts that devices may need, summed and of one.
struct Crossings::Counts {
  struct Sum {
    int64_t sum = 0, greatest = 0;

    void Add(int64_t found) {
      sum += found;
      greatest = std::max(greatest, found);
    }
    Found Of(int64_t needed) const {
      return {Fraction(sum, needed), greatest, Fraction::Unknown()};
    }
  };
  struct Near {
    Sum elements, parts;
  };

  Counts(int64_t needed_parts, size_t kinds) : needed(needed_parts), near(kinds) {}

  CrossingBound Bound() const {
    CrossingBound bound = {Fraction(met, needed), {}};
    for (size_t kind = 0; kind < near.size(); ++kind) {
      const Found elements = kind == 0 ? Found() : near[kind].elements.Of(needed);
      bound.near.push_back({elements, near[kind].parts.Of(needed)});
    }
    return bound;
  }

  const int64_t needed;    // how many parts devices may need
  int64_t met = 0;         // pairs of these and of parts of others with elements in common
  std::vector<Near> near;  // [kind of links]
};

// The axes of greater kinds that cut both sides have at most `common` combinations of coordinates;
// apart from these, what a device needs and which parts its group has are independent. So the mean
// that is found is at most common / (needed parts * groups) of all that needed parts and parts of
// others have in common. `had`: how the side of the others is cut; `needed`: [kind] the other side.
void Crossings::SetOthers(const Grid& had, const std::vector<int64_t>& needed, int64_t elements,
                          const Counts& counts, CrossingBound* bound) const {
  for (size_t kind = 0; kind < kinds_; ++kind) {
    int64_t common = 1, groups = 1;
    for (size_t outer = kind; outer < kinds_; ++outer) {
      common *= std::gcd(Product(had[outer]), needed[outer]);
      groups *= Product(had[outer]);
    }
    if (common == groups || common == counts.needed) continue;
    const int64_t of = groups * counts.needed;
    CrossingBound::Near& near = bound->near[kind];
    if (kind > 0) near.elements.other = Fraction(CheckedMultiply(common, elements), of);
    near.parts.other = Fraction(CheckedMultiply(common, counts.met), of);
  }
}

CrossingBound Crossings::Gathered(const std::vector<int64_t>& extents, const Grid& tensor,
                                  const PartBoxes& pieces) const {
  const std::vector<int> parts = PartsOf(tensor);
  int64_t shard = 1;  // elements of the largest
  for (size_t d = 0; d < extents.size(); ++d) shard *= CeilDiv(extents[d], parts[d]);
  const std::vector<int64_t> below = PartsBelow(tensor);
  Counts counts(pieces.count, kinds_);
  for (int64_t piece = 0; piece < pieces.count; ++piece) {
    if (!pieces.exists[piece]) continue;
    const Interval* const box = pieces.bounds.data() + piece * static_cast<int64_t>(extents.size());
    const int64_t met = MetBy(box, extents, parts).all;
    const int64_t volume = VolumeOf(box, extents.size());
    counts.met += met;
    for (size_t kind = 0; kind < kinds_; ++kind) {
      counts.near[kind].elements.Add(std::min(volume, below[kind] * shard));
      counts.near[kind].parts.Add(std::min(met, below[kind]));
    }
  }
  CrossingBound bound = counts.Bound();
  if (extents.size() == 1) SetOthers(tensor, pieces.by_kind, pieces.volume, counts, &bound);
  return bound;
}

CrossingBound Crossings::Reduced(const std::vector<int64_t>& extents, const Grid& tensor,
                                 const std::vector<int>& indices, const Grid& node,
                                 const PartBoxes& pieces) const {
  const size_t rank = extents.size();
  const std::vector<int> parts = PartsOf(tensor);
  const std::vector<int64_t> shards = ShardVolumes(extents, parts), below = PartsBelow(node);
  std::vector<int64_t> met(shards.size(), 0);  // by shard
  int64_t largest = 0;                         // elements of a piece
  for (int64_t piece = 0; piece < pieces.count; ++piece) {
    if (!pieces.exists[piece]) continue;
    const Interval* const box = pieces.bounds.data() + piece * static_cast<int64_t>(rank);
    Count(MetBy(box, extents, parts), parts, met);
    largest = std::max(largest, VolumeOf(box, rank));
  }
  Counts counts(static_cast<int64_t>(shards.size()), kinds_);
  for (const int64_t of_shard : met) counts.met += of_shard;
  const std::vector<int> partials = PartialsByKind(indices, node);
  int64_t repeated = 1;  // partials of one element in the group
  for (size_t kind = 0; kind < kinds_; ++kind) {
    for (size_t shard = 0; shard < shards.size(); ++shard) {
      const int64_t of_group = below[kind] / repeated * largest;
      counts.near[kind].elements.Add(repeated * std::min(shards[shard], of_group));
      counts.near[kind].parts.Add(std::min(met[shard], below[kind]));
    }
    repeated *= partials[kind];
  }
  std::vector<int64_t> of_tensor;
  for (const std::vector<int>& of_kind : tensor) of_tensor.push_back(Product(of_kind));
  CrossingBound bound = counts.Bound();
  if (rank == 1) SetOthers(node, of_tensor, pieces.volume, counts, &bound);
  return bound;
}

CrossingBound Crossings::Of(const BoxFactor& factor, const Grid& tensor, const Grid& node,
                            const PartBoxes& pieces) const {
  std::vector<int64_t> extents;
  for (const int d : factor.dims) extents.push_back(type_.dims[d]);
  return reduces_ ? Reduced(extents, tensor, factor.indices, node, pieces)
                  : Gathered(extents, tensor, pieces);
}

}  // namespace yuba::search
