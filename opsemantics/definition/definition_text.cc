// Definitions as text: one line, in the spelling of the language (opsemantics/README.md), for
// messages, dumps and programs. Operands have no names in the core form; they are x0, x1, ... here:
//   y[i: 4, j: 8] = sum(k: 6) x0[i, k] * x1[k, j]
// Where the values of a condition on data are known, they stand behind it in braces:
//   y[i: 4] = pick(r: 4 where r == x1[i] {3, 0, 2, 1}) x0[r]
// In a body whose tree is large (kLargestTree), terms that are used more than once get names, so
// that the text is about as long as the body has distinct terms:
//   y[i: 4] = let t0 = x0[i] * x0[i], t1 = t0 * t0, ... in t9 + t8
#include <cmath>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba {
namespace {

// Binding strength, as in the grammar: if < compare < sum < product < unary.
enum Strength { kIf, kCompare, kSum, kProduct, kUnary };

template <typename Values, typename Text>
std::string Join(const Values& values, Text text) {
  return absl::StrJoin(values, ", ", [&text](std::string* out, const auto& value) {
    absl::StrAppend(out, text(value));
  });
}

class Writer {
 public:
  explicit Writer(const Definition& definition) : definition_(definition) {}

  std::string Text() {
    const std::string left =
        Join(definition_.left, [this](const Affine& position) { return Left(position); });
    const std::string text =
        absl::StrCat(definition_.nograd ? "nograd " : "", definition_.name, "[", left, "] = ");
    if (definition_.reducer == Reducer::kNone) return text + Root(definition_.body, kIf);
    if (definition_.reducer == Reducer::kOpaque) return text + OpaqueText();
    const std::string conditions = Conditions();
    return absl::StrCat(text, Name(definition_.reducer), "(", Ranges(), conditions, ") ",
                        Root(definition_.body, kProduct));
  }

 private:
  // opaque argsort(k: 8; 1) x0[i, k]
  std::string OpaqueText() const {
    std::string text = absl::StrCat("opaque ", definition_.opaque.function, "(", Ranges());
    for (size_t i = 0; i < definition_.opaque.attributes.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "; " : ", ", Shortest(definition_.opaque.attributes[i]));
    }
    return absl::StrCat(text, ") ", Join(definition_.body->args, [this](const ExprPtr& read) {
                          return Term(read, kIf);
                        }));
  }

  std::string IndexName(int index) const { return definition_.indices[index].name; }

  std::string Left(const Affine& left) const {
    const int index = left.BareIndex();
    if (index < 0) return Sum(left);
    return absl::StrCat(IndexName(index), ": ", definition_.indices[index].extent);
  }

  std::string Ranges() const {
    std::string text;
    for (const Index& index : definition_.indices) {
      if (!index.reduction) continue;
      absl::StrAppend(&text, text.empty() ? "" : ", ", index.name);
      const bool groups =
          !definition_.partial_operands.empty() && &index == &definition_.indices.back();
      if (groups) continue;  // the plan decides how many there are
      absl::StrAppend(&text, ": ", index.extent);
    }
    return text;
  }

  std::string Conditions() {
    std::vector<std::string> conditions;
    for (const Constraint& constraint : definition_.where) {
      conditions.push_back(
          absl::StrCat(Sum(constraint.expression), constraint.equality ? " == 0" : " <= 0"));
    }
    for (const DataCondition& condition : definition_.data_where) {
      std::string a = Sum(condition.index), b = Root(condition.value, kSum);
      if (condition.table != nullptr) absl::StrAppend(&b, " ", Table(*condition.table));
      if (condition.reversed) std::swap(a, b);
      conditions.push_back(absl::StrCat(a, " ", Sign(condition.compare), " ", b));
    }
    return conditions.empty() ? "" : " where " + absl::StrJoin(conditions, ", ");
  }

