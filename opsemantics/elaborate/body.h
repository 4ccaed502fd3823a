// Evaluation of the bodies of definitions: reads, reductions, conditions on indices.
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
  // `binding` gains the internal tensors, and index names while they are in scope; `slots` says
  // which slot a tensor is. Both belong to the caller.
  BodyEvaluator(const OpDescription& op, Binding& binding, std::map<std::string, int>& slots,
                InstanceBuilder& builder)
      : Evaluator(op, binding.names), binding_(binding), slots_(slots), builder_(builder) {}

  // The definition whose body is evaluated from here on: for the names of nested reductions.
  void Enter(const std::string& name, bool nograd) {
    name_ = name;
    nograd_ = nograd;
  }

  // A body: its outermost reduction, if it is one, else a map.
  absl::StatusOr<Reduction> Body(const Syntax& syntax);

  // Makes the name of an index stand for a new variable; a pack has one for each extent.
  void AddIndex(const std::string& name, bool pack, const std::vector<int64_t>& extents,
                const std::vector<int>& groups, std::vector<int>& variables);
  void Bind(const std::string& name, int variable) {
    binding_.names[name] = {false, false, {AffineTerm(IndexAffine(variable))}};
  }
  void RemoveIndex(const std::string& name) { binding_.names.erase(name); }

  // The type of values that nothing else gives one.
  ElementType Fallback() const { return binding_.common.value_or(ElementType::kF32); }

 protected:
  absl::StatusOr<Term> Read(const Syntax& read, const Syntax* outside) override;
  absl::StatusOr<Term> Reduce(const Syntax& reduce) override;
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

  // One index of a read at one dimension.
  struct Place {
    std::vector<Affine> position;  // one for each factor
    bool leaves = false;           // can be outside the extent
    Interval range;                // of what leaves
    int64_t extent = 0;
  };
  absl::StatusOr<Place> PlaceOf(const Syntax& index, const BoundDim& dim, int element);
  absl::StatusOr<Affine> AffineOfIndex(const Syntax& index);
  absl::StatusOr<Affine> JoinFactors(const Syntax& factors);
  absl::Status CheckInside(const Affine& affine, int64_t extent, Place& place) const;
  absl::Status CheckSize(const Affine& affine, const SourceRange& range) const;
  bool Never(const Condition& condition) const;
  absl::Status Leaves(const Syntax& read, const Syntax& index, const Place& place) const;

  Binding& binding_;
  std::map<std::string, int>& slots_;
  InstanceBuilder& builder_;
  Condition when_ = {{}};  // under which the expression that is evaluated counts
  std::string name_;
  bool nograd_ = false;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_BODY_H_
