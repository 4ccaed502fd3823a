#include "search/cost/crossings.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "opsemantics/base/arithmetic.h"
#include "opsemantics/definition/graph.h"
#include "search/cost/numbering.h"

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

// The axes of greater kinds that cut both sides have at most `common` combinations of coordinates;
// apart from these, what a device needs and which parts its group has are independent. So the mean
// that is found is at most common / (needed parts * groups) of all that needed parts and parts of
// others have in common. `had`: how the side of the others is cut; `needed`: [kind] the other side.
void Crossings::SetMeans(const Grid& had, const std::vector<int64_t>& needed, int64_t elements,
                         Cut& cut) const {
  for (size_t kind = 0; kind < kinds_; ++kind) {
    int64_t common = 1, groups = 1;
    for (size_t outer = kind; outer < kinds_; ++outer) {
      common *= std::gcd(Product(had[outer]), needed[outer]);
      groups *= Product(had[outer]);
    }
    if (common == groups || common == cut.needed) continue;
    Near& near = cut.near[kind];
    near.elements.other = {CheckedMultiply(common, elements), groups * cut.needed};
    near.parts.other = {CheckedMultiply(common, cut.met.sum), groups * cut.needed};
    cut.has_others = true;
  }
}

void Crossings::Mean::Reduce() {
  if (of == 0) return;
  const int64_t common = std::gcd(sum, of);
  sum /= common;
  of /= common;
}

void Crossings::Finish(Cut& cut) const {
  cut.met.of = cut.needed;
  cut.met.Reduce();
  for (Near& near : cut.near) {
    for (Found* found : {&near.elements, &near.parts}) {
      found->mean.of = cut.needed;
      found->mean.Reduce();
      found->other.Reduce();
    }
  }
}

Crossings::Cut Crossings::Gathered(const std::vector<int64_t>& extents, const Grid& tensor,
                                   const PartBoxes& pieces) const {
  const std::vector<int> parts = PartsOf(tensor);
  int64_t shard = 1;  // elements of the largest
  for (size_t d = 0; d < extents.size(); ++d) shard *= CeilDiv(extents[d], parts[d]);
  const std::vector<int64_t> below = PartsBelow(tensor);
  Cut cut;
  cut.needed = pieces.count;
  cut.near.resize(kinds_);
  for (Near& near : cut.near) near.elements.other.of = near.parts.other.of = 0;
  for (int64_t piece = 0; piece < pieces.count; ++piece) {
    if (!pieces.exists[piece]) continue;
    const Interval* const box = pieces.bounds.data() + piece * static_cast<int64_t>(extents.size());
    const int64_t met = MetBy(box, extents, parts).all;
    const int64_t volume = VolumeOf(box, extents.size());
    cut.met.sum += met;
    for (size_t kind = 0; kind < kinds_; ++kind) {
      cut.near[kind].elements.Add(std::min(volume, below[kind] * shard));
      cut.near[kind].parts.Add(std::min(met, below[kind]));
    }
  }
  if (extents.size() == 1) SetMeans(tensor, pieces.by_kind, pieces.volume, cut);
  return cut;
}

