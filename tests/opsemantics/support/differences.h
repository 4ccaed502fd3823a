// Gradients beside differences: how tests find out whether a gradient is right, and whether they
// would notice that it is not.
#ifndef YUBA_TESTS_OPSEMANTICS_SUPPORT_DIFFERENCES_H_
#define YUBA_TESTS_OPSEMANTICS_SUPPORT_DIFFERENCES_H_

#include <functional>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/oracle/interpret.h"

namespace yuba {

// f64 in the place of every type of floats, so that differences are exact enough.
ElementType InDouble(ElementType type);
Definition InDouble(Definition definition);

// Moves floats away from 0, where quotients are steep; of kMixed two of three are negative.
enum class Signs { kPositive, kMixed };
void MakeSigned(Signs signs, std::vector<TensorValue>& operands);

// The sum of the products of elements that stand at the same place.
double WeightedSum(const TensorValue& value, const TensorValue& weights);

// [operand][element]: central differences of up to 25 elements of each operand; none for others,
// and at corners, where those from the left and from the right differ.
struct Differences {
  std::vector<std::vector<absl::optional<double>>> values;
  int elements = 0, corners = 0;
};

// The differences of `value`, which is a function of the operands as they are at each call.
Differences CentralDifferences(std::vector<TensorValue>& operands,
                               const std::function<double()>& value);

// Whether the gradients, [operand][element], are the differences; where one is not, says so.
// Made-up attributes may divide by 0: `strange` counts those elements, which are not compared.
bool AreEqual(const std::vector<std::vector<double>>& gradients, const Differences& differences,
              double tolerance, int& strange);

// The definition with a sign error: plus for minus or back in one of its terms, and the whole
// negated.
std::vector<Definition> WithSignErrors(const Definition& definition);

// Whether something of the operand's gradient can be seen: where nothing depends on it, such as in
// a branch that is not taken, errors have no effect.
bool Depends(const std::vector<Differences>& differences, int operand);

}  // namespace yuba

#endif  // YUBA_TESTS_OPSEMANTICS_SUPPORT_DIFFERENCES_H_
