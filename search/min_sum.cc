#include "search/min_sum.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "opsemantics/base/check.h"
#include "search/inner_loop.h"
#include "search/parallel.h"

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
  Kernel(const std::vector<DomainPtr>& domains, const std::vector<MinSumTerm>& terms,
         const Budget& budget)
      : domains_(domains), budget_(budget), result_rank_(static_cast<int>(domains.size()) - 1) {
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
    if (result_rank_ == 0) {
      std::vector<int64_t> sum(domains_.back()->size, 0);
      for (const Rows& rows : rows_) Add(rows.cells, &sum);
      result_[0] = Least(sum.data(), domains_.back()->size);
      return std::move(result_);
    }
    const int64_t count = static_cast<int64_t>(first_values_.size());
    const int64_t sums = count * strides_[0] * domains_.back()->size;
    if (result_rank_ == 1 || sums < kParallelSums) {
      Part(*this, 0, count).Run();
    } else {
      ParallelFor(budget_.threads(), count, [this](int64_t i) { Part(*this, i, i + 1).Run(); });
    }
    if (stopped_) return {};
    FillOrbits();
    return std::move(result_);
  }

 private:
  static constexpr int64_t kParallelSums = int64_t{1} << 21;
  static constexpr int64_t kSumsBetweenLooks = int64_t{1} << 20;  // at the budget: a millisecond

  // The cells whose first value is one of some representatives.
  class Part {
   public:
    Part(Kernel& kernel, int64_t begin, int64_t end)
        : kernel_(kernel), begin_(begin), end_(end), value_(kernel.result_rank_, 0) {}

    void Run() { Outer(0); }

   private:
    // The values of dimension d, by place.
    int64_t Begin(int d) const { return d == 0 ? begin_ : 0; }
    int64_t End(int d) const { return d == 0 ? end_ : kernel_.domains_[d]->size; }
    int Value(int d, int64_t i) const {
      return d == 0 ? kernel_.first_values_[i] : static_cast<int>(i);
    }

    // All values of dimension d and those after it, but for the last dimension of the result.
    void Outer(int d) {
      if (d == kernel_.result_rank_ - 1) {
        Inner();
        return;
      }
      for (int64_t i = Begin(d); i < End(d) && !kernel_.stopped_; ++i) {
        value_[d] = Value(d, i);
        Outer(d + 1);
      }
    }

    // One row of the result. Terms without its last dimension are summed once.
    void Inner() {
      const int last = kernel_.result_rank_ - 1, size = kernel_.domains_.back()->size;
      fixed_.assign(size, 0);
      varying_.clear();
      int64_t at = 0;
      for (int d = 0; d < last; ++d) at += value_[d] * kernel_.strides_[d];
      for (const Rows& rows : kernel_.rows_) {
        const int64_t* row = rows.cells;
        for (int d = 0; d < last; ++d) row += value_[d] * rows.strides[d];
        if (rows.strides[last] == 0)
          Add(row, &fixed_);
        else
          varying_.push_back({row, rows.strides[last]});
      }
      for (int64_t i = Begin(last); i < End(last); ++i) {
        const int value = Value(last, i);
        kernel_.result_[at + value] = OneCell(value, size);
      }
      sums_ += (End(last) - Begin(last)) * size;
      if (sums_ < kSumsBetweenLooks) return;
      sums_ = 0;
      if (kernel_.budget_.Spent()) kernel_.stopped_ = true;
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

    Kernel& kernel_;
    const int64_t begin_, end_;
    int64_t sums_ = 0;  // since the last look
    std::vector<int> value_;
    std::vector<int64_t> fixed_, sum_;
    std::vector<std::pair<const int64_t*, int64_t>> varying_;
  };

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
  const Budget& budget_;
  const int result_rank_;
  std::vector<Rows> rows_;
  std::vector<int64_t> strides_, result_;
  std::vector<int> first_values_;
  std::atomic<bool> stopped_{false};
};

}  // namespace

std::vector<int64_t> MinSum(const std::vector<DomainPtr>& domains,
                            const std::vector<MinSumTerm>& terms, const Budget& budget) {
  return Kernel(domains, terms, budget).Run();
}

}  // namespace yuba