  // {3, 0, 2, 1}; of a long table the beginning, the number of values, and a fingerprint of all.
  static std::string Table(const ValueTable& table) {
    constexpr size_t kWritten = 8;
    const std::vector<int64_t>& values = table.values;
    if (values.size() <= kWritten) return absl::StrCat("{", absl::StrJoin(values, ", "), "}");
    uint64_t mixed = 0;
    for (int64_t value : values) {
      mixed = (mixed ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15u;
      mixed ^= mixed >> 29;
    }
    return absl::StrCat("{", absl::StrJoin(values.begin(), values.begin() + 4, ", "), ", ... ",
                        values.size(), " values, ", absl::Hex(mixed, absl::kZeroPad16), "}");
  }

  std::string Sum(const Affine& affine) const {
    std::string text;
    for (const auto& [index, coefficient] : affine.terms) {
      absl::StrAppend(&text,
                      coefficient < 0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + "));
      absl::StrAppend(&text, IndexName(index));
      const uint64_t size = coefficient < 0 ? -static_cast<uint64_t>(coefficient) : coefficient;
      if (size != 1) absl::StrAppend(&text, "*", size);
    }
    if (text.empty()) return absl::StrCat(affine.constant);
    if (affine.constant == 0) return text;
    const uint64_t size =
        affine.constant < 0 ? -static_cast<uint64_t>(affine.constant) : affine.constant;
    return absl::StrCat(text, affine.constant < 0 ? " - " : " + ", size);
  }

  static const char* Sign(Function function) {
    switch (function) {
      case Function::kAdd: return "+";
      case Function::kSub: return "-";
      case Function::kMul: return "*";
      case Function::kDiv: return "/";
      case Function::kEq: return "==";
      case Function::kNe: return "!=";
      case Function::kLe: return "<=";
      case Function::kLt: return "<";
      default: return nullptr;
    }
  }

  static Strength StrengthOf(const Expr& expr) {
    if (expr.kind == Expr::kIndex) return expr.affine.terms.size() > 1 ? kSum : kUnary;
    if (expr.kind != Expr::kCall) return kUnary;
    switch (expr.function) {
      case Function::kSelect: return kIf;
      case Function::kEq:
      case Function::kNe:
      case Function::kLe:
      case Function::kLt: return kCompare;
      case Function::kAdd:
      case Function::kSub: return kSum;
      case Function::kMul:
      case Function::kDiv: return kProduct;
      default: return kUnary;
    }
  }

  // A body or the value of a condition.
  std::string Root(const ExprPtr& expr, Strength least) {
    if (TreeSize(expr) <= kLargestTree) return Term(expr, least);
    SharedTerms terms;
    const ExprPtr root = terms.Of(expr);
    std::vector<std::string> lets;
    for (const ExprPtr& term : RepeatedTerms({root})) {
      std::string name = absl::StrCat("t", named_++);
      lets.push_back(absl::StrCat(name, " = ", Term(term, kIf)));
      names_[term.get()] = std::move(name);
    }
    if (lets.empty()) return Term(root, least);
    const std::string text =
        absl::StrCat("let ", absl::StrJoin(lets, ", "), " in ", Term(root, kIf));
    names_.clear();
    return least == kSum ? absl::StrCat("(", text, ")") : text;  // beside a comparison
  }

  // `expr` where its surroundings bind with strength `least`: in parentheses if it binds weaker.
  std::string Term(const ExprPtr& expr, Strength least) const {
    const auto name = names_.find(expr.get());
    if (name != names_.end()) return name->second;
    const std::string text = Bare(*expr);
    return StrengthOf(*expr) < least ? absl::StrCat("(", text, ")") : text;
  }

  std::string Bare(const Expr& expr) const {
    switch (expr.kind) {
      case Expr::kLiteral: return Literal(expr);
      case Expr::kIndex: return Sum(expr.affine);
      case Expr::kRead: return Read(expr);
      case Expr::kCall: return Call(expr);
    }
    YUBA_CHECK(false) << "kind of expression " << expr.kind;
    return "";
  }

  static std::string Literal(const Expr& expr) {
    if (!IsFloat(expr.type)) return absl::StrCat(expr.integer);
    return Shortest(expr.number);
  }

  static std::string Shortest(double number) {
    if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
    for (int digits = 6; digits < 17; ++digits) {  // the shortest that reads back the same
      const std::string text = absl::StrFormat("%.*g", digits, number);
      if (std::strtod(text.c_str(), nullptr) == number) return text;
    }
    return absl::StrFormat("%.17g", number);
  }

  std::string Read(const Expr& expr) const {
    const std::string position =
        Join(expr.position, [this](const Affine& affine) { return Sum(affine); });
    const std::string text = absl::StrCat("x", expr.operand, "[", position, "]");
    if (expr.args.empty()) return text;
    return absl::StrCat("(", text, " else ", Term(expr.args[0], kIf), ")");
  }

  std::string Call(const Expr& expr) const {
    const Strength strength = StrengthOf(expr);
    if (expr.function == Function::kSelect) {
      return absl::StrCat("if ", Term(expr.args[0], kCompare), " then ",
                          Term(expr.args[1], kCompare), " else ", Term(expr.args[2], kIf));
    }
    if (const char* sign = Sign(expr.function); sign != nullptr && expr.args.size() == 2) {
      const Strength left = strength == kCompare ? kSum : strength;
      const Strength right = static_cast<Strength>(strength + 1);
      return absl::StrCat(Term(expr.args[0], left), " ", sign, " ", Term(expr.args[1], right));
    }
    if (expr.function == Function::kNeg) return "-" + Term(expr.args[0], kUnary);
    std::string args = Join(expr.args, [this](const ExprPtr& arg) { return Term(arg, kIf); });
    if (expr.function == Function::kCast) absl::StrAppend(&args, ", ", Name(expr.type));
    return absl::StrCat(Name(expr.function), "(", args, ")");
  }

  const Definition& definition_;
  absl::flat_hash_map<const Expr*, std::string> names_;  // of the terms of the root at hand
  int named_ = 0;                                        // terms with names, in all roots so far
};

}  // namespace

absl::optional<Reducer> FindReducer(absl::string_view name) {
  for (const Reducer reducer : kReducers) {
    if (name == Name(reducer)) return reducer;
  }
  return absl::nullopt;
}

std::string ToString(const Definition& definition) { return Writer(definition).Text(); }

}  // namespace yuba
