#include "search/price_model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace yuba {
namespace {

double ModelAt(const std::vector<PriceLine>& lines, const std::vector<double>& prices) {
  double least = std::numeric_limits<double>::max();
  for (const PriceLine& line : lines) least = std::min(least, ValueAt(line, prices));
  return least;
}

double ObjectiveAt(const std::vector<PriceLine>& lines, const std::vector<double>& center,
                   double step, const std::vector<double>& prices) {
  double square = 0;
  for (size_t row = 0; row < center.size(); ++row) {
    square += (prices[row] - center[row]) * (prices[row] - center[row]);
  }
  return ModelAt(lines, prices) - square / (2 * step);
}

TEST_CASE("two lines meet at the best price") {
  const PriceLine over = {100, {4}}, under = {200, {-6}};
  const ModelPrices best = BestInModel({&over, &under}, {0}, 1e3);
  CHECK(best.prices[0] == Approx(10));
  CHECK(best.value == Approx(140));
  CHECK(best.weights[0] == Approx(0.6).epsilon(1e-2));
  // Where nothing exceeds the limit, nothing has a price.
  CHECK(BestInModel({&under}, {3}, 1e3).prices[0] == 0);
}

TEST_CASE("no other prices are better, near or far") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> cost(0, 1000), excess(-60, 60), part(0, 1);
  for (int round = 0; round < 300; ++round) {
    const size_t rows = 1 + random() % 4, count = 1 + random() % 8;
    const double step = std::pow(10.0, -3 + static_cast<int>(random() % 4));
    std::vector<PriceLine> lines(count);
    std::vector<const PriceLine*> list;
    std::vector<double> center;
    for (size_t row = 0; row < rows; ++row) center.push_back(random() % 2 ? 10 * part(random) : 0);
    for (PriceLine& line : lines) {
      line.cost = cost(random);
      for (size_t row = 0; row < rows; ++row) line.excess.push_back(excess(random));
      list.push_back(&line);
    }
    const ModelPrices best = BestInModel(list, center, step);
    CHECK(best.value == Approx(ModelAt(lines, best.prices)));
    CHECK(std::accumulate(best.weights.begin(), best.weights.end(), 0.0) == Approx(1));
    CHECK(*std::min_element(best.prices.begin(), best.prices.end()) >= 0);
    const double objective = ObjectiveAt(lines, center, step, best.prices);
    for (int i = 0; i < 200; ++i) {
      std::vector<double> other = best.prices;
      const double far = std::pow(10.0, 1 - i % 5);
      for (double& price : other) price = std::max(0.0, price + far * (part(random) - 0.5));
      CAPTURE(round, rows, count, step, far);
      REQUIRE(ObjectiveAt(lines, center, step, other) <= objective + 1e-4 * std::abs(objective));
    }
  }
}

}  // namespace
}  // namespace yuba
