#include "opsemantics/language/source.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace yuba {
namespace {

constexpr int kLongestLine = 160;  // of what is shown of a line

// Control characters and broken UTF-8 in a user's file must not reach the terminal.
std::string Printable(absl::string_view text) {
  std::string result;
  for (unsigned char c : text) result += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : ' ';
  return result;
}

}  // namespace

SourceRange Join(const SourceRange& a, const SourceRange& b) {
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

absl::Status SourceError(const Source& source, const SourceRange& range,
                         absl::string_view message) {
  const absl::string_view text = source.text;
  const int size = static_cast<int>(text.size());
  const int begin = std::min(std::max(range.begin, 0), size);
  int line_begin = begin;
  while (line_begin > 0 && text[line_begin - 1] != '\n') --line_begin;
  int line_end = begin;
  while (line_end < size && text[line_end] != '\n') ++line_end;
  const auto line = 1 + std::count(text.begin(), text.begin() + line_begin, '\n');
  const int end = std::max(std::min(range.end, line_end), begin + 1);

  // Only the neighbourhood of the place is shown of a very long line.
  int from = line_begin;
  if (begin - line_begin > kLongestLine / 2) from = begin - kLongestLine / 2;
  const int to = std::min(line_end, from + kLongestLine);
  const int carets = std::max(1, std::min(end, to) - begin);
  return absl::InvalidArgumentError(
      absl::StrCat(source.file, ":", line, ":", begin - line_begin + 1, ": ", message, "\n  ",
                   Printable(text.substr(from, to - from)), "\n  ", std::string(begin - from, ' '),
                   "^", std::string(carets - 1, '~')));
}

}  // namespace yuba
