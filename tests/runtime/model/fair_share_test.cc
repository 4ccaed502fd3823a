#include "runtime/model/fair_share.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/support/part.h"

namespace yuba::runtime {
namespace {

TEST_CASE("flows that leave one device share its link, and what is left over goes to the others") {
  // Links: out of 0, out of 1, into 2, into 3.
  const std::vector<double> links = {10, 10, 8, 100};
  CHECK(FairRates({{{0, 1}, {3, 1}}}, links) == std::vector<double>{10});
  CHECK(FairRates({{{0, 1}, {2, 1}}, {{0, 1}, {3, 1}}}, links) == std::vector<double>{5, 5});
  // Two into 2 get 4 each; the other that leaves 0 gets the 6 that are left.
  CHECK(FairRates({{{0, 1}, {2, 1}}, {{1, 1}, {2, 1}}, {{0, 1}, {3, 1}}}, links) ==
        std::vector<double>{4, 4, 6});
}

TEST_CASE("a flow that uses a part of a link leaves the rest to others") {
  // A device reads 3/4 of its bytes from one source and 1/4 from another.
  CHECK(FairRates({{{0, 1}, {1, 0.75}, {2, 0.25}}}, {10, 6, 6}) == std::vector<double>{8});
}

TEST_CASE("no rate can grow without a smaller one that shrinks") {
  std::mt19937 random(5);
  for (int round = 0; round < Part(600); ++round) {
    std::vector<double> links(1 + random() % 6);
    for (double& link : links) link = 1 + random() % 9;
    std::vector<LinkUse> flows(1 + random() % 8);
    for (LinkUse& flow : flows) {
      for (int link = 0; link < static_cast<int>(links.size()); ++link) {
        if (random() % 2 == 0) flow.emplace_back(link, 0.25 * (1 + random() % 8));
      }
      if (flow.empty()) flow.emplace_back(0, 1);
    }
    const std::vector<double> rates = FairRates(flows, links);
    std::vector<double> used(links.size());
    for (size_t f = 0; f < flows.size(); ++f) {
      for (const auto& [link, share] : flows[f]) used[link] += share * rates[f];
    }
    for (size_t link = 0; link < links.size(); ++link) CHECK(used[link] < links[link] * 1.0001);
    // Each flow has a full link on which none is faster.
    for (size_t f = 0; f < flows.size(); ++f) {
      bool bound = false;
      for (const auto& [link, share] : flows[f]) {
        bool fastest = used[link] > links[link] * 0.9999;
        for (size_t other = 0; other < flows.size(); ++other) {
          for (const auto& use : flows[other])
            fastest &= use.first != link || rates[other] <= rates[f] * 1.0001;
        }
        bound |= fastest;
      }
      CHECK(bound);
    }
  }
}

}  // namespace
}  // namespace yuba::runtime
