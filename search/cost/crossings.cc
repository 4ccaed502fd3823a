#include "search/cost/crossings.h"

#include <algorithm>

#include "opsemantics/definition/graph.h"

namespace yuba::search {

Crossings::Crossings(const Definition& definition, int operand, const Mesh& mesh, bool sums,
                     const std::vector<BoxFactor>& factors)
    : definition_(definition),
      reduces_(operand < 0),
      sums_(sums),
      type_(reduces_ ? definition.result : definition.operands[operand]),
      devices_(mesh.devices()),
      elements_(ElementCount(type_)),
      kinds_(mesh.kinds()),
      groups_(GroupSizes(mesh)),
      in_factor_(definition.indices.size(), false) {
  if (type_.dims.empty()) return;
  for (const BoxFactor& factor : factors) {
    for (const int index : factor.indices) in_factor_[index] = true;
  }
}

Crossings::Partials Crossings::PartialsOf(const Grid& node) const {
  Partials partials;
  for (size_t kind = 0; kind < kinds_; ++kind) {
    partials.near.push_back(partials.all);
    for (size_t i = 0; sums_ && i < in_factor_.size(); ++i) {
      if (!in_factor_[i] && definition_.indices[i].reduction) partials.all *= node[kind][i];
    }
  }
  return partials;
}

std::vector<int> Crossings::PartialsByKind(const std::vector<int>& indices, const Grid& cut) const {
  std::vector<int> partials(kinds_, 1);
  for (size_t kind = 0; sums_ && kind < kinds_; ++kind) {
    for (size_t i = 0; i < indices.size(); ++i) {
      if (definition_.indices[indices[i]].reduction) partials[kind] *= cut[kind][i];
    }
  }
  return partials;
}

Crossings::Owners Crossings::OwnersOf(const Grid& tensor) const {
  Owners owners;
  int64_t parts = 1;  // by axes of lesser kinds
  for (size_t kind = 0; kind < kinds_; ++kind) {
    owners.near.push_back((kind == 0 ? 1 : groups_[kind - 1]) / parts);
    parts *= Product(tensor[kind]);
  }
  owners.all = devices_ / parts;
  return owners;
}

CrossingBound Crossings::One() const {
  CrossingBound one;
  one.near.resize(kinds_);
  return one;
}

void Crossings::Add(const CrossingBound& found, const Owners& owners, const Partials& partials,
                    int64_t arriving, int64_t size, LinkTerm term, LeastMoved* least) const {
  const bool near_term = term == LinkTerm::kNear, far_term = term == LinkTerm::kFar;
  const Fraction::Wide devices = devices_;
  const int64_t messages = found.met.FloorOf(devices * partials.all);
  for (size_t kind = 0; kind < kinds_; ++kind) {
    const CrossingBound::Near& near = found.near[kind];
    const Fraction::Wide times = devices * partials.near[kind];
    const int64_t others = sums_ ? owners.all - owners.near[kind] : 0;
    int64_t arrive = near_term && kind > 0 ? 0 : devices_ * others;
    if (!far_term) arrive += std::max<int64_t>(0, messages - near.parts.Mean().FloorOf(times));
    least->messages[kind] = std::max(least->messages[kind], arrive);
    if (kind == 0 || near_term) continue;
    const int64_t crossing = std::max<int64_t>(0, arriving - near.elements.Mean().FloorOf(times));
    const int64_t slices = sums_ ? owners.all : 1;  // of which each owner combines one
    least->bytes[kind] = crossing / slices * size + elements_ * others * ByteSize(type_.type);
  }
}

}  // namespace yuba::search
