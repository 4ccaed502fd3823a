// The rules of the grammar (opsemantics/README.md) that are expressions, and the token stream that
// all rules use; Parser (parser.cc) derives from this class and adds the other rules. One function
// for each rule; each returns a tree or an error that underlines the token that does not fit.
// Nesting is bounded, so that no text can exhaust the stack here or in whatever walks the tree
// later.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_EXPRESSION_PARSER_H_
#define YUBA_OPSEMANTICS_LANGUAGE_EXPRESSION_PARSER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/language/ast.h"
#include "opsemantics/language/lexer.h"

namespace yuba {

class ExpressionParser {
 public:
  ExpressionParser(SourcePtr source, std::vector<Token> tokens)
      : source_(std::move(source)), tokens_(std::move(tokens)) {}

 protected:
  // The token stream.
  const SourcePtr& source() const { return source_; }
  const Token& Peek(int ahead) const;
  bool PeekIsName(int ahead) const { return Peek(ahead).kind == Token::kName; }
  bool AtEnd() const { return Peek(0).kind == Token::kEnd; }
  bool Is(absl::string_view text, int ahead = 0) const;
  Token Take();
  bool TakeIf(absl::string_view symbol);
  absl::Status Expect(absl::string_view symbol);
  absl::StatusOr<std::string> Name(absl::string_view what);  // takes a name; `what` is for messages
  absl::Status Error(absl::string_view message) const;       // at the next token
  std::string Found() const;                                 // "'='", "the end of the file"
  SourceRange Here() const { return Peek(0).range; }
  int Position() const { return Peek(0).range.begin; }
  int LastEnd() const { return at_ == 0 ? 0 : tokens_[at_ - 1].range.end; }
  std::string CommentAbove() const;  // the lines of comment right above the next token

  // Rules.
  absl::StatusOr<SyntaxPtr> Expression();
  absl::StatusOr<SyntaxPtr> Extent();             // of a dimension: factors, or a sum, maybe a pack
  absl::StatusOr<SyntaxPtr> IndexOrExpression();  // of a read: factors, or an expression
  bool AtFactors() const;                         // "(" followed by two names or integers

 private:
  absl::StatusOr<SyntaxPtr> If();
  absl::StatusOr<SyntaxPtr> Compare();
  absl::StatusOr<SyntaxPtr> Sum();
  absl::StatusOr<SyntaxPtr> Product();
  absl::StatusOr<SyntaxPtr> Unary();
  absl::StatusOr<SyntaxPtr> Reduce();
  absl::StatusOr<SyntaxPtr> Primary();
  absl::StatusOr<SyntaxPtr> Number();
  absl::StatusOr<SyntaxPtr> Named();
  absl::StatusOr<SyntaxPtr> Parenthesised();
  absl::StatusOr<SyntaxPtr> Factors();
  bool AtReducer() const;
  absl::StatusOr<SyntaxPtr> MaybePack(SyntaxPtr syntax, int begin);

  // The tree as a shared value, with its range (from `begin` to the last token) and its depth.
  absl::StatusOr<SyntaxPtr> Finish(Syntax syntax, int begin);

  SourcePtr source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_EXPRESSION_PARSER_H_
