// Makes text safe to print: names come from files, and a terminal would obey the control characters
// in them.
#ifndef YUBA_TOOLS_REPORT_PRINTABLE_H_
#define YUBA_TOOLS_REPORT_PRINTABLE_H_

#include <ostream>
#include <streambuf>
#include <string>

#include "absl/strings/string_view.h"

namespace yuba::tools {

// `text` in which control characters, characters that turn the direction of writing, and ends of
// lines stand as JSON writes them: \u001b, \u202e. Text that is JSON means the same afterwards.
std::string Printable(absl::string_view text);

// `text` as the text or a quoted attribute of an HTML page.
std::string HtmlText(absl::string_view text);

// While a PrintableStream exists, all that is written to `stream` is made printable, except tabs
// and ends of lines. It must be destroyed before `stream`.
class PrintableStream : public std::streambuf {
 public:
  explicit PrintableStream(std::ostream& stream) : stream_(stream), to_(stream.rdbuf(this)) {}
  ~PrintableStream() override;
  PrintableStream(const PrintableStream&) = delete;

 protected:
  int overflow(int c) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;

 private:
  bool Write(absl::string_view text, bool last);

  std::ostream& stream_;
  std::streambuf* to_;
  std::string begun_;  // the first bytes of a character
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_PRINTABLE_H_
