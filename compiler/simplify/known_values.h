// Values of integer expressions of a definition that constants of the model alone decide.
//
// Example: in the gather y[i, c] = pick(r: 6 where r == wrap(ids[i], 6)) x[r, c] whose ids are the
// constant 4, -1, the value of wrap(ids[i], 6) over i is 4, 5.
#ifndef YUBA_COMPILER_SIMPLIFY_KNOWN_VALUES_H_
#define YUBA_COMPILER_SIMPLIFY_KNOWN_VALUES_H_

#include <vector>

#include "absl/types/optional.h"
#include "compiler/model.h"
#include "opsemantics/oracle/interpret.h"

namespace yuba::compiler {

class KnownValues {
 public:
  // Model and node must outlive it. Constants of more than `most` elements are not read, and an
  // expression of more than `most` values is not known. With `computed`, what elementwise nodes
  // compute from constants alone, as a range 0, 1, 2, ..., is known too.
  KnownValues(const Model& model, const Node& node, int64_t most, bool computed = false)
      : model_(model),
        node_(node),
        most_(most),
        computed_(computed),
        values_(node.operands.size()) {}

  // The values of `expr`, a part of the node's definition, at all points of the indices that it
  // names; nullopt where they are not all known. May hold more than kLargestTable values.
  absl::optional<ValueTable> Of(const ExprPtr& expr, Arithmetic arithmetic);

 private:
  bool ReadsKnownConstants(const ExprPtr& expr);
  bool Fetch(int operand);
  absl::optional<TensorValue> Compute(const Node& node) const;
  std::vector<const TensorValue*> Operands() const;  // null where one was not fetched
  Definition MapOf(const ExprPtr& expr, std::vector<int>& indices) const;

  const Model& model_;
  const Node& node_;
  const int64_t most_;
  const bool computed_;
  std::vector<absl::optional<TensorValue>> values_;  // [operand], where fetched
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SIMPLIFY_KNOWN_VALUES_H_
