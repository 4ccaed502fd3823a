#include "opsemantics/language/lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace yuba {
namespace {

constexpr absl::string_view kSymbols[] = {"->", "..", "==", "!=", "<=", "<", "(", ")", "[", "]",
                                          ",",  ";",  ":",  "=",  "+",  "-", "*", "/", "'", "~"};

bool StartsName(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool ContinuesName(char c) { return absl::ascii_isalnum(c) || c == '_'; }

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source), text_(source.text) {}

  absl::StatusOr<std::vector<Token>> Run() {
    while (SkipSpace()) {
      const int begin = at_;
      const char c = text_[at_];
      if (StartsName(c)) {
        while (at_ < size() && ContinuesName(text_[at_])) ++at_;
        Emit(Token::kName, begin);
      } else if (absl::ascii_isdigit(c)) {
        Number(begin);
      } else if (!Symbol(begin)) {
        return SourceError(source_, {begin, begin + 1}, Complaint(c));
      }
    }
    Emit(Token::kEnd, size());
    return std::move(tokens_);
  }

 private:
  int size() const { return static_cast<int>(text_.size()); }

  // False at the end of the text.
  bool SkipSpace() {
    while (at_ < size()) {
      if (text_[at_] == '#') {
        while (at_ < size() && text_[at_] != '\n') ++at_;
      } else if (absl::ascii_isspace(text_[at_])) {
        ++at_;
      } else {
        return true;
      }
    }
    return false;
  }

  // 4, 0.5, 1e-5; the ".." of `4..` is no part of it.
  void Number(int begin) {
    bool real = false;
    Digits();
    if (Peek(0) == '.' && absl::ascii_isdigit(Peek(1))) {
      real = true;
      ++at_;
      Digits();
    }
    if (Peek(0) == 'e' || Peek(0) == 'E') {
      const int sign = Peek(1) == '-' || Peek(1) == '+' ? 1 : 0;
      if (absl::ascii_isdigit(Peek(1 + sign))) {
        real = true;
        at_ += 1 + sign;
        Digits();
      }
    }
    Emit(real ? Token::kReal : Token::kInteger, begin);
  }

  void Digits() {
    while (absl::ascii_isdigit(Peek(0))) ++at_;
  }

  bool Symbol(int begin) {
    for (absl::string_view symbol : kSymbols) {
      if (text_.substr(at_, symbol.size()) == symbol) {
        at_ += static_cast<int>(symbol.size());
        Emit(Token::kSymbol, begin);
        return true;
      }
    }
    return false;
  }

  static std::string Complaint(char c) {
    if (c == '>') return "there is no '>'; write the comparison the other way round, with '<'";
    if (c == '{' || c == '}')
      return "there are no braces; a description ends where the next begins";
    if (absl::ascii_isprint(c)) return absl::StrCat("'", std::string(1, c), "' means nothing here");
    return "a description is ASCII text; this byte is not";
  }

  char Peek(int ahead) const { return at_ + ahead < size() ? text_[at_ + ahead] : '\0'; }

  void Emit(Token::Kind kind, int begin) {
    tokens_.push_back({kind, text_.substr(begin, at_ - begin), {begin, at_}});
  }

  const Source& source_;
  absl::string_view text_;
  int at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

absl::StatusOr<std::vector<Token>> Tokenize(const Source& source) {
  constexpr size_t kLargestFile = 16 << 20;
  if (source.text.size() > kLargestFile) {
    return SourceError(source, {0, 1}, "the file is larger than 16 MiB, so it is no description");
  }
  return Lexer(source).Run();
}

}  // namespace yuba
