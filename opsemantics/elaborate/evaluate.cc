#include "opsemantics/elaborate/evaluate.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/functions.h"

namespace yuba {
namespace {

// The names of packs in a zipped expression; those of packs inside it (size(h..)) are not zipped.
template <typename Visit>
void WalkZipped(const Syntax& syntax, const Visit& visit) {
  if (syntax.kind == Syntax::kPack) return;
  if (syntax.kind == Syntax::kName) visit(syntax);
  for (const SyntaxPtr& arg : syntax.args) WalkZipped(*arg, visit);
}

}  // namespace

Function FunctionOf(absl::string_view spelling) {
  if (spelling == "+") return Function::kAdd;
  if (spelling == "-") return Function::kSub;
  if (spelling == "*") return Function::kMul;
  if (spelling == "/") return Function::kDiv;
  if (spelling == "==") return Function::kEq;
  if (spelling == "!=") return Function::kNe;
  return spelling == "<=" ? Function::kLe : Function::kLt;
}

absl::StatusOr<Term> Evaluator::Evaluate(const Syntax& syntax, Division division) {
  switch (syntax.kind) {
    case Syntax::kNumber:
      return syntax.is_integer ? IntegerTerm(syntax.integer) : NumberTerm(syntax.number);
    case Syntax::kName: return Name(syntax);
    case Syntax::kRead: return Read(syntax, nullptr);
    case Syntax::kElse: return Read(*syntax.args[0], syntax.args[1].get());
    case Syntax::kCall: return Call(syntax, division);
    case Syntax::kNegate: {
      YUBA_ASSIGN_OR_RETURN(Term arg, Evaluate(*syntax.args[0], division));
      return ApplyAt(Function::kNeg, {std::move(arg)}, division, syntax.range);
    }
    case Syntax::kBinary: return Binary(syntax, division);
    case Syntax::kIf: return If(syntax, division);
    case Syntax::kReduce: return Reduce(syntax);
    case Syntax::kPack: return Error(syntax.range, "a pack cannot stand here");
    case Syntax::kFactors: return Error(syntax.range, "factors cannot stand here");
  }
  return Error(syntax.range, "this has no value");
}

absl::StatusOr<Term> Evaluator::Name(const Syntax& syntax) const {
  const auto found = names_.find(syntax.name);
  if (found == names_.end()) {
    if (syntax.name == "inf") return NumberTerm(std::numeric_limits<double>::infinity());
    if (const auto type = ElementTypeFromName(syntax.name)) return TypeTerm(*type);
    return Error(syntax.range, absl::StrCat("'", syntax.name,
                                            "' is not known in this use: it stands "
                                            "in an operand that is absent, or is used too early"));
  }
  const Value& value = found->second;
  if (!value.pack || value.repeats) return value.elements[0];
  if (element_ < 0 || element_ >= static_cast<int>(value.elements.size())) {
    return Error(syntax.range, absl::StrCat("the pack '", syntax.name, "' cannot stand here"));
  }
  return value.elements[element_];
}

absl::StatusOr<int> Evaluator::Rank(const Syntax& element) const {
  int rank = -1;
  const Syntax* first = nullptr;
  const Syntax* other = nullptr;
  WalkZipped(element, [&](const Syntax& name) {
    const auto found = names_.find(name.name);
    if (found == names_.end() || !found->second.pack || found->second.repeats) return;
    const int size = static_cast<int>(found->second.elements.size());
    if (first == nullptr) {
      first = &name;
      rank = size;
    } else if (size != rank && other == nullptr) {
      other = &name;
    }
  });
  if (first == nullptr) {
    return Error(element.range,
                 "how many dimensions this pack has is not known; give its attribute "
                 "as a list");
  }
  if (other != nullptr) {
    return Error(element.range,
                 absl::StrCat("'", first->name, "' has ", rank, " elements, but '", other->name,
                              "' has ", names_.at(other->name).elements.size()));
  }
  return rank;
}

absl::StatusOr<std::vector<Term>> Evaluator::EvaluatePack(const Syntax& element,
                                                          Division division) {
  YUBA_ASSIGN_OR_RETURN(const int rank, Rank(element));
  std::vector<Term> values;
  for (int i = 0; i < rank; ++i) {
    const int former = SetElement(i);
    absl::StatusOr<Term> value = Evaluate(element, division);
    SetElement(former);
    if (!value.ok()) return value.status();
    values.push_back(*std::move(value));
  }
  return values;
}

absl::StatusOr<Term> Evaluator::ApplyAt(Function function, const std::vector<Term>& args,
                                        Division division, const SourceRange& range) const {
  if (const absl::optional<Term> foreseen = Foresee(function, args)) return *foreseen;
  absl::StatusOr<Term> result = Apply(function, args, division);
  if (!result.ok()) return Error(range, result.status().message());
  return result;
}

absl::StatusOr<Term> Evaluator::Binary(const Syntax& syntax, Division division) {
  YUBA_ASSIGN_OR_RETURN(Term left, Evaluate(*syntax.args[0], division));
  YUBA_ASSIGN_OR_RETURN(Term right, Evaluate(*syntax.args[1], division));
  return ApplyAt(FunctionOf(syntax.name), {std::move(left), std::move(right)}, division,
                 syntax.range);
}

absl::StatusOr<Term> Evaluator::If(const Syntax& syntax, Division division) {
  YUBA_ASSIGN_OR_RETURN(const Term condition, Evaluate(*syntax.args[0], division));
  if (!condition.IsStatic()) return Error(syntax.args[0]->range, "this is not known here");
  return Evaluate(*syntax.args[condition.AsNumber() != 0 ? 1 : 2], division);
}

absl::StatusOr<Term> Evaluator::Call(const Syntax& syntax, Division division) {
  if (syntax.name == "size" || syntax.name == "flat") return Size(syntax, division);
  if (syntax.name == "rand") return Random(syntax);
  const FunctionFacts* info = FindFunction(syntax.name);
  if (info == nullptr) return Error(syntax.range, "there is no such function");
  if (info->function == Function::kCast) return CastCall(syntax, division);
  std::vector<Term> args;
  for (const SyntaxPtr& arg : syntax.args) {
    YUBA_ASSIGN_OR_RETURN(Term value, Evaluate(*arg, division));
    args.push_back(std::move(value));
  }
  if (info->arity() != 2 || args.size() == 2) {
    return ApplyAt(info->function, args, division, syntax.range);
  }
  Term result = args[0];  // max(a, b, c)
  for (size_t i = 1; i < args.size(); ++i) {
    YUBA_ASSIGN_OR_RETURN(result,
                          ApplyAt(info->function, {result, args[i]}, division, syntax.range));
  }
  return result;
}

// size(h..): the product of the elements; flat(u..): the row-major position of indices, which only
// definitions have.
absl::StatusOr<Term> Evaluator::Size(const Syntax& syntax, Division division) {
  if (syntax.name == "flat") return Error(syntax.range, "flat(...) is for gradients only");
  YUBA_ASSIGN_OR_RETURN(const std::vector<Term> values,
                        EvaluatePack(*syntax.args[0]->args[0], division));
  Term product = IntegerTerm(1);
  for (const Term& value : values) {
    YUBA_ASSIGN_OR_RETURN(product,
                          ApplyAt(Function::kMul, {product, value}, division, syntax.range));
  }
  return product;
}

absl::StatusOr<Term> Evaluator::CastCall(const Syntax& syntax, Division division) {
  YUBA_ASSIGN_OR_RETURN(const Term value, Evaluate(*syntax.args[0], division));
  YUBA_ASSIGN_OR_RETURN(const Term type, Evaluate(*syntax.args[1], division));
  if (type.kind != Term::kType) {
    return Error(syntax.args[1]->range, "the second argument of cast is a type, such as f32");
  }
  if (value.kind == Term::kType) return Error(syntax.args[0]->range, "a type is no value");
  return ExprTerm(Cast(value, type.type), type.type);
}

absl::StatusOr<Term> Evaluator::Read(const Syntax& read, const Syntax* /*outside*/) {
  return Error(read.range, "a tensor cannot be read here");
}

absl::StatusOr<Term> Evaluator::Reduce(const Syntax& reduce) {
  return Error(reduce.range, "a reduction cannot stand here");
}

absl::StatusOr<Term> Evaluator::Random(const Syntax& random) {
  return Error(random.range, "a random number cannot stand here");
}

}  // namespace yuba
