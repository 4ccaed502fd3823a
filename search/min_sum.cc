#include "search/min_sum.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "opsemantics/base/check.h"

namespace yuba {
namespace {

// A term with the minimised variable innermost, and its strides along the others (0 where absent).
struct Rows {
  std::vector<int64_t> storage;
  const int64_t* cells = nullptr;
  std::vector<int64_t> strides;
};

Rows Arrange(const std::vector<DomainPtr>& domains, const MinSumTerm& term) {
  const int last = static_cast<int>(domains.size()) - 1;
  std::vector<int> order = term.scope;
  std::sort(order.begin(), order.end());
  YUBA_CHECK(order.back() == last);
  Rows rows;
  rows.strides.assign(last, 0);
  int64_t cells = 1;
  for (size_t i = order.size(); i-- > 0;) {
    if (order[i] != last) rows.strides[order[i]] = cells;
    cells *= domains[order[i]]->size;
  }
  if (order == term.scope) {
    rows.cells = term.cells->data();
    return rows;
  }
  rows.storage.resize(cells);
  std::vector<int> value(term.scope.size(), 0);
  for (int64_t from = 0; from < cells; ++from) {
    int64_t to = 0;
    for (size_t i = 0; i < value.size(); ++i) {
      to += value[i] * (term.scope[i] == last ? 1 : rows.strides[term.scope[i]]);
    }
    rows.storage[to] = (*term.cells)[from];
    for (size_t i = value.size(); i-- > 0;) {
      if (++value[i] < domains[term.scope[i]]->size) break;
      value[i] = 0;
    }
  }
  rows.cells = rows.storage.data();
  return rows;
}

// The inner loops, compiled for several processors; the loader takes the best that is there.
#define YUBA_INNER_LOOP __attribute__((target_clones("avx512f", "avx2", "default")))

YUBA_INNER_LOOP int64_t Least(const int64_t* a, int size) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < size; ++i) least = std::min(least, a[i]);
  return least;
}

YUBA_INNER_LOOP int64_t LeastSum(const int64_t* a, const int64_t* b, int size) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < size; ++i) least = std::min(least, a[i] + b[i]);
  return least;
}

YUBA_INNER_LOOP void AddTo(int64_t* sum, const int64_t* row, int size) {
  for (int i = 0; i < size; ++i) sum[i] += row[i];
}

void Add(const int64_t* row, std::vector<int64_t>* sum) {
  AddTo(sum->data(), row, static_cast<int>(sum->size()));
}

class Kernel {
 public:
  Kernel(const std::vector<DomainPtr>& domains, const std::vector<MinSumTerm>& terms)
      : domains_(domains), result_rank_(static_cast<int>(domains.size()) - 1) {
    for (const MinSumTerm& term : terms) rows_.push_back(Arrange(domains, term));
    int64_t cells = 1;
    strides_.assign(result_rank_, 1);
    for (int d = result_rank_; d-- > 0;) {
      strides_[d] = cells;
      cells *= domains[d]->size;
    }
    result_.resize(cells);
    if (result_rank_ > 0) first_values_ = OrbitRepresentatives(*domains[0]);
  }

  std::vector<int64_t> Run() {
    value_.assign(result_rank_, 0);
    if (result_rank_ == 0) {
      std::vector<int64_t> sum(domains_.back()->size, 0);
      for (const Rows& rows : rows_) Add(rows.cells, &sum);
      result_[0] = Least(sum.data(), domains_.back()->size);
    } else {
      Outer(0);
      FillOrbits();
    }
    return std::move(result_);
  }

 private:
  // All values of dimension d and those after it, but for the last dimension of the result.
  void Outer(int d) {
    if (d == result_rank_ - 1) {
      Inner();
      return;
    }
    int count = d == 0 ? static_cast<int>(first_values_.size()) : domains_[d]->size;
    for (int i = 0; i < count; ++i) {
      value_[d] = d == 0 ? first_values_[i] : i;
      Outer(d + 1);
    }
  }

  // One row of the result. Terms without its last dimension are summed once.
  void Inner() {
    const int last = result_rank_ - 1, size = domains_.back()->size;
    fixed_.assign(size, 0);
    varying_.clear();
    int64_t at = 0;
    for (int d = 0; d < last; ++d) at += value_[d] * strides_[d];
    for (const Rows& rows : rows_) {
      const int64_t* row = rows.cells;
      for (int d = 0; d < last; ++d) row += value_[d] * rows.strides[d];
      if (rows.strides[last] == 0) Add(row, &fixed_);
      else varying_.push_back({row, rows.strides[last]});
    }
    int count = last == 0 ? static_cast<int>(first_values_.size()) : domains_[last]->size;
    for (int i = 0; i < count; ++i) {
      int value = last == 0 ? first_values_[i] : i;
      result_[at + value] = OneCell(value, size);
    }
  }

  int64_t OneCell(int value, int size) {
    if (varying_.empty()) return Least(fixed_.data(), size);
    const int64_t* first = varying_[0].first + value * varying_[0].second;
    if (varying_.size() == 1) return LeastSum(fixed_.data(), first, size);
    sum_ = fixed_;
    for (size_t t = 1; t < varying_.size(); ++t) {
      Add(varying_[t].first + value * varying_[t].second, &sum_);
    }
    return LeastSum(sum_.data(), first, size);
  }

  // Cells whose first value is no representative equal those of one that is.
  void FillOrbits() {
    size_t symmetries = domains_[0]->images.size();
    for (size_t g = 1; g < symmetries; ++g) {
      for (int value : first_values_) {
        int image = domains_[0]->images[g][value];
        FillFrom(g, 1, value * strides_[0], image * strides_[0]);
      }
    }
  }

  void FillFrom(size_t g, int d, int64_t from, int64_t to) {
    if (d == result_rank_) {
      result_[to] = result_[from];
      return;
    }
    const std::vector<int>& image = domains_[d]->images[g];
    for (int value = 0; value < domains_[d]->size; ++value) {
      FillFrom(g, d + 1, from + value * strides_[d], to + image[value] * strides_[d]);
    }
  }

  const std::vector<DomainPtr>& domains_;
  const int result_rank_;
  std::vector<Rows> rows_;
  std::vector<int64_t> strides_, result_;
  std::vector<int> first_values_, value_;
  std::vector<int64_t> fixed_, sum_;
  std::vector<std::pair<const int64_t*, int64_t>> varying_;
};

}  // namespace

std::vector<int64_t> MinSum(const std::vector<DomainPtr>& domains,
                            const std::vector<MinSumTerm>& terms) {
  return Kernel(domains, terms).Run();
}

}  // namespace yuba
