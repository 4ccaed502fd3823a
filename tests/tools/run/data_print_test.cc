// Data is known again by a sample of it, which reaches from its first byte to its last.
#include "tools/run/data/data_print.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba::tools {
namespace {

std::string Print(const std::string& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
  const auto length = static_cast<int64_t>(bytes.size());
  const auto reader = RangeReader::Open({file, 0, length, length});
  REQUIRE_THAT(reader, IsOk());
  const auto print = PrintOf({ElementType::kU8, {length}, -1}, *reader);
  REQUIRE_THAT(print, IsOk());
  return *print;
}

TEST_CASE("the print of large data changes with its first byte and with its last") {
  const std::string file = ScratchFolder("data_print") + "/data";
  for (const int more : {0, 1, 14, 15, 29}) {
    INFO(more);
    std::string bytes((3 << 20) + more, 'a');
    const std::string print = Print(file, bytes);
    CHECK(print == Print(file, bytes));
    bytes.back() = 'b';
    CHECK(print != Print(file, bytes));
    bytes.back() = 'a';
    bytes.front() = 'b';
    CHECK(print != Print(file, bytes));
  }
}

}  // namespace
}  // namespace yuba::tools
