#include "search/check/crossing.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "opsemantics/base/arithmetic.h"

namespace yuba::search {
namespace {

// Elements of the box of each part of a factor's indices.
std::vector<int64_t> Sizes(const FactorParts& boxes) {
  std::vector<int64_t> sizes;
  for (const BoxFactors::Piece& piece : boxes.all) {
    sizes.push_back(piece.empty ? 0 : Volume(piece.box));
  }
  return sizes;
}

// Elements of each part of a grid of dimensions, in some order.
std::vector<int64_t> Sizes(const std::vector<int64_t>& extents, const std::vector<int>& parts) {
  std::vector<int64_t> sizes = {1};
  for (size_t d = 0; d < extents.size(); ++d) {
    std::vector<int64_t> longer;
    for (int part = 0; part < parts[d]; ++part) {
      for (const int64_t size : sizes) {
        longer.push_back(size * PartOf(extents[d], parts[d], part).size());
      }
    }
    sizes = std::move(longer);
  }
  return sizes;
}

// With parts of these sizes needed, of which `reach` elements, `copies` times, are within reach.
WithinReach ReachOf(const std::vector<int64_t>& needed, int64_t reach, int64_t copies) {
  WithinReach result;
  result.parts = static_cast<int64_t>(needed.size());
  for (const int64_t size : needed) {
    const int64_t found = copies * std::min(size, reach);
    result.total += found;
    result.most = std::max(result.most, found);
  }
  const int64_t least = *std::min_element(needed.begin(), needed.end());
  result.groups = reach == 0 ? 0 : CeilDiv(least, reach);
  return result;
}

}  // namespace

std::vector<WithinReach> ReachOfGather(const std::vector<int64_t>& extents, const Grid& shards,
                                       const FactorParts& boxes) {
  const std::vector<int> parts = PartsOf(shards);
  std::vector<WithinReach> reach;
  int64_t near = 1;  // elements of the shards of a group
  for (size_t d = 0; d < extents.size(); ++d) near *= CeilDiv(extents[d], parts[d]);
  for (size_t kind = 0; kind < shards.size(); ++kind) {
    if (kind > 0) near *= Product(shards[kind - 1]);
    reach.push_back(ReachOf(Sizes(boxes), near, 1));
    if (extents.size() != 1) continue;
    int64_t both = 1, groups = 1;
    for (size_t outer = kind; outer < shards.size(); ++outer) {
      both *= std::gcd<int64_t>(shards[outer][0], boxes.kinds[outer]);
      groups *= shards[outer][0];
    }
    if (both == groups || both == boxes.number) continue;
    reach.back().mean = Large{both} * boxes.volume;
    reach.back().mean_of = Large{groups} * boxes.number;
  }
  return reach;
}

std::vector<WithinReach> ReachOfReduction(const Definition& definition, const BoxFactor& factor,
                                          const std::vector<int64_t>& extents, const Grid& shards,
                                          const FactorParts& boxes, const Grid& cut, bool sums) {
  const std::vector<int64_t> written = Sizes(boxes), owned = Sizes(extents, PartsOf(shards));
  const int64_t largest = *std::max_element(written.begin(), written.end());
  std::vector<int64_t> partials(cut.size(), 1);  // [kind] of each element
  for (size_t i = 0; sums && i < factor.indices.size(); ++i) {
    if (!definition.indices[factor.indices[i]].reduction) continue;
    for (size_t kind = 0; kind < cut.size(); ++kind) partials[kind] *= cut[kind][i];
  }
  int64_t all_partials = 1, elements = 1;
  for (const int64_t here : partials) all_partials *= here;
  for (const int64_t extent : extents) elements *= extent;
  const bool all_written = boxes.volume == elements * all_partials;
  std::vector<WithinReach> reach;
  int64_t near = largest, copies = 1;
  for (size_t kind = 0; kind < cut.size(); ++kind) {
    if (kind > 0) {
      near *= Product(cut[kind - 1]) / partials[kind - 1];
      copies *= partials[kind - 1];
    }
    reach.push_back(ReachOf(owned, near, copies));
    reach.back().groups *= all_written ? all_partials / copies : 0;
  }
  return reach;
}

void AddCrossing(int64_t devices, const std::vector<const std::vector<WithinReach>*>& factors,
                 const std::vector<int64_t>& repeated, int64_t arriving, int64_t size,
                 LeastMoved* least) {
  int64_t copies = 1, further = 1;
  for (const int64_t here : repeated) further *= here;
  for (size_t kind = 0; kind < repeated.size(); ++kind) {
    if (kind > 0) {
      copies *= repeated[kind - 1];
      further /= repeated[kind - 1];
    }
    Large total = Large{devices} * copies, parts = 1;
    int64_t groups = further;
    for (const auto* factor : factors) {
      total *= (*factor)[kind].total;
      parts *= (*factor)[kind].parts;
      groups *= (*factor)[kind].groups;
    }
    Large within = total / parts;
    for (const auto* one : factors) {
      if ((*one)[kind].mean_of == 0) continue;
      Large other = Large{devices} * copies * (*one)[kind].mean;
      for (const auto* factor : factors) {
        if (factor != one) other *= (*factor)[kind].most;
      }
      within = std::min(within, other / (*one)[kind].mean_of);
    }
    least->messages[kind] = std::max<int64_t>({least->messages[kind], groups - 1, 0});
    if (kind == 0 || arriving == 0) continue;
    least->bytes[kind] = std::max<int64_t>(0, arriving - static_cast<int64_t>(within)) * size;
  }
}

}  // namespace yuba::search
