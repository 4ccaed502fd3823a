#include "search/solve/min_sum.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <random>

namespace yuba::search {
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

// Random terms over these domains: the first over all of them, others mostly over neighbouring
// ones.
struct Sums {
  std::vector<DomainPtr> domains;
  std::vector<std::vector<int64_t>> cells;
  std::vector<MinSumTerm> terms;
};

void AddTerms(std::mt19937& random, Sums* sums) {
  const int rank = static_cast<int>(sums->domains.size());
  sums->terms.resize(1 + random() % 4);
  sums->cells.resize(sums->terms.size());
  const int begin = static_cast<int>(random() % rank);
  for (size_t t = 0; t < sums->terms.size(); ++t) {
    MinSumTerm& term = sums->terms[t];
    size_t count = 1;
    for (int d = 0; d < rank; ++d) {
      const bool has = t == 0 || d + 1 == rank || (t == 1 ? d >= begin : random() % 2 == 0);
      if (!has) continue;
      term.scope.push_back(d);
      count *= sums->domains[d]->size;
    }
    if (random() % 2 == 0) std::shuffle(term.scope.begin(), term.scope.end(), random);
    for (size_t i = 0; i < count; ++i) sums->cells[t].push_back(random() % 1000);
    term.cells = &sums->cells[t];
  }
}

TEST_CASE("the least sums are those of all sums, whatever the terms have in common") {
  std::mt19937 random(8);
  for (int round = 0; round < 500; ++round) {
    Sums sums;
    const int rank = 1 + static_cast<int>(random() % 6);
    for (int d = 0; d < rank; ++d) {
      const int most = d + 1 == rank ? 20 : 4;
      sums.domains.push_back(PlainDomain(1 + static_cast<int>(random() % most)));
    }
    AddTerms(random, &sums);
    CHECK(MinSum(sums.domains, sums.terms) == Plainly(sums.domains, sums.terms));
  }
}

TEST_CASE("the same of terms with a symmetry") {
  // Values 1 and 2 may be exchanged, in all domains at once.
  const Domain turned = {3, {{0, 1, 2}, {0, 2, 1}}};
  const auto image = [](int64_t cell, int rank) {
    int64_t other = 0;
    for (int64_t place = 1; rank-- > 0; place *= 3, cell /= 3) {
      other += place * (cell % 3 == 0 ? 0 : 3 - cell % 3);
    }
    return other;
  };
  std::mt19937 random(9);
  for (int round = 0; round < 100; ++round) {
    Sums sums;
    sums.domains.assign(1 + random() % 5, std::make_shared<const Domain>(turned));
    AddTerms(random, &sums);
    for (size_t t = 0; t < sums.terms.size(); ++t) {
      std::vector<int64_t>& cells = sums.cells[t];
      const int rank = static_cast<int>(sums.terms[t].scope.size());
      for (size_t i = 0; i < cells.size(); ++i) {
        cells[image(static_cast<int64_t>(i), rank)] = cells[i];
      }
    }
    CHECK(MinSum(sums.domains, sums.terms) == Plainly(sums.domains, sums.terms));
  }
}

TEST_CASE("large tables are the same on any number of threads, and none where time is over") {
  std::mt19937 random(10);
  Sums sums;
  sums.domains.assign(7, PlainDomain(9));
  sums.domains.front() = PlainDomain(2);
  sums.domains.back() = PlainDomain(64);
  AddTerms(random, &sums);
  const std::vector<int64_t> alone = MinSum(sums.domains, sums.terms, Budget(0, 1));
  CHECK(alone == Plainly(sums.domains, sums.terms));
  CHECK(alone == MinSum(sums.domains, sums.terms, Budget(0, 3)));
  CHECK(MinSum(sums.domains, sums.terms, Budget(1e-9, 2)).empty());
}

}  // namespace
}  // namespace yuba::search
