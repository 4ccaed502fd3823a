#include "search/check/crossing.h"

#include <algorithm>
#include <numeric>

#include "opsemantics/base/arithmetic.h"

namespace yuba::search {
namespace {

// The shards that a box meets, by their numbers in `Sizes`.
std::vector<size_t> Meeting(const BoxFactors::Piece& box, const std::vector<int64_t>& extents,
                            const std::vector<int>& parts) {
  std::vector<size_t> met;
  if (!box.empty) met.push_back(0);
  for (size_t d = 0; d < extents.size(); ++d) {
    std::vector<size_t> longer;
    const Interval bounds = met.empty() ? Interval{0, 0} : box.box[d];
    int64_t part = bounds.empty() ? parts[d] : std::max<int64_t>(0, bounds.begin) * parts[d];
    if (!bounds.empty()) part /= extents[d];
    for (; part < parts[d]; ++part) {
      const Interval shard = PartOf(extents[d], parts[d], part);
      if (shard.begin >= bounds.end) break;
      if (shard.end <= bounds.begin) continue;
      for (const size_t outer : met) longer.push_back(outer * parts[d] + part);
    }
    met = std::move(longer);
  }
  return met;
}

// [shard]: its elements.
std::vector<int64_t> Sizes(const std::vector<int64_t>& extents, const std::vector<int>& parts) {
  std::vector<int64_t> sizes = {1};
  for (size_t d = 0; d < extents.size(); ++d) {
    std::vector<int64_t> longer;
    for (const int64_t size : sizes) {
      for (int part = 0; part < parts[d]; ++part) {
        longer.push_back(size * PartOf(extents[d], parts[d], part).size());
      }
    }
    sizes = std::move(longer);
  }
  return sizes;
}

int64_t SizeOf(const BoxFactors::Piece& box) { return box.empty ? 0 : Volume(box.box); }

// Of needed parts with so many elements each, of which so many are within reach.
Reach ReachOf(const std::vector<int64_t>& needed, int64_t within, int64_t copies) {
  Reach reach;
  for (const int64_t number : needed) {
    const int64_t found = copies * std::min(number, within);
    reach.total += found;
    reach.most = std::max(reach.most, found);
  }
  return reach;
}

// Where both sides have one dimension: the second bound of MostShared (overlap.h), of the parts of
// axes of outer kinds. `had`: [kind] the pieces that they make, `needed` the needed parts.
void AddMeans(const std::vector<int64_t>& had, const std::vector<int64_t>& needed, Large elements,
              FactorReach& reach) {
  for (size_t kind = 0; kind < had.size(); ++kind) {
    int64_t both = 1, groups = 1;
    for (size_t outer = kind; outer < had.size(); ++outer) {
      both *= std::gcd(had[outer], needed[outer]);
      groups *= had[outer];
    }
    if (both == groups || both == reach.parts) continue;
    const Large mean_of = Large{groups} * reach.parts;
    reach.pieces[kind].mean = both * reach.meetings;
    reach.pieces[kind].mean_of = mean_of;
    if (kind == 0) continue;
    reach.elements[kind].mean = both * elements;
    reach.elements[kind].mean_of = mean_of;
  }
}

std::vector<int64_t> ByKind(const Grid& grid) {
  std::vector<int64_t> parts;
  for (const std::vector<int>& of_kind : grid) parts.push_back(Product(of_kind));
  return parts;
}

}  // namespace

FactorReach ReachOfGather(const std::vector<int64_t>& extents, const Grid& shards,
                          const FactorParts& boxes) {
  const std::vector<int> parts = PartsOf(shards);
  std::vector<int64_t> sizes, met;  // [box]
  FactorReach reach;
  reach.parts = boxes.number;
  for (const BoxFactors::Piece& box : boxes.all) {
    sizes.push_back(SizeOf(box));
    met.push_back(static_cast<int64_t>(Meeting(box, extents, parts).size()));
    reach.meetings += met.back();
  }
  int64_t largest = 1, pieces = 1;
  for (size_t d = 0; d < extents.size(); ++d) largest *= CeilDiv(extents[d], parts[d]);
  for (const int64_t here : ByKind(shards)) {
    reach.elements.push_back(reach.elements.empty() ? Reach()
                                                    : ReachOf(sizes, pieces * largest, 1));
    reach.pieces.push_back(ReachOf(met, pieces, 1));
    pieces *= here;
  }
  if (extents.size() == 1) AddMeans(ByKind(shards), boxes.kinds, boxes.volume, reach);
  return reach;
}

std::vector<int> CopiesByKind(const Definition& definition, const BoxFactor& factor,
                              const Grid& cut, bool sums) {
  std::vector<int> copies(cut.size(), 1);
  for (size_t i = 0; sums && i < factor.indices.size(); ++i) {
    if (!definition.indices[factor.indices[i]].reduction) continue;
    for (size_t kind = 0; kind < cut.size(); ++kind) copies[kind] *= cut[kind][i];
  }
  return copies;
}

FactorReach ReachOfReduction(const Definition& definition, const BoxFactor& factor,
                             const std::vector<int64_t>& extents, const Grid& shards,
                             const FactorParts& boxes, const Grid& cut, bool sums) {
  const std::vector<int> parts = PartsOf(shards);
  const std::vector<int64_t> owned = Sizes(extents, parts);
  std::vector<int64_t> met(owned.size(), 0);  // [shard]
  int64_t largest = 0;
  FactorReach reach;
  reach.parts = static_cast<int64_t>(owned.size());
  for (const BoxFactors::Piece& box : boxes.all) {
    largest = std::max(largest, SizeOf(box));
    for (const size_t shard : Meeting(box, extents, parts)) {
      ++met[shard];
      ++reach.meetings;
    }
  }
  const std::vector<int> copies_by_kind = CopiesByKind(definition, factor, cut, sums);
  int64_t pieces = 1, copies = 1;  // within reach, and partials of each element
  for (size_t kind = 0; kind < cut.size(); ++kind) {
    reach.elements.push_back(kind == 0 ? Reach()
                                       : ReachOf(owned, pieces / copies * largest, copies));
    reach.pieces.push_back(ReachOf(met, pieces, 1));
    pieces *= Product(cut[kind]);
    copies *= copies_by_kind[kind];
  }
  if (extents.size() == 1) AddMeans(ByKind(cut), ByKind(shards), boxes.volume, reach);
  return reach;
}

namespace {

// Of all devices together, with `copies` partials of each element within reach.
int64_t Within(Large devices, absl::Span<const FactorReach* const> factors, size_t kind,
               std::vector<Reach> FactorReach::* of, int64_t copies) {
  Large total = devices * copies, parts = 1;
  for (const FactorReach* factor : factors) {
    total *= (factor->*of)[kind].total;
    parts *= factor->parts;
  }
  Large within = parts == 1 ? total : total / parts;
  for (const FactorReach* one : factors) {
    const Reach& reach = (one->*of)[kind];
    if (reach.mean_of == 0) continue;
    Large other = devices * copies * reach.mean;
    for (const FactorReach* factor : factors) {
      if (factor != one) other *= (factor->*of)[kind].most;
    }
    within = std::min(within, other / reach.mean_of);
  }
  return static_cast<int64_t>(within);
}

}  // namespace

OwnersReach OwnersReachOf(const Mesh& mesh, const Grid& tensor) {
  OwnersReach owners;
  const std::vector<int> joined = GroupSizes(mesh);  // [kind] devices
  int64_t devices = 1, shards = 1;                   // within reach
  for (size_t kind = 0; kind < tensor.size(); ++kind) {
    owners.within.push_back(devices / shards);
    devices = joined[kind];
    shards *= Product(tensor[kind]);
  }
  owners.all = devices / shards;
  return owners;
}

void AddCrossing(const UseReach& use, absl::Span<const FactorReach* const> factors, LinkTerm term,
                 LeastMoved* least) {
  const bool near = term == LinkTerm::kNear, far = term == LinkTerm::kFar;
  Large meetings = use.devices, parts = 1;
  for (const int64_t here : use.repeated) meetings *= here;
  for (const FactorReach* factor : factors) {
    meetings *= factor->meetings;
    parts *= factor->parts;
  }
  const auto messages = static_cast<int64_t>(meetings / parts);
  int64_t copies = 1;  // partials of one element within reach
  for (size_t kind = 0; kind < use.repeated.size(); ++kind) {
    if (kind > 0) copies *= use.repeated[kind - 1];
    // Owners beyond reach, which combine slices of partials for this one and for whom it does.
    const int64_t others = use.sums ? use.owners->all - use.owners->within[kind] : 0;
    int64_t pieces = near && kind > 0 ? 0 : use.devices * others;
    if (!far) {
      pieces += std::max<int64_t>(
          0, messages - Within(use.devices, factors, kind, &FactorReach::pieces, copies));
    }
    least->messages[kind] = std::max(least->messages[kind], pieces);
    if (kind == 0 || near) continue;
    int64_t moved =
        use.arriving - Within(use.devices, factors, kind, &FactorReach::elements, copies);
    moved = std::max<int64_t>(0, moved) / (use.sums ? use.owners->all : 1);
    least->bytes[kind] = moved * use.size + use.elements * others * use.result_size;
  }
}

}  // namespace yuba::search
