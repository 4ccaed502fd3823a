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

TEST_CASE("sizes and counts have prefixes up to exa") {
  CHECK(Bytes(312) == "312 B");
  CHECK(Bytes(4104) == "4.1 kB");
  CHECK(Bytes(8657000000) == "8657.0 MB");
  CHECK(Bytes(12340000000) == "12.3 GB");
  CHECK(Bytes(95732800000000000) == "95.7 PB");
  CHECK(Bytes(INT64_MAX) == "9.2 EB");
  CHECK(Count(999) == "999 ");
  CHECK(Count(9.5e12) == "9500.0 G");
  CHECK(Count(1.5e13) == "15.0 T");
  CHECK(Count(9223372036854775807.0) == "9.2 E");
  CHECK(CountedShortly(1500000000000000, "parameter") == "1.5 P parameters");
}

TEST_CASE("the cells of a table have one unit, which the largest decides") {
  const ByteUnit kilo(28704), mega(1200000), bytes(312);
  CHECK(kilo.name() == "kB");
  CHECK(kilo.Text(28704) == "28.7");
  CHECK(kilo.Text(0) == "–");
  CHECK(kilo.Text(50) == "0.1");
  CHECK(kilo.Text(49) == "<0.1");
  CHECK(mega.name() == "MB");
  CHECK(mega.Text(1200000) == "1.20");
  CHECK(mega.Text(4999) == "<0.01");
  CHECK(bytes.name() == "B");
  CHECK(bytes.Text(1) == "1");
}

}  // namespace
}  // namespace yuba::tools
