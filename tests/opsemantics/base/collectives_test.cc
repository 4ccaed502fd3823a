#include "opsemantics/base/collectives.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

namespace yuba {
namespace {

struct Example {
  std::vector<Box> from, to;
  std::set<int> partials;
};

// The first row of the table that the group matches, "" where none does.
std::string FirstMatch(const Example& example) {
  CollectiveSides sides;
  for (const Box& box : example.from) sides.from.push_back(&box);
  for (const Box& box : example.to) sides.to.push_back(&box);
  sides.partials = example.partials;
  for (const Collective& row : Collectives()) {
    if (row.combines == !sides.partials.empty() && row.matches(sides)) return row.name;
  }
  return "";
}

const Box kAll = {{0, 8}}, kLow = {{0, 4}}, kHigh = {{4, 8}}, kNone = {{8, 8}};

// One group of two devices for each row of the table.
const std::map<std::string, Example> kExamples = {
    {"all_gather", {{kLow, kHigh}, {kAll, kAll}, {}}},
    {"permute", {{kLow, kHigh}, {kHigh, kLow}, {}}},
    {"all_to_all", {{{{0, 3}}, {{3, 8}}}, {kLow, kHigh}, {}}},
    {"reduce_scatter", {{kAll, kAll}, {kLow, kHigh}, {0, 1}}},
    {"all_reduce", {{kAll, kAll}, {kAll, kAll}, {0, 1}}},
};

TEST_CASE("every collective matches its example, and no row before it does") {
  REQUIRE(kExamples.size() == Collectives().size());
  for (const auto& [name, example] : kExamples) CHECK(FirstMatch(example) == name);
}

TEST_CASE("what is no collective matches no row") {
  CHECK(FirstMatch({{kLow, kLow}, {kAll, kAll}, {}}).empty());   // nobody has the upper half
  CHECK(FirstMatch({{kAll, kLow}, {kAll, kAll}, {}}).empty());   // two have the lower half
  CHECK(FirstMatch({{kLow, kHigh}, {kAll, kLow}, {}}).empty());  // the halves have unequal readers
  CHECK(FirstMatch({{kAll, kAll}, {kLow, kLow}, {0, 1}}).empty());   // nobody has the upper sums
  CHECK(FirstMatch({{kAll, kAll}, {kLow, kHigh}, {0}}).empty());     // both wrote one partial
  CHECK(FirstMatch({{kAll, kLow}, {kLow, kHigh}, {0, 1}}).empty());  // a partial lacks elements
}

TEST_CASE("uneven and empty boxes match too") {
  CHECK(FirstMatch({{{{0, 7}}, {{7, 8}}}, {kAll, kAll}, {}}) == "all_gather");
  CHECK(FirstMatch({{kAll, kNone}, {kAll, kAll}, {}}) == "all_gather");
}

TEST_CASE("names and numbers of collectives name each other") {
  int number = 0;
  CHECK(CollectiveName(0) == "plain");
  CHECK(CollectiveNumber("plain") == 0);
  for (const Collective& row : Collectives()) {
    CHECK(CollectiveNumber(row.name) == ++number);
    CHECK(CollectiveAt(number) == &row);
    CHECK(CollectiveName(number) == row.name);
  }
  CHECK(CollectiveNumber("broadcasting") == -1);
  CHECK(CollectiveAt(-1) == nullptr);
  CHECK(CollectiveAt(0) == nullptr);
  CHECK(CollectiveAt(number + 1) == nullptr);
}

}  // namespace
}  // namespace yuba
