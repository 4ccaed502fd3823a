// Puts the definitions of one use together: indices and operands get their numbers here.
#ifndef YUBA_OPSEMANTICS_ELABORATE_INSTANCE_BUILDER_H_
#define YUBA_OPSEMANTICS_ELABORATE_INSTANCE_BUILDER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/elaborate/elaborate.h"
#include "opsemantics/elaborate/term.h"

namespace yuba {

// An index while its definition is evaluated. Affine functions refer to it by its number.
struct Variable {
  std::string name;
  int64_t extent = 1;
  int group = -1;  // indices of one dimension of the left side have the same number
};

// What is reduced, and over what; a map has no reducer and no variables.
struct Reduction {
  Reducer reducer = Reducer::kNone;
  std::vector<int> variables;
  std::vector<Constraint> where;
  std::vector<DataCondition> data_where;
  Term body;
};

class InstanceBuilder {
 public:
  explicit InstanceBuilder(std::string op) { instance_.op = std::move(op); }

  int AddSlot(Slot slot);
  const Slot& slot(int number) const { return instance_.slots[number]; }

  // Variables live until the next definition of the description begins.
  void ClearVariables() { variables_.clear(); }
  int AddVariable(Variable variable);
  const Variable& variable(int number) const { return variables_[number]; }
  std::vector<Interval> Ranges() const;

  // Defines the tensor `slot`: `left` are the variables of its flat dimensions. In expressions,
  // operands are slots and indices are variables. Messages have no place.
  absl::Status Define(int slot, const std::vector<int>& left, Reduction reduction, bool nograd);

  // Stores the reduction in an internal tensor of their own and returns the read of it. `fallback`
  // is the type of a result that no operand and no output gives one.
  absl::StatusOr<Term> Hoist(const std::string& owner, Reduction reduction, ElementType fallback,
                             bool nograd);

  // The type that the result of `reduction` has by itself.
  static absl::StatusOr<ElementType> NaturalType(const Reduction& reduction, ElementType fallback);

  Instance Take() { return std::move(instance_); }

 private:
  absl::Status DefineNarrow(int slot, const std::vector<int>& left, Reduction reduction,
                            bool nograd);
  void Append(int slot, const std::vector<int>& left, const Reduction& reduction, ExprPtr body,
              bool nograd);

  Instance instance_;
  std::vector<Variable> variables_;
};

// The variables of an expression, ascending.
std::vector<int> VariablesOf(const Reduction& reduction);

ExprPtr ReadExpr(int operand, std::vector<Affine> position, ElementType type, ExprPtr outside);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_INSTANCE_BUILDER_H_
