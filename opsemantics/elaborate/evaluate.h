// Evaluation of the expressions of a description, first those of its signature (extents,
// attributes, lets), then, by a derived class, those that read tensors.
#ifndef YUBA_OPSEMANTICS_ELABORATE_EVALUATE_H_
#define YUBA_OPSEMANTICS_ELABORATE_EVALUATE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/elaborate/term.h"
#include "opsemantics/language/ast.h"

namespace yuba {

// What a name stands for: one term, or a pack of them.
struct Value {
  bool pack = false;
  bool repeats = false;  // a pack of one term for any rank: an attribute pack's default
  std::vector<Term> elements;
};
using Names = std::map<std::string, Value>;

class Evaluator {
 public:
  Evaluator(const OpDescription& op, const Names& names) : op_(op), names_(names) {}
  virtual ~Evaluator() = default;

  // Errors underline the innermost expression that is at fault.
  absl::StatusOr<Term> Evaluate(const Syntax& syntax, Division division);

  // `syntax` is the expression below a `..`: its value for each element of the packs in it.
  absl::StatusOr<std::vector<Term>> EvaluatePack(const Syntax& element, Division division);

  absl::Status Error(const SourceRange& range, absl::string_view message) const {
    return SourceError(*op_.source, range, message);
  }

 protected:
  // What only the bodies of definitions have.
  virtual absl::StatusOr<Term> Read(const Syntax& read, const Syntax* outside);
  virtual absl::StatusOr<Term> Reduce(const Syntax& reduce);
  virtual absl::StatusOr<Term> If(const Syntax& syntax, Division division);
  // The result where more is known of the arguments than their form says.
  virtual absl::optional<Term> Foresee(Function /*function*/,
                                       const std::vector<Term>& /*args*/) const {
    return absl::nullopt;
  }

  // The number of elements that a zipped expression has.
  absl::StatusOr<int> Rank(const Syntax& element) const;
  absl::StatusOr<Term> ApplyAt(Function function, const std::vector<Term>& args, Division division,
                               const SourceRange& range) const;
  // Sets the element of packs that zipped names stand for; returns the former one.
  int SetElement(int element) {
    const int former = element_;
    element_ = element;
    return former;
  }

  const OpDescription& op() const { return op_; }
  const Names& names() const { return names_; }

 private:
  absl::StatusOr<Term> Name(const Syntax& syntax) const;
  absl::StatusOr<Term> Binary(const Syntax& syntax, Division division);
  absl::StatusOr<Term> Call(const Syntax& syntax, Division division);
  absl::StatusOr<Term> Size(const Syntax& syntax, Division division);
  absl::StatusOr<Term> CastCall(const Syntax& syntax, Division division);

  const OpDescription& op_;
  const Names& names_;
  int element_ = -1;  // of packs, inside ( )..
};

// The function of a binary operator's spelling.
Function FunctionOf(absl::string_view spelling);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_EVALUATE_H_
