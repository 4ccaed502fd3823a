// What is printed: names come from files, and a terminal would obey the control characters in them.
#ifndef YUBA_TOOLS_REPORT_PRINTABLE_H_
#define YUBA_TOOLS_REPORT_PRINTABLE_H_

#include <ostream>
#include <streambuf>
#include <string>

#include "absl/strings/string_view.h"

namespace yuba::tools {

// `text` with control characters, those that turn the direction of writing, and the ends of lines
// as JSON writes them: \u001b, \u202e. JSON stays what it was.
std::string Printable(absl::string_view text);

// While there is one, all that is written to `stream` is made printable but for tabs and the ends
// of lines.
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
