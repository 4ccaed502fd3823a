// When a launch gives a device up, and which GPUs its ranks have then.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tools/launch/gpus.h"
#include "tools/launch/when_to_give_up.h"

namespace yuba::tools {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("a rank that is lost twice without a step in between is given up") {
  PastEnds past;
  CHECK_FALSE(past.GivesUp({1, true, true}));
  CHECK(past.GivesUp({1, false, false}));
  CHECK_FALSE(past.GivesUp({1, false, false}));  // other devices: counting begins anew
  CHECK(past.GivesUp({1, false, false}));
}

TEST_CASE("one that finishes steps in between is not, however often it is lost") {
  PastEnds past;
  for (int i = 0; i < 100; ++i) CHECK_FALSE(past.GivesUp({0, true, true}));
}

TEST_CASE("starts that get no further than those before them do not go on for ever") {
  PastEnds past;
  CHECK_FALSE(past.GivesUp({0, true, true}));
  CHECK_FALSE(past.GivesUp({0, true, false}));  // steps that were done before
  CHECK(past.GivesUp({0, true, false}));
  CHECK_FALSE(past.GivesUp({0, false, false}));
  CHECK(past.GivesUp({1, false, false}));  // another rank, but nothing is gained
  PastEnds alternating;
  CHECK_FALSE(alternating.GivesUp({0, true, true}));
  CHECK_FALSE(alternating.GivesUp({2, false, false}));
  CHECK_FALSE(alternating.GivesUp({0, true, true}));
}

TEST_CASE("an end that names no rank counts as that of the same one") {
  PastEnds past;
  CHECK_FALSE(past.GivesUp({-1, true, true}));
  CHECK(past.GivesUp({-1, false, false}));
}

TEST_CASE("the GPU of a rank is left out, and those that are gone") {
  Gpus gpus({"a", "b", "c", "d"});
  gpus.KeepThose({"a", "b", "c", "d"});
  CHECK(gpus.Visible().empty());  // nothing is set as long as nothing is left out
  gpus.GiveUp(1, 4);
  CHECK(gpus.usable() == Names{"a", "c", "d"});
  CHECK(gpus.Visible() == "a,c,d");
  gpus.KeepThose({"d", "b", "a"});
  CHECK(gpus.Visible() == "a,d");
  gpus.GiveUp(-1, 2);
  CHECK(gpus.Visible() == "a");
  gpus.GiveUp(7, 8);
  gpus.GiveUp(0, 1);
  CHECK(gpus.usable().empty());
  Gpus more({"a", "b", "c"});  // of which the last one is not in use
  more.GiveUp(-1, 2);
  CHECK(more.usable() == Names{"a", "c"});
}

}  // namespace
}  // namespace yuba::tools
