#include "runtime/model/fair_share.h"

#include <algorithm>
#include <limits>

#include "opsemantics/base/check.h"

namespace yuba::runtime {

std::vector<double> FairRates(const std::vector<LinkUse>& flows, std::vector<double> capacities) {
  std::vector<double> rates(flows.size(), 0);
  std::vector<double> wanted(capacities.size());  // [link] by flows that still grow
  std::vector<int> growing;
  for (int f = 0; f < static_cast<int>(flows.size()); ++f) growing.push_back(f);
  double level = 0;  // the rate of those that grow
  while (!growing.empty()) {
    std::fill(wanted.begin(), wanted.end(), 0);
    for (const int f : growing) {
      for (const auto& [link, share] : flows[f]) wanted[link] += share;
    }
    double step = std::numeric_limits<double>::infinity();
    for (size_t link = 0; link < wanted.size(); ++link) {
      if (wanted[link] > 0) step = std::min(step, std::max(0.0, capacities[link]) / wanted[link]);
    }
    YUBA_CHECK(step < std::numeric_limits<double>::infinity()) << "a flow uses no link";
    level += step;
    // What is full to within rounding is full, so that each round ends a flow.
    std::vector<bool> full(capacities.size());
    for (size_t link = 0; link < wanted.size(); ++link) {
      if (wanted[link] == 0) continue;
      full[link] = capacities[link] <= step * wanted[link] * (1 + 1e-12);
      capacities[link] -= step * wanted[link];
    }
    std::vector<int> others;
    for (const int f : growing) {
      rates[f] = level;
      const bool stopped = std::any_of(flows[f].begin(), flows[f].end(),
                                       [&](const auto& use) { return full[use.first]; });
      if (!stopped) others.push_back(f);
    }
    growing = std::move(others);
  }
  return rates;
}

}  // namespace yuba::runtime
