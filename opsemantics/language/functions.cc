#include "opsemantics/language/functions.h"

#include "opsemantics/base/check.h"

namespace yuba {
namespace {

constexpr FunctionInfo kFunctions[] = {
    {"add", Function::kAdd, 2, TypeRule::kNumber},
    {"sub", Function::kSub, 2, TypeRule::kNumber},
    {"mul", Function::kMul, 2, TypeRule::kNumber},
    {"div", Function::kDiv, 2, TypeRule::kNumber},
    {"neg", Function::kNeg, 1, TypeRule::kNumber},
    {"min", Function::kMin, 2, TypeRule::kNumber},
    {"max", Function::kMax, 2, TypeRule::kNumber},
    {"abs", Function::kAbs, 1, TypeRule::kNumber},
    {"sign", Function::kSign, 1, TypeRule::kNumber},
    {"floor", Function::kFloor, 1, TypeRule::kFloat},
    {"ceil", Function::kCeil, 1, TypeRule::kFloat},
    {"round", Function::kRound, 1, TypeRule::kFloat},
    {"sq", Function::kSq, 1, TypeRule::kNumber},
    {"sqrt", Function::kSqrt, 1, TypeRule::kFloat},
    {"rsqrt", Function::kRsqrt, 1, TypeRule::kFloat},
    {"pow", Function::kPow, 2, TypeRule::kNumber},
    {"exp", Function::kExp, 1, TypeRule::kFloat},
    {"log", Function::kLog, 1, TypeRule::kFloat},
    {"tanh", Function::kTanh, 1, TypeRule::kFloat},
    {"sig", Function::kSig, 1, TypeRule::kFloat},
    {"erf", Function::kErf, 1, TypeRule::kFloat},
    {"sin", Function::kSin, 1, TypeRule::kFloat},
    {"cos", Function::kCos, 1, TypeRule::kFloat},
    {"select", Function::kSelect, 3, TypeRule::kSelect},
    {"cast", Function::kCast, 2, TypeRule::kCast},
    {"wrap", Function::kWrap, 2, TypeRule::kInteger},
    {"mod", Function::kMod, 2, TypeRule::kNumber},
    {"eq", Function::kEq, 2, TypeRule::kCompare},
    {"ne", Function::kNe, 2, TypeRule::kCompare},
    {"lt", Function::kLt, 2, TypeRule::kCompare},
    {"le", Function::kLe, 2, TypeRule::kCompare},
    {"and", Function::kAnd, 2, TypeRule::kLogic},
    {"or", Function::kOr, 2, TypeRule::kLogic},
    {"not", Function::kNot, 1, TypeRule::kLogic},
};

}  // namespace

absl::Span<const FunctionInfo> Functions() { return kFunctions; }

const FunctionInfo* FindFunction(absl::string_view name) {
  for (const FunctionInfo& info : kFunctions) {
    if (name == info.name) return &info;
  }
  return nullptr;
}

const FunctionInfo& InfoOf(Function function) {
  for (const FunctionInfo& info : kFunctions) {
    if (info.function == function) return info;
  }
  YUBA_CHECK(false) << "function " << static_cast<int>(function) << " has no entry";
  return kFunctions[0];
}

}  // namespace yuba
