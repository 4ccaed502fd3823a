// No control character that stands in a name reaches the terminal.
#include "tools/report/printable.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

TEST_CASE("control characters are written as JSON writes them") {
  CHECK(Printable("a\x1b[31mb\n\t\x7f\r") == "a\\u001b[31mb\\u000a\\u0009\\u007f\\u000d");
  CHECK(Printable("x\u202ey\u0085\u2066") == "x\\u202ey\\u0085\\u2066");
  CHECK(Printable("Größe – 模型 🙂") == "Größe – 模型 🙂");
  CHECK(Printable("no\xff\xc3 text\xe2\x80") == "no\xff\xc3 text\xe2\x80");
}

TEST_CASE("a stream keeps its lines, however its bytes come") {
  const std::string text = "a\tb\u202ec – 模\x1b[0m\nend\xe2\x80";
  std::ostringstream whole, bytes;
  {
    const PrintableStream first(whole), second(bytes);
    whole << text;
    for (const char c : text) bytes << c << std::flush;
  }
  CHECK(whole.str() == "a\tb\\u202ec – 模\\u001b[0m\nend\xe2\x80");
  CHECK(bytes.str() == whole.str());
}

TEST_CASE("a name with an end of line breaks no table") {
  TextTable table(1);
  table.Add({"a\nb", "1"});
  table.Add({"c", "2"});
  CHECK(table.ToString() == "a\\u000ab  1\nc         2\n");
}

}  // namespace
}  // namespace yuba::tools
