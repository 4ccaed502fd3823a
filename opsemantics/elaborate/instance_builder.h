// Builds an Instance (instance.h) definition by definition. While bodies are evaluated,
// expressions name slots instead of operands and variables instead of indices; here a finished
// definition gets its own list of operands and indices, and its expressions their positions in
// these lists. Also here: the element type of a result, and wide intermediate results of narrow
// floats.
#ifndef YUBA_OPSEMANTICS_ELABORATE_INSTANCE_BUILDER_H_
#define YUBA_OPSEMANTICS_ELABORATE_INSTANCE_BUILDER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/elaborate/instance.h"
#include "opsemantics/elaborate/term.h"

namespace yuba {

// An index while its definition is evaluated. Affine functions refer to it by its number.
struct Variable {
  std::string name;
  int64_t extent = 1;
  int group = -1;  // the dimension of the left side that it is a factor of; -1: of none
};

// What is reduced, and over what. A map has the reducer kNone and no variables.
struct Reduction {
  Reducer reducer = Reducer::kNone;
  std::vector<int> variables;  // the reduction indices
  std::vector<Constraint> where;
  std::vector<DataCondition> data_where;
  Term body;
};

class InstanceBuilder {
 public:
  explicit InstanceBuilder(std::string op) { instance_.op = std::move(op); }

  int AddSlot(Slot slot);  // returns its number
  const Slot& slot(int number) const { return instance_.slots[number]; }

  // Variables are of one definition of the description, with the reductions inside it.
  void ClearVariables() { variables_.clear(); }
  int AddVariable(Variable variable);  // returns its number
  const Variable& variable(int number) const { return variables_[number]; }
  std::vector<Interval> Ranges() const;  // [variable]: [0, extent)

  // Appends the definition of the tensor `slot`; `left` are the variables of its flat dimensions. A
  // result that is narrower than the reduced values (f16 from f32) is computed in a wide slot of
  // its own first. Errors have no place in the text; the caller underlines.
  absl::Status Define(int slot, const std::vector<int>& left, const Reduction& reduction,
                      bool nograd);

  // Makes a reduction inside a body a definition of its own: its result is a new internal slot,
  // "y.1" where `owner` is "y", with a dimension for each variable that it uses from outside.
  // Returns the read of that slot. `fallback` is the type of a result to which nothing in it gives
  // a type.
  absl::StatusOr<Term> Hoist(const std::string& owner, const Reduction& reduction,
                             ElementType fallback, bool nograd);

  // The type of the reduction's result where no output says another: i64 for argmax and argmin,
  // bool for any and all, f32 for sums and products of f16 and bf16, else the type of the body.
  static absl::StatusOr<ElementType> NaturalType(const Reduction& reduction, ElementType fallback);

  Instance Take() { return std::move(instance_); }

 private:
  absl::Status DefineNarrow(int slot, const std::vector<int>& left, const Reduction& reduction,
                            bool nograd);
  void Append(int slot, const std::vector<int>& left, const Reduction& reduction,
              const ExprPtr& body, bool nograd);

  Instance instance_;
  std::vector<Variable> variables_;
};

// The variables that the body and the conditions name, ascending.
std::vector<int> VariablesOf(const Reduction& reduction);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_INSTANCE_BUILDER_H_
