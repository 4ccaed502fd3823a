#include "opsemantics/language/gradient_items.h"

#include <algorithm>

namespace yuba {
namespace {

bool ReadsAny(const Item& item, const std::set<std::string>& names) {
  bool found = false;
  WalkSyntax(*item.value, [&](const Syntax& syntax) {
    found = found || (syntax.kind == Syntax::kRead && names.count(syntax.name) != 0);
  });
  return found;
}

}  // namespace

std::set<std::string> ReadersOfGradients(const OpDescription& op) {
  const bool any = std::any_of(op.items.begin(), op.items.end(),
                               [](const Item& item) { return item.kind == Item::kGradient; });
  if (!any) return {};
  std::set<std::string> names, readers;
  for (const Output& output : op.outputs) {
    if (!IsNextValue(output)) names.insert(GradientName(output));
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (const Item& item : op.items) {
      if (item.kind != Item::kDefinition || readers.count(item.name) != 0) continue;
      if (!ReadsAny(item, names)) continue;
      names.insert(item.name);
      progress = readers.insert(item.name).second;
    }
  }
  return readers;
}

}  // namespace yuba
