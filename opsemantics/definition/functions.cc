#include "opsemantics/definition/functions.h"

#include <cmath>
#include <limits>

#include "opsemantics/base/check.h"

namespace yuba {
namespace {

constexpr bool kQuick = false, kSlow = true;
constexpr LibraryFunction Scalar(const char* name) { return {name, false}; }
constexpr LibraryFunction Vectors(const char* name) { return {name, true}; }

double SignOf(double a, double /*b*/) { return a > 0 ? 1 : a < 0 ? -1 : a; }

// NaN where one of the two is; max(-0, 0) is 0.
double Greatest(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return a < b || (a == b && std::signbit(a)) ? b : a;
}
double Least(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

using F = Function;
using Rule = TypeRule;

constexpr FunctionFacts kFunctions[] = {
    {F::kAdd, "add", 2, Rule::kNumber, kQuick, [](double a, double b) { return a + b; }},
    {F::kSub, "sub", 2, Rule::kNumber, kQuick, [](double a, double b) { return a - b; }},
    {F::kMul, "mul", 2, Rule::kNumber, kQuick, [](double a, double b) { return a * b; }},
    {F::kDiv, "div", 2, Rule::kNumber, kSlow, [](double a, double b) { return a / b; }},
    {F::kNeg, "neg", 1, Rule::kNumber, kQuick, [](double a, double) { return -a; }},
    {F::kMin, "min", 2, Rule::kNumber, kQuick, Least},
    {F::kMax, "max", 2, Rule::kNumber, kQuick, Greatest},
    {F::kAbs, "abs", 1, Rule::kNumber, kQuick, [](double a, double) { return std::fabs(a); }},
    {F::kSign, "sign", 1, Rule::kNumber, kQuick, SignOf},
    {F::kFloor, "floor", 1, Rule::kFloat, kQuick, [](double a, double) { return std::floor(a); }},
    {F::kCeil, "ceil", 1, Rule::kFloat, kQuick, [](double a, double) { return std::ceil(a); }},
    {F::kRound, "round", 1, Rule::kFloat, kQuick,
     [](double a, double) { return std::nearbyint(a); }},
    {F::kSq, "sq", 1, Rule::kNumber, kQuick, [](double a, double) { return a * a; }},
    {F::kSqrt, "sqrt", 1, Rule::kFloat, kSlow, [](double a, double) { return std::sqrt(a); }},
    {F::kRsqrt, "rsqrt", 1, Rule::kFloat, kSlow, [](double a, double) { return 1 / std::sqrt(a); }},
    {F::kPow, "pow", 2, Rule::kNumber, kSlow, [](double a, double b) { return std::pow(a, b); },
     Vectors("pow")},
    {F::kExp, "exp", 1, Rule::kFloat, kSlow, [](double a, double) { return std::exp(a); },
     Vectors("exp")},
    {F::kLog, "log", 1, Rule::kFloat, kSlow, [](double a, double) { return std::log(a); },
     Vectors("log")},
    {F::kTanh, "tanh", 1, Rule::kFloat, kSlow, [](double a, double) { return std::tanh(a); },
     Vectors("tanh")},
    {F::kSig, "sig", 1, Rule::kFloat, kSlow,
     [](double a, double) { return 1 / (1 + std::exp(-a)); }, Vectors("exp")},
    {F::kErf, "erf", 1, Rule::kFloat, kSlow, [](double a, double) { return std::erf(a); },
     Vectors("erf")},
    {F::kSin, "sin", 1, Rule::kFloat, kSlow, [](double a, double) { return std::sin(a); },
     Vectors("sin")},
    {F::kCos, "cos", 1, Rule::kFloat, kSlow, [](double a, double) { return std::cos(a); },
     Vectors("cos")},
    {F::kSelect, "select", 3, Rule::kSelect, kQuick, nullptr},
    {F::kCast, "cast", 1, Rule::kCast, kQuick, nullptr},
    {F::kWrap, "wrap", 2, Rule::kInteger, kQuick,
     [](double a, double b) { return a < 0 ? a + b : a; }},
    {F::kMod, "mod", 2, Rule::kNumber, kQuick, [](double a, double b) { return std::fmod(a, b); },
     Scalar("fmod")},
    {F::kEq, "eq", 2, Rule::kCompare, kQuick, [](double a, double b) -> double { return a == b; }},
    {F::kNe, "ne", 2, Rule::kCompare, kQuick, [](double a, double b) -> double { return a != b; }},
    {F::kLt, "lt", 2, Rule::kCompare, kQuick, [](double a, double b) -> double { return a < b; }},
    {F::kLe, "le", 2, Rule::kCompare, kQuick, [](double a, double b) -> double { return a <= b; }},
    {F::kAnd, "and", 2, Rule::kLogic, kQuick,
     [](double a, double b) -> double { return a != 0 && b != 0; }},
    {F::kOr, "or", 2, Rule::kLogic, kQuick,
     [](double a, double b) -> double { return a != 0 || b != 0; }},
    {F::kRandom, "random", 3, Rule::kInner, kQuick, nullptr},
    {F::kNot, "not", 1, Rule::kLogic, kQuick, [](double a, double) -> double { return a == 0; }},
    {F::kOpaque, "opaque", -1, Rule::kInner, kQuick, nullptr},
    {F::kLabel, "label", 3, Rule::kInteger, kQuick, nullptr},
};

constexpr size_t kCount = sizeof kFunctions / sizeof *kFunctions;
static_assert(kCount == static_cast<size_t>(Function::kLabel) + 1, "each function has a row");

constexpr bool InOrder() {
  for (size_t f = 0; f < kCount; ++f) {
    if (kFunctions[f].function != static_cast<Function>(f)) return false;
  }
  return true;
}
static_assert(InOrder(), "rows stand in the order of the enum");

}  // namespace

absl::Span<const FunctionFacts> Functions() { return kFunctions; }

FunctionCost CostOf(Function function) {
  const FunctionFacts& facts = FactsOf(function);
  if (facts.library.name != nullptr) {
    return facts.arguments == 1 ? FunctionCost::kFunction : FunctionCost::kPower;
  }
  return facts.slow ? FunctionCost::kRoot : FunctionCost::kQuick;
}

const FunctionFacts& FactsOf(Function function) {
  const auto row = static_cast<size_t>(function);
  YUBA_CHECK(row < kCount) << "function " << row << " has no row";
  return kFunctions[row];
}

const FunctionFacts* FindFunction(absl::string_view name) {
  for (const FunctionFacts& facts : kFunctions) {
    if (facts.rule != TypeRule::kInner && name == facts.name) return &facts;
  }
  return nullptr;
}

}  // namespace yuba
