// What a dump says of a plan besides shardings and partitions: the search, the space, the cost, the
// bound and its proof, as fields of yuba.graph's dictionary. `proof_prices` are pairs of time and
// price; `proof_messages` are tensor, node, the number of values, and the values, one message after
// the other. `pins`, only where there are any, are element, the number of extents, and for each
// extent whether others may cut it (1 or 0), the number of its axes, and the axes; `without_pins`
// are bytes and lower bound.
#ifndef YUBA_COMPILER_DUMP_PLAN_INFO_H_
#define YUBA_COMPILER_DUMP_PLAN_INFO_H_

#include "absl/status/statusor.h"
#include "compiler/dump/module.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {

// Appends the plan's fields to `fields`.
void AddPlanInfo(const search::Plan& plan, mlir::Builder& builder,
                 llvm::SmallVectorImpl<mlir::NamedAttribute>& fields);

// Fills these fields of `plan`, which has its nodes. A field that is missing, of another kind or
// out of range is an error of the user (InvalidArgument) that names it.
absl::Status ReadPlanInfo(mlir::DictionaryAttr info, search::Plan& plan);

// The field `name`, of the kind T; the same errors.
template <typename T>
absl::StatusOr<T> InfoField(mlir::DictionaryAttr info, const char* name) {
  const auto value = info.getAs<T>(name);
  if (!value) return UserError("'", name, "' is missing or of another kind");
  return value;
}

// The integer of 64 bits in the field `name`; also an error where it is below `least` or above
// `most`.
template <typename T>
absl::StatusOr<T> InfoNumber(mlir::DictionaryAttr info, const char* name, T least, T most) {
  YUBA_ASSIGN_OR_RETURN(const auto attr, InfoField<mlir::IntegerAttr>(info, name));
  if (!attr.getType().isSignlessInteger(64)) return UserError("'", name, "' is of another kind");
  const int64_t number = attr.getInt();
  if (least <= number && number <= most) return static_cast<T>(number);
  return UserError("'", name, "' is ", number, ", expected an integer from ", least, " to ", most);
}

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_PLAN_INFO_H_
