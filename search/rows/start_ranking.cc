#include "search/rows/start_ranking.h"

#include <algorithm>

namespace yuba::search {

bool StartRanking::GoesOn(size_t age, double merit) {
  if (age >= merits_.size()) merits_.resize(age + 1);
  std::vector<double>& merits = merits_[age];
  const size_t half = (merits.size() + 1) / 2;
  const auto place = std::upper_bound(merits.begin(), merits.end(), merit);
  const bool better = static_cast<size_t>(place - merits.begin()) < half;
  merits.insert(place, merit);
  return better;
}

}  // namespace yuba::search
