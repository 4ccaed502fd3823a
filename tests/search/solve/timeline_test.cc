#include "search/solve/timeline.h"

#include <catch2/catch.hpp>
#include <vector>

namespace yuba::search {
namespace {

TEST_CASE("times are rows, and prices belong to the row at their time or before it") {
  const Timeline times({9, 0, 4, 9});
  REQUIRE(times.rows() == 3);
  CHECK(times.time(1) == 4);
  CHECK(times.RowAt(-1) == 0);
  CHECK(times.RowAt(4) == 1);
  CHECK(times.RowAt(5) == 2);
  CHECK(times.RowAt(10) == 3);
  const std::vector<MemoryPrice> prices = {{-1, 1000}, {4, 8}, {6, 16}, {20, 40}};
  CHECK(times.PricesByRow(prices, 0.5, 4) == std::vector<double>{0, 3, 5});
  CHECK(Timeline().PricesByRow(prices, 1, 4).empty());
}

TEST_CASE("sums before rows give the sum of any rows") {
  const std::vector<double> sums = SumsBefore({1, 2, 4});
  CHECK(sums == std::vector<double>{0, 1, 3, 7});
}

}  // namespace
}  // namespace yuba::search
