#include "search/cost/crossings.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "opsemantics/base/arithmetic.h"
#include "search/cost/numbering.h"

namespace yuba::search {
namespace {

// How many groups of `by` elements it takes to have so many; 0 where no group has any.
int64_t GroupsFor(int64_t number, int64_t by) { return by == 0 ? 0 : CeilDiv(number, by); }

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

Crossings::Near Crossings::Gathered(const std::vector<int64_t>& extents, const Grid& tensor,
                                    const PartBoxes& pieces, size_t kind) const {
  const std::vector<int> parts = PartsOf(tensor);
  int64_t of_group = 1;  // elements that a group has at most
  for (size_t d = 0; d < extents.size(); ++d) {
    for (size_t inner = 0; inner < kind; ++inner) of_group *= tensor[inner][d];
    of_group *= CeilDiv(extents[d], parts[d]);
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
  near.groups = GroupsFor(least, of_group);
  if (extents.size() != 1) return near;
  int64_t common = 1, outer = 1;
  for (size_t k = kind; k < kinds_; ++k) {
    common *= std::gcd<int64_t>(tensor[k][0], pieces.by_kind[k]);
    outer *= tensor[k][0];
  }
  if (common != outer && common != pieces.count) {
    near.mean = Wide{common} * pieces.volume;
    near.mean_of = Wide{outer} * pieces.count;
  }
  return near;
}

Crossings::Near Crossings::Reduced(const std::vector<int64_t>& extents, const Grid& tensor,
                                   const std::vector<int>& indices, const Grid& node,
                                   const PartBoxes& pieces, size_t kind) const {
  int64_t repeated = 1, repeated_outside = 1;  // partials of one element, in the group and outside
  for (size_t i = 0; sums_ && i < indices.size(); ++i) {
    if (!definition_.indices[indices[i]].reduction) continue;
    for (size_t k = 0; k < kinds_; ++k) (k < kind ? repeated : repeated_outside) *= node[k][i];
  }
  const std::vector<int64_t> written = VolumesOf(pieces, extents.size());
  const int64_t boxes = PartsBelow(node, kind) / repeated;
  const int64_t of_group = boxes * *std::max_element(written.begin(), written.end());
  const std::vector<int64_t> shards = ShardVolumes(extents, tensor);
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
  near.groups = all_written ? repeated_outside * GroupsFor(least, of_group) : 0;
  return near;
}

Crossings::FactorTable Crossings::TableOf(int factor, const std::vector<Grid>& tensor_grids,
                                          const std::vector<Grid>& node_grids,
                                          Regions& regions) const {
  const BoxFactor& shape = regions.factors()[factor];
  std::vector<int64_t> extents;
  for (const int d : shape.dims) extents.push_back(type_.dims[d]);
  FactorTable table;
  Numbering<Grid> row_kinds, column_kinds;
  for (const Grid& grid : tensor_grids) {
    table.rows.push_back(row_kinds.Of(GridAlong(grid, shape.dims)));
  }
  std::vector<const PartBoxes*> pieces;  // [column kind]
  for (const Grid& grid : node_grids) {
    table.columns.push_back(column_kinds.Of(GridAlong(grid, shape.indices)));
    if (table.columns.back() == static_cast<int>(pieces.size())) {
      pieces.push_back(&regions.PiecesOf(factor, grid));
    }
  }
  for (const Grid& tensor : row_kinds.things()) {
    table.pairs.emplace_back();
    for (int c = 0; c < column_kinds.size(); ++c) {
      table.pairs.back().emplace_back();
      for (size_t kind = 0; kind < kinds_; ++kind) {
        table.pairs.back().back().push_back(
            reduces_ ? Reduced(extents, tensor, shape.indices, column_kinds.at(c), *pieces[c], kind)
                     : Gathered(extents, tensor, *pieces[c], kind));
      }
    }
  }
  return table;
}

Crossings::Crossings(const Definition& definition, int operand, const Mesh& mesh,
                     const std::vector<Grid>& tensor_grids, const std::vector<Grid>& node_grids,
                     bool sums, Regions& regions)
    : definition_(definition),
      reduces_(operand < 0),
      sums_(sums),
      type_(reduces_ ? definition.result : definition.operands[operand]),
      devices_(mesh.devices()),
      kinds_(mesh.kinds()) {
  std::vector<bool> counted(definition.indices.size(), false);
  for (size_t f = 0; f < regions.factors().size() && !type_.dims.empty(); ++f) {
    factors_.push_back(TableOf(static_cast<int>(f), tensor_grids, node_grids, regions));
    for (const int index : regions.factors()[f].indices) counted[index] = true;
  }
  for (const Grid& node : node_grids) {
    std::vector<Partials> of_kinds(kinds_);
    for (size_t i = 0; sums && i < counted.size(); ++i) {
      if (counted[i] || !definition.indices[i].reduction) continue;
      for (size_t kind = 0; kind < kinds_; ++kind) {
        for (size_t k = 0; k < kinds_; ++k) {
          (k < kind ? of_kinds[kind].near : of_kinds[kind].outside) *= node[k][i];
        }
      }
    }
    partials_.push_back(std::move(of_kinds));
  }
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

void Crossings::Add(size_t tensor_grid, size_t node_grid, int64_t arriving, int64_t size,
                    LeastMoved* least) const {
  std::vector<const Near*> near(factors_.size());
  for (size_t kind = 0; kind < kinds_; ++kind) {
    const Partials& partials = partials_[node_grid][kind];
    int64_t groups = partials.outside;
    for (size_t f = 0; f < factors_.size(); ++f) {
      const FactorTable& table = factors_[f];
      near[f] = &table.pairs[table.rows[tensor_grid]][table.columns[node_grid]][kind];
      groups *= near[f]->groups;
    }
    least->messages[kind] = std::max<int64_t>({least->messages[kind], groups - 1, 0});
    if (kind == 0 || arriving == 0) continue;
    least->bytes[kind] = std::max<int64_t>(0, arriving - Found(near, partials.near)) * size;
  }
}

}  // namespace yuba::search
