#include "tools/report/printable.h"

#include <cstdint>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace yuba::tools {
namespace {

// How many bytes the UTF-8 character has that begins with `c`; 1 where none begins with it.
size_t LengthOf(unsigned char c) {
  if (c >= 0xC2 && c < 0xE0) return 2;
  if (c >= 0xE0 && c < 0xF0) return 3;
  return c >= 0xF0 && c < 0xF5 ? 4 : 1;
}

// Whether a terminal would obey the character instead of showing it.
bool Commands(uint32_t character, bool keep_lines) {
  if (keep_lines && (character == '\n' || character == '\t')) return false;
  const bool control = character < 0x20 || (character >= 0x7F && character < 0xA0);
  const bool direction = character == 0x200E || character == 0x200F || character == 0x061C ||
                         (character >= 0x202A && character <= 0x202E) ||
                         (character >= 0x2066 && character <= 0x2069);
  return control || direction || character == 0x2028 || character == 0x2029;
}

// Appends the printable form of `text`; returns how many bytes at its end are an unfinished
// character.
size_t Append(absl::string_view text, bool keep_lines, std::string* out) {
  for (size_t at = 0; at < text.size();) {
    const unsigned char first = static_cast<unsigned char>(text[at]);
    const size_t length = LengthOf(first);
    if (at + length > text.size()) return text.size() - at;
    uint32_t character = length == 1 ? first : first & (0xFF >> (length + 1));
    bool whole = length > 1 || first < 0x80;
    for (size_t i = 1; i < length; ++i) {
      const unsigned char next = static_cast<unsigned char>(text[at + i]);
      whole = whole && (next & 0xC0) == 0x80;
      character = character << 6 | (next & 0x3F);
    }
    // What is no character is passed on byte by byte: the next may be one again.
    const size_t taken = whole ? length : 1;
    if (whole && Commands(character, keep_lines))
      absl::StrAppendFormat(out, "\\u%04x", character);
    else
      out->append(text.data() + at, taken);
    at += taken;
  }
  return 0;
}

}  // namespace

std::string Printable(absl::string_view text) {
  std::string printable;
  const size_t left = Append(text, false, &printable);
  return printable.append(text.data() + text.size() - left, left);
}

std::string HtmlText(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

PrintableStream::~PrintableStream() {
  Write("", true);
  stream_.rdbuf(to_);
}

bool PrintableStream::Write(absl::string_view text, bool last) {
  begun_.append(text.data(), text.size());
  std::string printable;
  const size_t left = Append(begun_, true, &printable);
  if (last) printable += begun_.substr(begun_.size() - left);
  begun_.erase(0, last ? begun_.size() : begun_.size() - left);
  const auto count = static_cast<std::streamsize>(printable.size());
  return to_->sputn(printable.data(), count) == count;
}

int PrintableStream::overflow(int c) {
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  const char byte = traits_type::to_char_type(c);
  return Write(absl::string_view(&byte, 1), false) ? c : traits_type::eof();
}

std::streamsize PrintableStream::xsputn(const char* text, std::streamsize count) {
  return Write(absl::string_view(text, static_cast<size_t>(count)), false) ? count : 0;
}

int PrintableStream::sync() { return to_->pubsync(); }

}  // namespace yuba::tools
