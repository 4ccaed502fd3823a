#include "opsemantics/language/functions.h"

#include "opsemantics/base/check.h"

namespace yuba {
namespace {

constexpr FunctionInfo kFunctions[] = {
    {"add", Function::kAdd, TypeRule::kNumber},
    {"sub", Function::kSub, TypeRule::kNumber},
    {"mul", Function::kMul, TypeRule::kNumber},
    {"div", Function::kDiv, TypeRule::kNumber},
    {"neg", Function::kNeg, TypeRule::kNumber},
    {"min", Function::kMin, TypeRule::kNumber},
    {"max", Function::kMax, TypeRule::kNumber},
    {"abs", Function::kAbs, TypeRule::kNumber},
    {"sign", Function::kSign, TypeRule::kNumber},
    {"floor", Function::kFloor, TypeRule::kFloat},
    {"ceil", Function::kCeil, TypeRule::kFloat},
    {"round", Function::kRound, TypeRule::kFloat},
    {"sq", Function::kSq, TypeRule::kNumber},
    {"sqrt", Function::kSqrt, TypeRule::kFloat},
    {"rsqrt", Function::kRsqrt, TypeRule::kFloat},
    {"pow", Function::kPow, TypeRule::kNumber},
    {"exp", Function::kExp, TypeRule::kFloat},
    {"log", Function::kLog, TypeRule::kFloat},
    {"tanh", Function::kTanh, TypeRule::kFloat},
    {"sig", Function::kSig, TypeRule::kFloat},
    {"erf", Function::kErf, TypeRule::kFloat},
    {"sin", Function::kSin, TypeRule::kFloat},
    {"cos", Function::kCos, TypeRule::kFloat},
    {"select", Function::kSelect, TypeRule::kSelect},
    {"cast", Function::kCast, TypeRule::kCast},
    {"wrap", Function::kWrap, TypeRule::kInteger},
    {"label", Function::kLabel, TypeRule::kInteger},
    {"mod", Function::kMod, TypeRule::kNumber},
    {"eq", Function::kEq, TypeRule::kCompare},
    {"ne", Function::kNe, TypeRule::kCompare},
    {"lt", Function::kLt, TypeRule::kCompare},
    {"le", Function::kLe, TypeRule::kCompare},
    {"and", Function::kAnd, TypeRule::kLogic},
    {"or", Function::kOr, TypeRule::kLogic},
    {"not", Function::kNot, TypeRule::kLogic},
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
