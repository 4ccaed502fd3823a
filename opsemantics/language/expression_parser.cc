#include "opsemantics/language/expression_parser.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/definition.h"

namespace yuba {
namespace {

constexpr int kDeepest = 200;  // nesting of an expression

bool IsReducer(absl::string_view name) {
  return FindReducer(name).value_or(Reducer::kNone) != Reducer::kNone;
}

// Words that end or continue an expression, and so are not names inside expressions.
const std::set<absl::string_view>& Words() {
  static const auto* const words =
      new std::set<absl::string_view>{"if", "then", "else", "where", "op", "opaque"};
  return *words;
}

}  // namespace

const Token& ExpressionParser::Peek(int ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

bool ExpressionParser::Is(absl::string_view text, int ahead) const {
  const Token& token = Peek(ahead);
  return token.kind != Token::kEnd && token.text == text;
}

Token ExpressionParser::Take() {
  const Token token = Peek(0);
  if (!AtEnd()) ++at_;
  return token;
}

bool ExpressionParser::TakeIf(absl::string_view symbol) {
  if (!Is(symbol)) return false;
  Take();
  return true;
}

absl::Status ExpressionParser::Expect(absl::string_view symbol) {
  if (TakeIf(symbol)) return absl::OkStatus();
  return Error(absl::StrCat("expected '", symbol, "', found ", Found()));
}

absl::StatusOr<std::string> ExpressionParser::Name(absl::string_view what) {
  if (!PeekIsName(0) || Words().count(Peek(0).text) != 0) {
    return Error(absl::StrCat("expected ", what, ", found ", Found()));
  }
  return std::string(Take().text);
}

absl::Status ExpressionParser::Error(absl::string_view message) const {
  return SourceError(*source_, Here(), message);
}

std::string ExpressionParser::Found() const {
  return AtEnd() ? "the end of the file" : absl::StrCat("'", Peek(0).text, "'");
}

std::string ExpressionParser::CommentAbove() const {
  const absl::string_view before = absl::string_view(source_->text).substr(0, Position());
  std::vector<absl::string_view> lines = absl::StrSplit(before, '\n');
  lines.pop_back();  // the line of the token itself
  std::vector<absl::string_view> comment;
  while (!lines.empty() && absl::ConsumePrefix(&lines.back(), "#")) {
    comment.push_back(absl::StripPrefix(lines.back(), " "));
    lines.pop_back();
  }
  std::string result;
  for (auto line = comment.rbegin(); line != comment.rend(); ++line) {
    absl::StrAppend(&result, result.empty() ? "" : "\n", *line);
  }
  return result;
}

absl::StatusOr<SyntaxPtr> ExpressionParser::Finish(Syntax syntax, int begin) {
  syntax.range = {begin, LastEnd()};
  int depth = 0;
  for (const SyntaxPtr& arg : syntax.args) depth = std::max(depth, arg->depth);
  for (const IndexRange& range : syntax.ranges) depth = std::max(depth, range.extent->depth);
  for (const SyntaxPtr& condition : syntax.where) depth = std::max(depth, condition->depth);
  syntax.depth = depth + 1;
  if (syntax.depth > kDeepest) {
    return SourceError(*source_, syntax.range,
                       "this is nested too deeply; give a part of it a definition of its own");
  }
  return SyntaxPtr(std::make_shared<const Syntax>(std::move(syntax)));
}

absl::StatusOr<SyntaxPtr> ExpressionParser::Expression() {
  if (nesting_ > kDeepest) return Error("this is nested too deeply");
  ++nesting_;
  absl::StatusOr<SyntaxPtr> result = Is("if") ? If() : Compare();
  --nesting_;
  return result;
}

absl::StatusOr<SyntaxPtr> ExpressionParser::If() {
  const int begin = Position();
  Take();
  Syntax syntax;
  syntax.kind = Syntax::kIf;
  for (const char* next : {"then", "else", ""}) {
    YUBA_ASSIGN_OR_RETURN(SyntaxPtr part, Expression());
    syntax.args.push_back(std::move(part));
    if (*next != '\0') YUBA_RETURN_IF_ERROR(Expect(next));
  }
  return Finish(std::move(syntax), begin);
}

absl::StatusOr<SyntaxPtr> ExpressionParser::Compare() {
  const int begin = Position();
  YUBA_ASSIGN_OR_RETURN(SyntaxPtr left, Sum());
  if (!Is("==") && !Is("!=") && !Is("<=") && !Is("<")) return left;
  Syntax syntax;
  syntax.kind = Syntax::kBinary;
  syntax.name = std::string(Take().text);
  YUBA_ASSIGN_OR_RETURN(SyntaxPtr right, Sum());
  syntax.args = {std::move(left), std::move(right)};
  return Finish(std::move(syntax), begin);
}

absl::StatusOr<SyntaxPtr> ExpressionParser::Sum() {
  const int begin = Position();
  YUBA_ASSIGN_OR_RETURN(SyntaxPtr left, Product());
  while (Is("+") || Is("-")) {
    Syntax syntax;
    syntax.kind = Syntax::kBinary;
    syntax.name = std::string(Take().text);
    YUBA_ASSIGN_OR_RETURN(SyntaxPtr right, Product());
    syntax.args = {std::move(left), std::move(right)};
    YUBA_ASSIGN_OR_RETURN(left, Finish(std::move(syntax), begin));
  }
  return left;
}

absl::StatusOr<SyntaxPtr> ExpressionParser::Product() {
  const int begin = Position();
  YUBA_ASSIGN_OR_RETURN(SyntaxPtr left, Unary());
  while (Is("*") || Is("/")) {
    Syntax syntax;
    syntax.kind = Syntax::kBinary;
    syntax.name = std::string(Take().text);
    YUBA_ASSIGN_OR_RETURN(SyntaxPtr right, Unary());
    syntax.args = {std::move(left), std::move(right)};
    YUBA_ASSIGN_OR_RETURN(left, Finish(std::move(syntax), begin));
  }
  return left;
}

absl::StatusOr<SyntaxPtr> ExpressionParser::Unary() {
  if (nesting_ > kDeepest) return Error("this is nested too deeply");
  ++nesting_;
  absl::StatusOr<SyntaxPtr> result;
  const int begin = Position();
  if (TakeIf("-")) {
    Syntax syntax;
    syntax.kind = Syntax::kNegate;
    result = Unary();
    if (result.ok()) {
      syntax.args = {*std::move(result)};
      result = Finish(std::move(syntax), begin);
    }
  } else {
    result = AtReducer() ? Reduce() : Primary();
  }
  --nesting_;
  return result;
}

// max(j: n) ... is a reducer, max(x, 0) is a call.
bool ExpressionParser::AtReducer() const {
  return IsReducer(Peek(0).text) && Is("(", 1) && PeekIsName(2) &&
         (Is(":", 3) || (Is("..", 3) && Is(":", 4)));
}

absl::StatusOr<SyntaxPtr> ExpressionParser::Reduce() {
  const int begin = Position();
  Syntax syntax;
  syntax.kind = Syntax::kReduce;
  syntax.name = std::string(Take().text);
  YUBA_RETURN_IF_ERROR(Expect("("));
  do {
    IndexRange range;
    const int range_begin = Position();
    YUBA_ASSIGN_OR_RETURN(range.name, Name("a reduction index"));
    range.pack = TakeIf("..");
    YUBA_RETURN_IF_ERROR(Expect(":"));
    YUBA_ASSIGN_OR_RETURN(range.extent, Extent());
    range.range = {range_begin, LastEnd()};
    syntax.ranges.push_back(std::move(range));
  } while (TakeIf(","));
  if (TakeIf("where")) {
    do {
      YUBA_ASSIGN_OR_RETURN(SyntaxPtr condition, Compare());
      if (condition->kind != Syntax::kBinary || condition->name == "!=" ||
          (condition->name != "==" && condition->name != "<=" && condition->name != "<")) {
        return SourceError(*source_, condition->range,
                           "a condition of 'where' is 'a == b', 'a <= b' or 'a < b'");
      }
      syntax.where.push_back(std::move(condition));
    } while (TakeIf(","));
  }
  YUBA_RETURN_IF_ERROR(Expect(")"));
  YUBA_ASSIGN_OR_RETURN(SyntaxPtr body, Product());
  syntax.args = {std::move(body)};
  return Finish(std::move(syntax), begin);
}

absl::StatusOr<SyntaxPtr> ExpressionParser::Primary() {
  const Token& token = Peek(0);
  if (token.kind == Token::kInteger || token.kind == Token::kReal) return Number();
  if (token.kind == Token::kName) return Named();
  if (Is("(")) return Parenthesised();
  return Error(absl::StrCat("expected an expression, found ", Found()));
}

absl::StatusOr<SyntaxPtr> ExpressionParser::Number() {
  const int begin = Position();
  const Token token = Take();
  Syntax syntax;
  syntax.kind = Syntax::kNumber;
  syntax.is_integer = token.kind == Token::kInteger;
  if (syntax.is_integer) {
    if (!absl::SimpleAtoi(token.text, &syntax.integer)) {
      return SourceError(*source_, token.range, "this integer does not fit 64 bits");
    }
    syntax.number = static_cast<double>(syntax.integer);
  } else if (!absl::SimpleAtod(token.text, &syntax.number) ||
             syntax.number == std::numeric_limits<double>::infinity()) {
    return SourceError(*source_, token.range, "this number does not fit a double; write inf");
  }
  return Finish(std::move(syntax), begin);
}

// NAME, NAME', NAME.., NAME[...], NAME(...).
absl::StatusOr<SyntaxPtr> ExpressionParser::Named() {
  const int begin = Position();
  Syntax syntax;
  YUBA_ASSIGN_OR_RETURN(syntax.name, Name("an expression"));
  const bool primed = TakeIf("'");
  if (primed) syntax.name += "'";
  if (TakeIf("[")) {
    syntax.kind = Syntax::kRead;
    if (!Is("]")) {
      do {
        YUBA_ASSIGN_OR_RETURN(SyntaxPtr index, IndexOrExpression());
        syntax.args.push_back(std::move(index));
      } while (TakeIf(","));
    }
    YUBA_RETURN_IF_ERROR(Expect("]"));
    return Finish(std::move(syntax), begin);
  }
  if (primed) return Error("the next value of a state is a tensor: expected '['");
  if (TakeIf("(")) {
    syntax.kind = Syntax::kCall;
    if (!Is(")")) {
      do {
        YUBA_ASSIGN_OR_RETURN(SyntaxPtr arg, Expression());
        syntax.args.push_back(std::move(arg));
      } while (TakeIf(","));
    }
    YUBA_RETURN_IF_ERROR(Expect(")"));
    return Finish(std::move(syntax), begin);
  }
  syntax.kind = Syntax::kName;
  YUBA_ASSIGN_OR_RETURN(SyntaxPtr name, Finish(std::move(syntax), begin));
  return MaybePack(std::move(name), begin);
}

// (x[...] else v), (expr), (expr)..
absl::StatusOr<SyntaxPtr> ExpressionParser::Parenthesised() {
  const int begin = Position();
  YUBA_RETURN_IF_ERROR(Expect("("));
  YUBA_ASSIGN_OR_RETURN(SyntaxPtr inner, Expression());
  if (Is("else")) {
    if (inner->kind != Syntax::kRead) {
      return Error("'else' outside an 'if' follows a read, as in (x[i - 1] else 0)");
    }
    Take();
    Syntax syntax;
    syntax.kind = Syntax::kElse;
    YUBA_ASSIGN_OR_RETURN(SyntaxPtr outside, Expression());
    syntax.args = {std::move(inner), std::move(outside)};
    YUBA_RETURN_IF_ERROR(Expect(")"));
    return Finish(std::move(syntax), begin);
  }
  YUBA_RETURN_IF_ERROR(Expect(")"));
  return MaybePack(std::move(inner), begin);
}

absl::StatusOr<SyntaxPtr> ExpressionParser::MaybePack(SyntaxPtr syntax, int begin) {
  if (!TakeIf("..")) return syntax;
  Syntax pack;
  pack.kind = Syntax::kPack;
  pack.args = {std::move(syntax)};
  return Finish(std::move(pack), begin);
}

bool ExpressionParser::AtFactors() const {
  const auto factor = [this](int ahead) {
    const Token& token = Peek(ahead);
    return token.kind == Token::kInteger ||
           (token.kind == Token::kName && Words().count(token.text) == 0);
  };
  return Is("(") && factor(1) && factor(2);
}

absl::StatusOr<SyntaxPtr> ExpressionParser::Factors() {
  const int begin = Position();
  Syntax factors;
  factors.kind = Syntax::kFactors;
  YUBA_RETURN_IF_ERROR(Expect("("));
  while (!TakeIf(")")) {
    const int factor_begin = Position();
    if (Peek(0).kind == Token::kInteger) {
      YUBA_ASSIGN_OR_RETURN(SyntaxPtr factor, Number());
      factors.args.push_back(std::move(factor));
      continue;
    }
    Syntax factor;
    factor.kind = Syntax::kName;
    YUBA_ASSIGN_OR_RETURN(factor.name, Name("a factor (a name or an integer) or ')'"));
    YUBA_ASSIGN_OR_RETURN(SyntaxPtr finished, Finish(std::move(factor), factor_begin));
    factors.args.push_back(std::move(finished));
  }
  YUBA_ASSIGN_OR_RETURN(SyntaxPtr syntax, Finish(std::move(factors), begin));
  return MaybePack(std::move(syntax), begin);
}

absl::StatusOr<SyntaxPtr> ExpressionParser::Extent() { return AtFactors() ? Factors() : Sum(); }

absl::StatusOr<SyntaxPtr> ExpressionParser::IndexOrExpression() {
  return AtFactors() ? Factors() : Expression();
}

}  // namespace yuba
