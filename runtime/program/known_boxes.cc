#include "runtime/program/known_boxes.h"

#include <algorithm>

#include "runtime/program/tables.h"

namespace yuba::program {

const KnownBoxes::List& KnownBoxes::Of(const Box& table) {
  List& list = lists_[table.SerializeAsString()];
  if (list == nullptr) {
    list = std::make_shared<const std::vector<yuba::Box>>(BoxesOn(mesh_, table));
  }
  return list;
}

int64_t KnownBoxes::MostElements(const Box& table) {
  const List& list = Of(table);
  const auto [most, is_new] = most_.emplace(list.get(), 0);
  if (is_new) {
    for (const yuba::Box& box : *list) most->second = std::max(most->second, Volume(box));
  }
  return most->second;
}

bool KnownBoxes::AllContain(const List& outer, const List& inner) {
  if (outer == inner || containing_.count({outer.get(), inner.get()}) > 0) return true;
  for (size_t device = 0; device < outer->size(); ++device) {
    if (!Contains((*outer)[device], (*inner)[device])) return false;
  }
  containing_.insert({outer.get(), inner.get()});
  return true;
}

}  // namespace yuba::program
