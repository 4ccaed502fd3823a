// Checks the expressions of a description without shapes: that names are known and used as what
// they are, that packs stand where packs may stand, that reads have the dimensions of their
// tensors, that calls have the right number of arguments. The first mistake is a user's error that
// underlines its place.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_EXPRESSION_CHECK_H_
#define YUBA_OPSEMANTICS_LANGUAGE_EXPRESSION_CHECK_H_

#include "absl/status/status.h"
#include "opsemantics/language/ast.h"
#include "opsemantics/language/symbols.h"

namespace yuba {

class ExpressionChecker {
 public:
  explicit ExpressionChecker(SymbolTable& symbols) : symbols_(symbols) {}

  // An expression of extents, attributes and lets only. `zip`: inside ( ).., where a pack's name
  // stands for one of its elements. `pack_allowed`: it may be a pack itself.
  absl::Status Static(const Syntax& syntax, bool zip, bool pack_allowed = false);

  // An expression of a body; if `is_static` one of a signature, without reads, reducers and
  // indices.
  absl::Status Expression(const Syntax& syntax, bool zip, bool is_static = false);

 private:
  absl::Status NotStatic(const Syntax& syntax) const;
  absl::Status Name(const Syntax& syntax, bool zip, bool is_static) const;
  absl::Status Pack(const Syntax& syntax, bool is_static);
  absl::Status Read(const Syntax& syntax, bool zip, bool is_static);
  absl::Status Reduce(const Syntax& syntax, bool zip);
  absl::Status Call(const Syntax& syntax, bool zip, bool is_static);
  absl::Status Random(const Syntax& syntax, bool zip, bool is_static);

  SymbolTable& symbols_;
  bool in_condition_ = false;  // of a reducer
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_EXPRESSION_CHECK_H_
