// What happens to products of queries and keys before their softmax: a scale, a bias, a mask.
#ifndef YUBA_COMPILER_ATTENTION_SCORE_H_
#define YUBA_COMPILER_ATTENTION_SCORE_H_

#include "absl/types/optional.h"
#include "compiler/attention/attention.h"

namespace yuba::compiler {

struct Score {
  double scale = 1;
  AttentionMask mask;
};

// `element` is an expression of elements.h over elements of tensor `products`, the origin. nullopt
// where it is something else.
//
// Example: if 1 <= 0 then s[0, 1] / 8 else -inf, with 0 and 1 for the indices, is causal with the
// scale 1/8.
absl::optional<Score> MatchScore(const ExprPtr& element, TensorId products);

// A product of numbers and one other factor, which is 0 where a causal mask hides it.
struct Scaled {
  ExprPtr value;  // the other factor
  double scale = 1;
  AttentionMask mask;
};
// -value and value / 2 are such products too. nullopt where there are several masks.
absl::optional<Scaled> MatchScaled(const ExprPtr& element);

// Whether both hide the same scores.
bool HideTheSame(const AttentionMask& a, const AttentionMask& b);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ATTENTION_SCORE_H_
