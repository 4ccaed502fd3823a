#include "opsemantics/definition/known_definitions.h"

namespace yuba {

int KnownDefinitions::NumberOf(const Definition& definition) {
  const auto [known, is_new] = by_address_.emplace(&definition, count_);
  if (!is_new) return known->second;
  std::vector<int64_t> extents = definition.result.dims;
  for (const Index& index : definition.indices) extents.push_back(index.extent);
  std::vector<const Definition*>& others = by_extents_[extents];
  for (const Definition* other : others) {
    if (*other == definition) return known->second = by_address_[other];
  }
  others.push_back(&definition);
  return known->second = count_++;
}

}  // namespace yuba
