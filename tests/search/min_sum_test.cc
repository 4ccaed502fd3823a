#include "search/min_sum.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>


namespace yuba {
namespace {

// The cell of `term` at these values, by domain.
int64_t CellAt(const std::vector<DomainPtr>& domains, const MinSumTerm& term,
               const std::vector<int>& values) {
  size_t cell = 0;
  for (const int d : term.scope) cell = cell * domains[d]->size + values[d];
  return (*term.cells)[cell];
}

std::vector<int64_t> Plainly(const std::vector<DomainPtr>& domains,
                             const std::vector<MinSumTerm>& terms) {
  std::vector<int64_t> result;
  std::vector<int> values(domains.size(), 0);
  int64_t least = std::numeric_limits<int64_t>::max();
  while (true) {
    int64_t sum = 0;
    for (const MinSumTerm& term : terms) sum += CellAt(domains, term, values);
    least = std::min(least, sum);
    if (values.back() + 1 == domains.back()->size) {
      result.push_back(least);
      least = std::numeric_limits<int64_t>::max();
    }
    size_t d = domains.size();
    while (d-- > 0) {
      if (++values[d] < domains[d]->size) break;
      values[d] = 0;
    }
    if (d >= domains.size()) return result;
  }
}

TEST_CASE("the least sums are those of all sums, whatever the terms have in common") {
  std::mt19937 random(8);
  for (int round = 0; round < 500; ++round) {
    const int rank = 1 + static_cast<int>(random() % 6);
    std::vector<DomainPtr> domains;
    for (int d = 0; d < rank; ++d) {
      const int most = d + 1 == rank ? 20 : 4;
      domains.push_back(PlainDomain(1 + static_cast<int>(random() % most)));
    }
    std::vector<MinSumTerm> terms(1 + random() % 4);
    std::vector<std::vector<int64_t>> cells(terms.size());
    const int begin = static_cast<int>(random() % rank);
    for (size_t t = 0; t < terms.size(); ++t) {
      size_t count = 1;
      for (int d = 0; d < rank; ++d) {
        // All of one term's, often neighbours of others', and the last.
        const bool has = t == 0 || d + 1 == rank || (t == 1 ? d >= begin : random() % 2 == 0);
        if (has) terms[t].scope.push_back(d);
        if (has) count *= domains[d]->size;
      }
      if (random() % 2 == 0) std::shuffle(terms[t].scope.begin(), terms[t].scope.end(), random);
      for (size_t i = 0; i < count; ++i) cells[t].push_back(random() % 1000);
      terms[t].cells = &cells[t];
    }
    CHECK(MinSum(domains, terms) == Plainly(domains, terms));
  }
}

}  // namespace
}  // namespace yuba
