// Which name a user may have meant.
#include "tools/report/nearest.h"

#include <catch2/catch.hpp>

namespace yuba::tools {
namespace {

TEST_CASE("the nearest name changes in the fewest characters, and in no more than a third") {
  const std::vector<std::string> names = {"--dim", "--devices", "--dump", "--memory"};
  CHECK(NearestOf("--device", names) == "--devices");
  CHECK(NearestOf("--demices", names) == "--devices");
  CHECK(NearestOf("--dmi", names) == "--dim");
  CHECK(NearestOf("--memroy", names) == "--memory");
  CHECK(NearestOf("--verbose", names).empty());
  CHECK(NearestOf("x", names).empty());
  CHECK(NearestOf("", names).empty());
  CHECK(NearestOf("--dum", {"--dump", "--dumm"}) == "--dump");  // the first of equal ones
}

}  // namespace
}  // namespace yuba::tools
