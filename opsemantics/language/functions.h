// The scalar functions that descriptions can call: one table of their names, how many arguments
// they take, and what types these may have. The operators + - * / == != <= < and if are functions
// too, under the names that definition.h gives them.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_FUNCTIONS_H_
#define YUBA_OPSEMANTICS_LANGUAGE_FUNCTIONS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// The types of a function's arguments, and of its result.
enum class TypeRule : uint8_t {
  kNumber,   // numbers of one type; the result has it
  kFloat,    // floats of one type; the result has it
  kInteger,  // integers of one type; the result has it
  kCompare,  // two of one type; the result is a bool
  kLogic,    // bools; the result is one
  kSelect,   // a bool and two of one type; the result has that type
  kCast      // anything and a type
};

struct FunctionInfo {
  const char* name;  // in a description
  Function function;
  TypeRule rule;
  // How many arguments a description gives. min and max also take more: max(a, b, c); the type that
  // a value is cast to is one of them.
  constexpr int arity() const { return function == Function::kCast ? 2 : ArgumentCount(function); }
};

absl::Span<const FunctionInfo> Functions();
const FunctionInfo* FindFunction(absl::string_view name);  // null where there is none
const FunctionInfo& InfoOf(Function function);             // every function has an entry (CHECK)

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_FUNCTIONS_H_
