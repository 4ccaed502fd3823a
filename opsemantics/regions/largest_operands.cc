#include "opsemantics/regions/largest_operands.h"

#include <algorithm>

#include "opsemantics/definition/graph.h"

namespace yuba {
namespace {

// Where neighbours of an element differ; null: there are none.
const Affine* Innermost(const std::vector<Affine>& position, const TensorType& type) {
  for (size_t d = position.size(); d-- > 0;)
    if (type.dims[d] > 1) return &position[d];
  return nullptr;
}

}  // namespace

bool LargestLieAlong(const Definition& definition, int index) {
  int64_t largest = 0;
  bool along = false;
  Walk(definition.body, [&](const Expr& expr) {
    if (expr.kind != Expr::kRead) return;
    const TensorType& operand = definition.operands[expr.operand];
    const int64_t elements = ElementCount(operand);
    if (elements < largest) return;
    const Affine* const innermost = Innermost(expr.position, operand);
    const bool lies =
        innermost != nullptr &&
        std::any_of(innermost->terms.begin(), innermost->terms.end(),
                    [&](const auto& term) { return term.first == index && term.second == 1; });
    along = lies || (along && elements == largest);
    largest = elements;
  });
  return along;
}

}  // namespace yuba