Crossings::Cut Crossings::Reduced(const std::vector<int64_t>& extents, const Grid& tensor,
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
  Cut cut;
  cut.needed = static_cast<int64_t>(shards.size());
  cut.near.resize(kinds_);
  for (Near& near : cut.near) near.elements.other.of = near.parts.other.of = 0;
  int64_t repeated = 1;  // partials of one element in the group
  for (size_t kind = 0; kind < kinds_; ++kind) {
    for (size_t shard = 0; shard < shards.size(); ++shard) {
      const int64_t of_group = below[kind] / repeated * largest;
      cut.near[kind].elements.Add(repeated * std::min(shards[shard], of_group));
      cut.near[kind].parts.Add(std::min(met[shard], below[kind]));
      if (kind == 0) cut.met.sum += met[shard];
    }
    for (size_t i = 0; sums_ && i < indices.size(); ++i) {
      if (definition_.indices[indices[i]].reduction) repeated *= node[kind][i];
    }
  }
  std::vector<int64_t> of_tensor;
  for (const std::vector<int>& of_kind : tensor) of_tensor.push_back(Product(of_kind));
  if (rank == 1) SetMeans(node, of_tensor, pieces.volume, cut);
  return cut;
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
      table.pairs.back().push_back(
          reduces_ ? Reduced(extents, tensor, shape.indices, column_kinds.at(c), *pieces[c])
                   : Gathered(extents, tensor, *pieces[c]));
      Finish(table.pairs.back().back());
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
      elements_(ElementCount(type_)),
      kinds_(mesh.kinds()) {
  std::vector<bool> counted(definition.indices.size(), false);
  for (size_t f = 0; f < regions.factors().size() && !type_.dims.empty(); ++f) {
    factors_.push_back(TableOf(static_cast<int>(f), tensor_grids, node_grids, regions));
    for (const int index : regions.factors()[f].indices) counted[index] = true;
  }
  for (const Grid& node : node_grids) {
    Partials partials;
    for (size_t kind = 0; kind < kinds_; ++kind) {
      partials.near.push_back(partials.all);
      for (size_t i = 0; sums && i < counted.size(); ++i) {
        if (!counted[i] && definition.indices[i].reduction) partials.all *= node[kind][i];
      }
    }
    partials_.push_back(std::move(partials));
  }
  const std::vector<int> groups = GroupSizes(mesh);
  for (const Grid& tensor : tensor_grids) {
    Owners owners;
    const std::vector<int64_t> below = PartsBelow(tensor);
    for (size_t kind = 0; kind < kinds_; ++kind) {
      owners.near.push_back((kind == 0 ? 1 : groups[kind - 1]) / below[kind]);
    }
    owners.all = devices_ / Product(PartsOf(tensor));
    owners_.push_back(std::move(owners));
  }
}

int64_t Crossings::FoundBy(const std::vector<const Cut*>& cuts, size_t kind, Found Near::* what,
                           int64_t repeated, bool has_others) const {
  const Wide devices = Wide{devices_} * repeated;
  const auto divided = [](Wide a, int64_t by) { return by == 1 ? a : a / by; };
  Wide sum = devices;
  int64_t of = 1;
  for (const Cut* cut : cuts) {
    const Mean& mean = (cut->near[kind].*what).mean;
    sum *= mean.sum;
    of *= mean.of;
  }
  Wide found = divided(sum, of);
  for (size_t f = 0; has_others && f < cuts.size(); ++f) {
    const Mean& other = (cuts[f]->near[kind].*what).other;
    if (other.of == 0) continue;
    sum = devices * other.sum;
    for (size_t g = 0; g < cuts.size(); ++g) {
      if (g != f) sum *= (cuts[g]->near[kind].*what).greatest;
    }
    found = std::min(found, divided(sum, other.of));
  }
  return static_cast<int64_t>(found);
}

void Crossings::Add(size_t tensor_grid, size_t node_grid, int64_t arriving, int64_t size,
                    LeastMoved* least) {
  const Partials& partials = partials_[node_grid];
  const Owners& owners = owners_[tensor_grid];
  cuts_.clear();
  Wide met = Wide{devices_} * partials.all;
  int64_t of = 1;
  bool has_others = false;
  for (const FactorTable& table : factors_) {
    const Cut& cut = table.pairs[table.rows[tensor_grid]][table.columns[node_grid]];
    cuts_.push_back(&cut);
    met *= cut.met.sum;
    of *= cut.met.of;
    has_others |= cut.has_others;
  }
  const auto messages = static_cast<int64_t>(of == 1 ? met : met / of);
  for (size_t kind = 0; kind < kinds_; ++kind) {
    int64_t crossing =
        messages - FoundBy(cuts_, kind, &Near::parts, partials.near[kind], has_others);
    const int64_t others = sums_ ? owners.all - owners.near[kind] : 0;
    least->messages[kind] =
        std::max(least->messages[kind], std::max<int64_t>(0, crossing) + devices_ * others);
    if (kind == 0) continue;
    crossing = arriving - FoundBy(cuts_, kind, &Near::elements, partials.near[kind], has_others);
    const int64_t slices = sums_ ? owners.all : 1;  // of which each owner combines one
    least->bytes[kind] =
        std::max<int64_t>(0, crossing) / slices * size + elements_ * others * ByteSize(type_.type);
  }
}

}  // namespace yuba::search
