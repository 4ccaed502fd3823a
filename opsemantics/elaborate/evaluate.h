// Evaluation of the expressions of a description: syntax (language/ast.h) and the values of names
// come in, a Term comes out. This class evaluates the expressions of a signature (extents,
// attributes, lets); BodyEvaluator (body.h) derives from it for bodies, which read tensors. Errors
// are a user's and underline the innermost expression that is at fault.
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
  bool repeats = false;  // a pack of one term that stands for any number of them: stride.. = 1
  std::vector<Term> elements;
};
using Names = std::map<std::string, Value>;

class Evaluator {
 public:
  // Both must outlive it; names may be added and removed between calls.
  Evaluator(const OpDescription& op, const Names& names) : op_(op), names_(names) {}
  virtual ~Evaluator() = default;

  absl::StatusOr<Term> Evaluate(const Syntax& syntax, Division division);

  // `element` is the expression below a `..`: its value for each element of the packs in it.
  absl::StatusOr<std::vector<Term>> EvaluatePack(const Syntax& element, Division division);

  absl::Status Error(const SourceRange& range, absl::string_view message) const {
    return SourceError(*op_.source, range, message);
  }

 protected:
  // What only bodies of definitions may contain: here they are errors. `outside` is the expression
  // behind `else`, or null.
  virtual absl::StatusOr<Term> Read(const Syntax& read, const Syntax* outside);
  virtual absl::StatusOr<Term> Reduce(const Syntax& reduce);
  virtual absl::StatusOr<Term> Random(const Syntax& random);
  virtual absl::StatusOr<Term> If(const Syntax& syntax, Division division);
  // The result of a function, where the ranges of indices settle it although the form of the
  // arguments does not; nullopt elsewhere.
  virtual absl::optional<Term> Foresee(Function /*function*/,
                                       const std::vector<Term>& /*args*/) const {
    return absl::nullopt;
  }

  // The number of elements that the packs in a zipped expression have.
  absl::StatusOr<int> Rank(const Syntax& element) const;
  absl::StatusOr<Term> ApplyAt(Function function, const std::vector<Term>& args, Division division,
                               const SourceRange& range) const;
  // From now on names of packs stand for their element number `element` (-1: for no element);
  // returns the former number.
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
  int element_ = -1;  // of packs, inside ( )..; -1 outside
};

// The function of a binary operator's spelling.
Function FunctionOf(absl::string_view spelling);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_EVALUATE_H_
