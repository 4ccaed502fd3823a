// What a dump says of a plan besides shardings and partitions: the search, the space, the cost, the
// bound and its proof, as fields of yuba.graph's dictionary. `proof_prices` are pairs of time and
// price; `proof_messages` are tensor, node, the number of values, and the values, one message after
// the other.
#ifndef YUBA_COMPILER_DUMP_PLAN_INFO_H_
#define YUBA_COMPILER_DUMP_PLAN_INFO_H_

#include "absl/status/statusor.h"
#include "compiler/dump/module.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {

// Appends the plan's fields to `fields`.
void AddPlanInfo(const search::Plan& plan, mlir::Builder& builder,
                 llvm::SmallVectorImpl<mlir::NamedAttribute>& fields);

// Fills these fields of `plan`. A field that is missing or of another kind is an error of the user
// (InvalidArgument) that names it.
absl::Status ReadPlanInfo(mlir::DictionaryAttr info, search::Plan& plan);

// The field `name`, of the kind T; the same errors.
template <typename T>
absl::StatusOr<T> InfoField(mlir::DictionaryAttr info, const char* name) {
  const auto value = info.getAs<T>(name);
  if (!value) return UserError("yuba.graph: '", name, "' is missing or of another kind");
  return value;
}

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_PLAN_INFO_H_
