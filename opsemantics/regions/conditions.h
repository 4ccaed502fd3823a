// Conditions on indices inside bodies: at which points a read happens, according to `if`, `else`
// and comparisons. A point is one value for each index of the definition. Box analysis and the
// interpreter's log of reads share these rules, so that both mean the same reads.
//
// Example: in y[i] = if i < n then a[i] else b[i - n], the read of a happens at the points with
// i - n + 1 <= 0, the read of b at those with n - i <= 0.
#ifndef YUBA_OPSEMANTICS_REGIONS_CONDITIONS_H_
#define YUBA_OPSEMANTICS_REGIONS_CONDITIONS_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// The expression as an affine function of the indices; nullopt unless it is made of indices and
// integers only, by sums, differences, negation and products with an integer.
absl::optional<Affine> AffineOf(const Expr& expr);

// A set of points: the union of sets, each given by constraints that all hold. {{}} is every point,
// {} is no point. Sets may be too large, never too small: a condition that would need more than 64
// conjunctions is widened.
using Conjunction = std::vector<Constraint>;
using Condition = std::vector<Conjunction>;

// The points at which `expr`, a bool, can have the truth `value`; comparisons that read data can go
// either way.
Condition PointsWhere(const Expr& expr, bool value);
Condition Both(const Condition& a, const Condition& b);  // the intersection

// The points at which `read` is inside its operand, or outside.
Condition PointsInside(const Expr& read, const TensorType& operand);
Condition PointsOutside(const Expr& read, const TensorType& operand);

// The truth of `expr`, a bool, at one point; kOpen where data decides it.
enum class Truth : uint8_t { kFalse, kTrue, kOpen };
Truth TruthAt(const Expr& expr, const std::vector<int64_t>& point);

// One place in a definition where an operand is read.
struct ReadSite {
  const Expr* read = nullptr;  // a kRead, owned by the definition
  Condition when;              // the points at which it happens: every `if` and `else` around it,
                               // and of the body the conditions on data whose values are known
};
// All reads in the body and in the conditions on data; equal reads under equal conditions are
// listed once. Constraints of the definition are not in `when`. Valid while the definition lives.
std::vector<ReadSite> ReadSites(const Definition& definition);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_CONDITIONS_H_
