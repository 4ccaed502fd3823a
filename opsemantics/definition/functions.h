// The scalar functions of bodies, and one table of what there is to know about each
// (functions.cc): names, arguments, types, values. The operators + - * / == != <= < and if are
// functions too, under the names add, sub and so on.
//
// Example: FindFunction("tanh")->value(0.5, 0) is 0.46..., FactsOf(Function::kPow).arguments is 2.
#ifndef YUBA_OPSEMANTICS_DEFINITION_FUNCTIONS_H_
#define YUBA_OPSEMANTICS_DEFINITION_FUNCTIONS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace yuba {

// Each has a row in functions.cc. A new one stands before kOpaque.
enum class Function : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kNeg,
  kMin,
  kMax,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kSq,
  kSqrt,
  kRsqrt,
  kPow,
  kExp,
  kLog,
  kTanh,
  kSig,
  kErf,
  kSin,
  kCos,
  kSelect,
  kCast,
  kWrap,
  kMod,
  kEq,
  kNe,
  kLt,
  kLe,
  kAnd,
  kOr,
  kRandom,
  kNot,
  kOpaque,  // the operands of an opaque definition, as its function takes them (opaque.h)
  kLabel    // the last one
};

// The types of a function's arguments, and of its result.
enum class TypeRule : uint8_t {
  kNumber,   // numbers of one type; the result has it
  kFloat,    // floats of one type; the result has it
  kInteger,  // integers of one type; the result has it
  kCompare,  // two of one type; the result is a bool
  kLogic,    // bools; the result is one
  kSelect,   // a bool and two of one type; the result has that type
  kCast,     // anything and a type
  kInner     // its own; elaboration makes it, and descriptions cannot call it by its name
};

// A function of C's <math.h> that generated code calls: of f64 under this name, of f32 with an f
// behind it, on GPUs with the prefix of the device library.
struct LibraryFunction {
  const char* name = nullptr;  // null: no call
  bool vectors = false;        // whether glibc's libmvec has it for vectors, which rounds otherwise
};

struct FunctionFacts {
  Function function;
  const char* name;  // in a description
  int arguments;     // of a call in a body; -1: any number
  TypeRule rule;
  bool slow;  // whether its value is worth storing where it is needed again and again
  // The value of one or two doubles: of comparisons and logic 1 or 0, of integers where they have
  // no own rule (oracle/scalar.cc) the value before it is rounded toward zero. `b` is not looked at
  // where there is one argument. Null for kSelect, kCast, kLabel and what descriptions cannot call.
  double (*value)(double a, double b);
  LibraryFunction library;  // that its code calls

  // How many arguments a description gives. min and max also take more: max(a, b, c); the type that
  // a value is cast to is one of them.
  int arity() const { return function == Function::kCast ? 2 : arguments; }
};

absl::Span<const FunctionFacts> Functions();  // in the order of the enum
const FunctionFacts& FactsOf(Function function);
const FunctionFacts* FindFunction(absl::string_view name);  // null where descriptions have none

// What a value costs beside an addition, as far as that does not depend on the machine: machines
// say how much longer each kind takes (opsemantics/machine/machine.h).
enum class FunctionCost : uint8_t {
  kQuick,     // an instruction that starts in every cycle
  kRoot,      // one that takes several cycles: quotients and roots
  kFunction,  // a library's function of one argument
  kPower      // one of two arguments, which looks at its arguments one by one
};
FunctionCost CostOf(Function function);

inline const char* Name(Function function) { return FactsOf(function).name; }
inline int ArgumentCount(Function function) { return FactsOf(function).arguments; }
inline bool IsComparison(Function function) { return FactsOf(function).rule == TypeRule::kCompare; }
inline bool IsLogical(Function function) { return FactsOf(function).rule == TypeRule::kLogic; }

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_FUNCTIONS_H_
