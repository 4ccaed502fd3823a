#include "opsemantics/language/expression_check.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/element_type.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/functions.h"

namespace yuba {

// An expression of extents, attributes and lets only.
absl::Status ExpressionChecker::Static(const Syntax& syntax, bool zip, bool pack_allowed) {
  if (syntax.kind == Syntax::kPack && (pack_allowed || zip))
    return Pack(syntax, /*is_static=*/true);
  return Expression(syntax, zip, /*is_static=*/true);
}

absl::Status ExpressionChecker::Expression(const Syntax& syntax, bool zip, bool is_static) {
  switch (syntax.kind) {
    case Syntax::kNumber: return absl::OkStatus();
    case Syntax::kName: return Name(syntax, zip, is_static);
    case Syntax::kPack:
      return symbols_.Error(syntax.range,
                            "a pack cannot stand here; a value is one number: reduce over the "
                            "pack, or take its size(...)");
    case Syntax::kFactors:
      for (const SyntaxPtr& factor : syntax.args) {
        YUBA_RETURN_IF_ERROR(Expression(*factor, zip, is_static));
      }
      return absl::OkStatus();
    case Syntax::kRead: return Read(syntax, zip, is_static);
    case Syntax::kReduce:
      if (is_static) return NotStatic(syntax);
      return Reduce(syntax, zip);
    case Syntax::kCall: return Call(syntax, zip, is_static);
    case Syntax::kElse:
    case Syntax::kNegate:
    case Syntax::kBinary:
    case Syntax::kIf:
      for (const SyntaxPtr& arg : syntax.args) {
        YUBA_RETURN_IF_ERROR(Expression(*arg, zip, is_static));
      }
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status ExpressionChecker::NotStatic(const Syntax& syntax) const {
  return symbols_.Error(syntax.range,
                        "only extents, attributes and lets can stand here: it must be known "
                        "before any tensor is");
}

absl::Status ExpressionChecker::Name(const Syntax& syntax, bool zip, bool is_static) const {
  if (syntax.name == "inf" || ElementTypeFromName(syntax.name)) return absl::OkStatus();
  const Symbol* symbol = symbols_.Find(syntax.name);
  if (symbol == nullptr) {
    return symbols_.Error(
        syntax.range,
        absl::StrCat("there is no index, extent or attribute named '", syntax.name, "' here"));
  }
  if (symbol->kind == Symbol::kTensor) {
    return symbols_.Error(syntax.range,
                          absl::StrCat("'", syntax.name, "' is a tensor: read an element, as ",
                                       syntax.name, "[...]"));
  }
  if (is_static && symbol->kind == Symbol::kIndex) return NotStatic(syntax);
  if (symbol->pack && !zip) {
    return symbols_.Error(syntax.range,
                          absl::StrCat("'", syntax.name, "' is a pack; write ", syntax.name,
                                       ".., or put the expression into ( ).."));
  }
  return absl::OkStatus();
}

// h.. or (expression)..
absl::Status ExpressionChecker::Pack(const Syntax& syntax, bool is_static) {
  const Syntax& element = *syntax.args[0];
  YUBA_RETURN_IF_ERROR(Expression(element, /*zip=*/true, is_static));
  bool has_pack = false;
  WalkSyntax(element, [&](const Syntax& part) {
    if (part.kind != Syntax::kName) return;
    const Symbol* symbol = symbols_.Find(part.name);
    has_pack = has_pack || (symbol != nullptr && symbol->pack);
  });
  if (has_pack) return absl::OkStatus();
  return symbols_.Error(syntax.range,
                        "'..' follows a pack or an expression with one; there is none in this");
}

absl::Status ExpressionChecker::Read(const Syntax& syntax, bool zip, bool is_static) {
  if (is_static) return NotStatic(syntax);
  const Symbol* tensor = symbols_.Find(syntax.name);
  if (tensor == nullptr || tensor->kind != Symbol::kTensor) {
    return symbols_.Error(syntax.range,
                          absl::StrCat("there is no tensor named '", syntax.name, "'"));
  }
  if (zip) {
    return symbols_.Error(syntax.range, "a tensor cannot be read inside ( )..");
  }
  const std::vector<DimForm>& dims = tensor->dims;
  if (dims.size() != syntax.args.size()) {
    return symbols_.Error(
        syntax.range,
        absl::StrCat("'", syntax.name, "' has ", dims.size(),
                     " dimensions (a pack counts once), but is read with ", syntax.args.size()));
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    const Syntax& index = *syntax.args[d];
    const bool pack = index.kind == Syntax::kPack;
    const DimForm form = FormOf(pack, pack ? *index.args[0] : index);
    if (pack != dims[d].pack || (dims[d].factors > 0 && form.factors != dims[d].factors)) {
      return symbols_.Error(
          index.range, absl::StrCat("this is ", ToString(form), ", but '", syntax.name, "' has ",
                                    ToString(dims[d]), " here"));
    }
    YUBA_RETURN_IF_ERROR(pack ? Pack(index, false) : Expression(index, false));
  }
  return absl::OkStatus();
}

absl::Status ExpressionChecker::Reduce(const Syntax& syntax, bool zip) {
  if (zip) return symbols_.Error(syntax.range, "a reduction cannot stand inside ( )..");
  std::vector<std::string> added;
  for (const IndexRange& range : syntax.ranges) {
    YUBA_RETURN_IF_ERROR(Static(*range.extent, false, /*pack_allowed=*/true));
    if ((range.extent->kind == Syntax::kPack) != range.pack) {
      return symbols_.Error(range.range,
                            "a pack of indices runs over a pack of extents, one index over one");
    }
    if (range.extent->kind == Syntax::kFactors) {
      return symbols_.Error(range.range,
                            "an index runs over one extent; give each factor an index");
    }
  }
  for (const IndexRange& range : syntax.ranges) {
    YUBA_RETURN_IF_ERROR(symbols_.AddIndex(range.name, range.pack, range.range, added));
  }
  const bool outer = std::exchange(in_condition_, true);
  for (const SyntaxPtr& condition : syntax.where) {
    for (const SyntaxPtr& side : condition->args) {
      YUBA_RETURN_IF_ERROR(side->kind == Syntax::kPack ? Pack(*side, false)
                                                       : Expression(*side, false));
    }
  }
  in_condition_ = outer;
  YUBA_RETURN_IF_ERROR(Expression(*syntax.args[0], false));
  symbols_.Remove(added);
  return absl::OkStatus();
}

absl::Status ExpressionChecker::Call(const Syntax& syntax, bool zip, bool is_static) {
  if (syntax.name == "size" || syntax.name == "flat") {
    if (syntax.args.size() != 1 || syntax.args[0]->kind != Syntax::kPack) {
      return symbols_.Error(
          syntax.range, absl::StrCat(syntax.name, " takes one pack, as ", syntax.name, "(h..)"));
    }
    return Pack(*syntax.args[0], is_static);
  }
  if (syntax.name == "rand") return Random(syntax, zip, is_static);
  const FunctionFacts* info = FindFunction(syntax.name);
  if (info == nullptr) {
    return symbols_.Error(syntax.range, absl::StrCat("there is no function '", syntax.name, "'"));
  }
  const int given = static_cast<int>(syntax.args.size());
  const bool many = info->function == Function::kMin || info->function == Function::kMax;
  if (given != info->arity() && !(many && given > info->arity())) {
    return symbols_.Error(syntax.range, absl::StrCat(syntax.name, " takes ", info->arity(),
                                                     " arguments, not ", given));
  }
  for (const SyntaxPtr& arg : syntax.args) {
    YUBA_RETURN_IF_ERROR(Expression(*arg, zip, is_static));
  }
  return absl::OkStatus();
}

// rand() or rand(n).
absl::Status ExpressionChecker::Random(const Syntax& syntax, bool zip, bool is_static) {
  if (is_static) return NotStatic(syntax);
  if (zip || in_condition_) {
    return symbols_.Error(syntax.range,
                          "a random number is the value of an element: give it a definition of its "
                          "own, as r[i..] = rand(), and read that");
  }
  if (syntax.args.size() > 1) {
    return symbols_.Error(syntax.range, absl::StrCat("rand takes a number that tells uses apart, "
                                                     "or nothing, not ",
                                                     syntax.args.size(), " arguments"));
  }
  return syntax.args.empty() ? absl::OkStatus() : Static(*syntax.args[0], zip);
}

}  // namespace yuba
