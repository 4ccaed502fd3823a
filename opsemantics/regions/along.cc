#include "opsemantics/regions/along.h"

#include <cstdlib>

namespace yuba {

std::vector<int> IndicesAlong(const Definition& definition, int operand) {
  std::vector<int> along;
  if (operand < 0) {
    for (const Affine& position : definition.left) along.push_back(position.BareIndex());
    return along;
  }
  along.assign(definition.operands[operand].dims.size(), -1);
  bool first = true;
  const auto visit = [&](const Expr& expr) {
    if (expr.kind != Expr::kRead || expr.operand != operand) return;
    for (size_t d = 0; d < along.size(); ++d) {
      const int index = expr.position[d].BareIndex();
      along[d] = first || along[d] == index ? index : -1;
    }
    first = false;
  };
  Walk(definition, visit);
  return along;
}

std::vector<int> DimsAlong(const Definition& definition, int operand) {
  std::vector<int> dims(definition.indices.size(), -1);
  auto follow = [&](const std::vector<Affine>& position) {
    for (size_t d = 0; d < position.size(); ++d) {
      for (const auto& [index, coefficient] : position[d].terms) {
        // Of several indices along a dimension, it belongs to the one that runs farthest.
        int64_t here = std::abs(coefficient) * definition.indices[index].extent;
        bool farthest = true;
        for (const auto& [other, other_coefficient] : position[d].terms) {
          int64_t there = std::abs(other_coefficient) * definition.indices[other].extent;
          farthest =
              farthest && (other == index || there < here || (there == here && index < other));
        }
        if (!farthest || dims[index] >= 0) continue;
        dims[index] = static_cast<int>(d);
      }
    }
  };
  if (operand < 0) {
    follow(definition.left);
  } else {
    Walk(definition.body, [&](const Expr& expr) {
      if (expr.kind == Expr::kRead && expr.operand == operand) follow(expr.position);
    });
  }
  return dims;
}

}  // namespace yuba
