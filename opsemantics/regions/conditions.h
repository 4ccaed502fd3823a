// Conditions on indices inside bodies: what `if`, `else` and the comparisons say about the points
// at which a read happens. Box analysis and the interpreter's log share it.
#ifndef YUBA_OPSEMANTICS_REGIONS_CONDITIONS_H_
#define YUBA_OPSEMANTICS_REGIONS_CONDITIONS_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// The expression as an affine function of the indices, where it is made of indices and integers
// only.
absl::optional<Affine> AffineOf(const Expr& expr);

// A union of sets of points, each given by constraints. {{}} is every point, {} none.
using Conjunction = std::vector<Constraint>;
using Condition = std::vector<Conjunction>;

// The points at which `expr` can have the truth `value`; comparisons that read data can go either
// way.
Condition PointsWhere(const Expr& expr, bool value);
Condition Both(const Condition& a, const Condition& b);

// The points at which the read is inside its operand, or outside.
Condition PointsInside(const Expr& read, const TensorType& operand);
Condition PointsOutside(const Expr& read, const TensorType& operand);

// The truth of a condition at one point by the same rule: kOpen where data decides.
enum class Truth : uint8_t { kFalse, kTrue, kOpen };
Truth TruthAt(const Expr& expr, const std::vector<int64_t>& point);

// One place in a definition where an operand is read, and when.
struct ReadSite {
  const Expr* read = nullptr;
  Condition when;  // guards included
};
// All reads of the definition, repeated ones once. Valid while the definition lives.
std::vector<ReadSite> ReadSites(const Definition& definition);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_CONDITIONS_H_
