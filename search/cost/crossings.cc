#include "search/cost/crossings.h"

#include <algorithm>
#include <numeric>

namespace yuba::search {
namespace {

int64_t DivideUp(int64_t number, int64_t by) { return by == 0 ? 0 : (number + by - 1) / by; }

// Into how many parts axes of kinds below `kind` cut the extents together.
int64_t PartsBelow(const Grid& grid, size_t kind) {
  int64_t parts = 1;
  for (size_t inner = 0; inner < kind; ++inner) parts *= Product(grid[inner]);
  return parts;
}

// The elements of each piece.
std::vector<int64_t> VolumesOf(const PartBoxes& pieces, size_t rank) {
  std::vector<int64_t> volumes;
  for (int64_t piece = 0; piece < pieces.count; ++piece) {
    int64_t volume = pieces.exists[piece] ? 1 : 0;
    for (size_t d = 0; d < rank; ++d) volume *= pieces.bounds[piece * rank + d].size();
    volumes.push_back(volume);
  }
  return volumes;
}

// The elements of each part of a tensor's dimensions.
std::vector<int64_t> ShardVolumes(const std::vector<int64_t>& extents, const Grid& grid) {
  const std::vector<int> parts = PartsOf(grid);
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

}  // namespace

Crossings::Near Crossings::Gathered(const FactorGrid& grid, const std::vector<int64_t>& extents,
                                    const PartBoxes& pieces, size_t kind) const {
  const std::vector<int> parts = PartsOf(grid.tensor);
  int64_t of_group = 1;  // elements that a group has at most
  for (size_t d = 0; d < extents.size(); ++d) {
    for (size_t inner = 0; inner < kind; ++inner) of_group *= grid.tensor[inner][d];
    of_group *= DivideUp(extents[d], parts[d]);
  }
  Near near;
  near.parts = pieces.count;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const int64_t volume : VolumesOf(pieces, extents.size())) {
    const int64_t found = std::min(volume, of_group);
    near.sum += found;
    near.greatest = std::max(near.greatest, found);
    least = std::min(least, volume);
  }
  near.groups = DivideUp(least, of_group);
  if (extents.size() != 1) return near;
  int64_t common = 1, outer = 1;
  for (size_t k = kind; k < kinds_; ++k) {
    common *= std::gcd<int64_t>(grid.tensor[k][0], pieces.by_kind[k]);
    outer *= grid.tensor[k][0];
  }
  if (common != outer && common != pieces.count) {
    near.mean = Wide{common} * pieces.volume;
    near.mean_of = Wide{outer} * pieces.count;
  }
  return near;
}

Crossings::Near Crossings::Reduced(const FactorGrid& grid, const std::vector<int64_t>& extents,
                                   const std::vector<int>& indices, const PartBoxes& pieces,
                                   size_t kind) const {
  int64_t repeated = 1, repeated_outside = 1;  // partials of one element, in the group and outside
  for (size_t i = 0; grid.sums && i < indices.size(); ++i) {
    if (!definition_.indices[indices[i]].reduction) continue;
    for (size_t k = 0; k < kinds_; ++k) (k < kind ? repeated : repeated_outside) *= grid.node[k][i];
  }
  const std::vector<int64_t> written = VolumesOf(pieces, extents.size());
  const int64_t boxes = PartsBelow(grid.node, kind) / repeated;
  const int64_t of_group = boxes * *std::max_element(written.begin(), written.end());
  const std::vector<int64_t> shards = ShardVolumes(extents, grid.tensor);
  Near near;
  near.parts = static_cast<int64_t>(shards.size());
  for (const int64_t volume : shards) {
    const int64_t found = repeated * std::min(volume, of_group);
    near.sum += found;
    near.greatest = std::max(near.greatest, found);
  }
  // Elements that nobody writes need no message.
  const int64_t all = std::accumulate(extents.begin(), extents.end(), int64_t{1},
                                      [](int64_t a, int64_t b) { return a * b; });
  const bool all_written = pieces.volume == all * repeated * repeated_outside;
  const int64_t least = *std::min_element(shards.begin(), shards.end());
  near.groups = all_written ? repeated_outside * DivideUp(least, of_group) : 0;
  return near;
}

const std::vector<Crossings::Near>& Crossings::NearOf(FactorGrid grid, Regions& regions,
                                                      const Grid& node) {
  const auto found = known_.find(grid);
  if (found != known_.end()) return found->second;
  const BoxFactor& factor = regions.factors()[grid.factor];
  const PartBoxes& pieces = regions.PiecesOf(grid.factor, node);
  std::vector<int64_t> extents;
  for (const int d : factor.dims) extents.push_back(type_.dims[d]);
  std::vector<Near> near;
  for (size_t kind = 0; kind < kinds_; ++kind) {
    near.push_back(reduces_ ? Reduced(grid, extents, factor.indices, pieces, kind)
                            : Gathered(grid, extents, pieces, kind));
  }
  return known_.emplace(std::move(grid), std::move(near)).first->second;
}

int64_t Crossings::Found(const std::vector<const Near*>& factors, int64_t repeated) const {
  Wide sum = Wide{devices_} * repeated, parts = 1;
  for (const Near* near : factors) {
    sum *= near->sum;
    parts *= near->parts;
  }
  Wide found = sum / parts;
  for (size_t f = 0; f < factors.size(); ++f) {
    if (factors[f]->mean_of == 0) continue;
    Wide other = factors[f]->mean * devices_ * repeated;
    for (size_t g = 0; g < factors.size(); ++g) {
      if (g != f) other *= factors[g]->greatest;
    }
    found = std::min(found, other / factors[f]->mean_of);
  }
  return static_cast<int64_t>(found);
}

void Crossings::Add(const Grid& tensor, const Grid& node, Regions& regions, bool sums,
                    int64_t arriving, int64_t size, LeastMoved* least) {
  std::vector<const std::vector<Near>*> factors;
  std::vector<bool> counted(definition_.indices.size(), false);
  for (size_t f = 0; f < regions.factors().size() && !type_.dims.empty(); ++f) {
    const BoxFactor& factor = regions.factors()[f];
    factors.push_back(&NearOf({static_cast<int>(f), sums, GridAlong(tensor, factor.dims),
                               GridAlong(node, factor.indices)},
                              regions, node));
    for (const int index : factor.indices) counted[index] = true;
  }
  for (size_t kind = 0; kind < kinds_; ++kind) {
    int64_t repeated = 1, groups = 1;  // of reductions that decide no box: partials near, outside
    for (size_t i = 0; sums && i < counted.size(); ++i) {
      if (counted[i] || !definition_.indices[i].reduction) continue;
      for (size_t k = 0; k < kinds_; ++k) (k < kind ? repeated : groups) *= node[k][i];
    }
    std::vector<const Near*> here;
    for (const std::vector<Near>* factor : factors) {
      here.push_back(&(*factor)[kind]);
      groups *= here.back()->groups;
    }
    least->messages[kind] = std::max<int64_t>({least->messages[kind], groups - 1, 0});
    if (kind == 0 || arriving == 0) continue;
    least->bytes[kind] = std::max<int64_t>(0, arriving - Found(here, repeated)) * size;
  }
}

}  // namespace yuba::search
