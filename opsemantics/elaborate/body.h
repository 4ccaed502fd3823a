// Evaluation of the bodies of definitions: what Evaluator (evaluate.h) does for numbers, and
// besides reads of tensors, reductions, and `if` on indices. Its results are Terms and Reductions
// over the variables of an InstanceBuilder. Here it is proved that reads stay inside their tensors:
// a read that can leave its tensor needs an `else`, and one that cannot loses it.
#ifndef YUBA_OPSEMANTICS_ELABORATE_BODY_H_
#define YUBA_OPSEMANTICS_ELABORATE_BODY_H_

#include <map>
#include <string>
#include <vector>

#include "opsemantics/elaborate/bind.h"
#include "opsemantics/elaborate/evaluate.h"
#include "opsemantics/elaborate/instance_builder.h"
#include "opsemantics/regions/conditions.h"

namespace yuba {

class BodyEvaluator : public Evaluator {
 public:
  // `binding` gains index names while they are in scope, and the caller adds internal tensors to
  // it; `slots` says which slot a tensor is. Both belong to the caller and outlive this object.
  BodyEvaluator(const OpDescription& op, Binding& binding, std::map<std::string, int>& slots,
                InstanceBuilder& builder)
      : Evaluator(op, binding.names), binding_(binding), slots_(slots), builder_(builder) {}

  // Names the definition whose body is evaluated next; reductions inside it are named after it.
  void Enter(const std::string& name, bool nograd) {
    name_ = name;
    nograd_ = nograd;
  }

  // The value of a whole body: the reduction where the body is one, else a map.
  absl::StatusOr<Reduction> Body(const Syntax& syntax);

  // Makes `name` stand for a new variable, or a pack's name for one variable of each extent, and
  // appends their numbers to `variables`. `groups` is parallel to `extents`, or empty where the
  // variables belong to no dimension of a left side (Variable::group).
  void AddIndex(const std::string& name, bool pack, const std::vector<int64_t>& extents,
                const std::vector<int>& groups, std::vector<int>& variables);
  void Bind(const std::string& name, int variable) {
    binding_.names[name] = {false, false, {AffineTerm(IndexAffine(variable))}};
    in_scope_[name] = {variable};
  }
  void RemoveIndex(const std::string& name) {
    binding_.names.erase(name);
    in_scope_.erase(name);
  }

  // The type of values to which nothing else gives a type: the operands' common type, else f32.
  ElementType Fallback() const { return binding_.common.value_or(ElementType::kF32); }

 protected:
  absl::StatusOr<Term> Read(const Syntax& read, const Syntax* outside) override;
  absl::StatusOr<Term> Reduce(const Syntax& reduce) override;
  absl::StatusOr<Term> Random(const Syntax& random) override;
  absl::StatusOr<Term> If(const Syntax& syntax, Division division) override;
  absl::optional<Term> Foresee(Function function, const std::vector<Term>& args) const override;

 private:
  absl::StatusOr<Reduction> ReduceOf(const Syntax& reduce);
  absl::Status AddRanges(const Syntax& reduce, Reduction& reduction);
  absl::Status AddConditions(const Syntax& condition, Reduction& reduction);
  absl::Status AddCondition(const Syntax& syntax, const Term& left, const Term& right,
                            Reduction& reduction);
  absl::Status AddConstraint(const Syntax& syntax, const Term& difference, Reduction& reduction);
  absl::StatusOr<std::vector<Term>> Side(const Syntax& side);

  // The position of a read along one dimension of its tensor.
  struct ReadPosition {
    std::vector<Affine> position;  // one for each factor
    bool leaves = false;           // whether it can be outside the extent; then:
    Interval range;                //   the values that the position takes
    int64_t extent = 0;            //   the extent that it leaves
  };
  absl::StatusOr<ReadPosition> PositionOf(const Syntax& index, const BoundDim& dim, int element);
  absl::StatusOr<Affine> AffineOfIndex(const Syntax& index);
  absl::StatusOr<Affine> JoinFactors(const Syntax& factors);
  // Notes in `read` where the position can be outside [0, extent).
  void NoteLeaving(const Affine& affine, int64_t extent, ReadPosition& read) const;
  absl::Status CheckSize(const Affine& affine, const SourceRange& range) const;
  bool Never(const Condition& condition) const;
  absl::StatusOr<Affine> ElementInScope(const SourceRange& range) const;
  Term ScalarOf(SlotRole role, int place);
  absl::Status Leaves(const Syntax& read, const Syntax& index, const ReadPosition& position) const;

  Binding& binding_;
  std::map<std::string, int>& slots_;
  InstanceBuilder& builder_;
  std::map<std::string, std::vector<int>> in_scope_;  // [index or pack]: its variables
  Condition when_ = {{}};  // the points at which the expression being evaluated counts
  std::string name_;
  bool nograd_ = false;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_BODY_H_
