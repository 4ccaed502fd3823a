#include "search/solve/min_sum.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "opsemantics/base/check.h"
#include "opsemantics/base/inner_loop.h"
#include "search/solve/parallel.h"

namespace yuba::search {
namespace {

// A term with the minimised variable innermost, and its strides along the others (0 where absent).
struct Rows {
  std::vector<int64_t> storage;
  const int64_t* cells = nullptr;
  std::vector<int64_t> strides;
  int raised = -1;  // the deepest loop along which it changes; -1: none
};

// A loop over a dimension of the result, or over several neighbouring ones which every term either
// has all or has none of.
struct Loop {
  int64_t size = 1, stride = 1;  // of the result
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
  const size_t rank = term.scope.size();
  std::vector<int> value(rank, 0), sizes(rank);
  std::vector<int64_t> steps(rank);
  for (size_t i = 0; i < rank; ++i) {
    sizes[i] = domains[term.scope[i]]->size;
    steps[i] = term.scope[i] == last ? 1 : rows.strides[term.scope[i]];
  }
  int64_t to = 0;
  for (int64_t from = 0; from < cells; ++from) {
    rows.storage[to] = (*term.cells)[from];
    for (size_t i = rank; i-- > 0;) {
      to += steps[i];
      if (++value[i] < sizes[i]) break;
      to -= steps[i] * sizes[i];
      value[i] = 0;
    }
  }
  rows.cells = rows.storage.data();
  return rows;
}

YUBA_INNER_LOOP int64_t LeastOfMany(const int64_t* a, const int64_t* b, int size) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < size; ++i) least = std::min(least, a[i] + b[i]);
  return least;
}

YUBA_INNER_LOOP void AddMany(int64_t* sum, const int64_t* row, int size) {
  for (int i = 0; i < size; ++i) sum[i] += row[i];
}

constexpr int kMany = 8;  // for fewer cells the call takes longer than the loop

int64_t LeastSum(const int64_t* a, const int64_t* b, int size) {
  if (size >= kMany) return LeastOfMany(a, b, size);
  int64_t least = a[0] + b[0];
  for (int i = 1; i < size; ++i) least = std::min(least, a[i] + b[i]);
  return least;
}

void Add(int64_t* sum, const int64_t* row, int size) {
  if (size >= kMany) return AddMany(sum, row, size);
  for (int i = 0; i < size; ++i) sum[i] += row[i];
}

// The loops over all values of the domains but the last, along which rows of the terms are taken
// and added up; each row that does not change in inner loops is added once, outside of them.
class Nest {
 public:
  // Of values of the first domain that symmetries map to one another, one is looked at.
  Nest(const std::vector<DomainPtr>& domains, const std::vector<MinSumTerm>& terms,
       const Budget& budget)
      : domains_(domains),
        budget_(budget),
        result_rank_(static_cast<int>(domains.size()) - 1),
        size_(domains.back()->size) {
    for (const MinSumTerm& term : terms) rows_.push_back(Arrange(domains, term));
    strides_.assign(result_rank_, 1);
    for (int d = result_rank_; d-- > 0;) {
      strides_[d] = cells_;
      cells_ *= domains[d]->size;
    }
    if (result_rank_ == 0) {
      first_values_ = {0};
      return;
    }
    first_values_ = OrbitRepresentatives(*domains[0]);
    MakeLoops();
  }

  int64_t cells() const { return cells_; }   // of the other domains
  bool stopped() const { return stopped_; }  // the budget was spent before the end

  // Fills in all cells of representatives, row-major over the domains but the last.
  void Run(std::vector<int64_t>* result) {
    const auto count = static_cast<int64_t>(first_values_.size());
    const int64_t sums = result_rank_ == 0 ? 0 : count * strides_[0] * size_;
    if (result_rank_ < 2 || sums < kParallelSums) {
      Part(*this, 0, count, result).Run();
    } else {
      ParallelFor(budget_.threads(), count,
                  [&](int64_t i) { Part(*this, i, i + 1, result).Run(); });
    }
  }

  // Copies the cells of representatives to those that symmetries map them to.
  void FillOrbits(std::vector<int64_t>* result) const {
    if (result_rank_ == 0) return;
    const size_t symmetries = domains_[0]->images.size();
    for (size_t g = 1; g < symmetries; ++g) {
      for (const int value : first_values_) {
        const int image = domains_[0]->images[g][value];
        FillFrom(g, 1, value * strides_[0], image * strides_[0], result);
      }
    }
  }

 private:
  static constexpr int64_t kParallelSums = int64_t{1} << 21;
  static constexpr int64_t kSumsBetweenLooks = int64_t{1} << 20;  // at the budget: about 1 ms
  static constexpr int64_t kLongestLoop = int64_t{1} << 12;

  // The first dimension, of which only representatives are needed, is a loop of its own.
  void MakeLoops() {
    std::vector<int> innermost;  // dimension, by loop
    for (int d = 0; d < result_rank_; ++d) {
      const int64_t size = domains_[d]->size;
      const bool joins = loops_.size() > 1 && loops_.back().size * size <= kLongestLoop &&
                         std::all_of(rows_.begin(), rows_.end(), [&](const Rows& rows) {
                           return rows.strides[d - 1] == rows.strides[d] * size;
                         });
      if (!joins) {
        loops_.emplace_back();
        innermost.push_back(d);
      }
      loops_.back().size *= size;
      loops_.back().stride = strides_[d];
      innermost.back() = d;
    }
    for (Rows& rows : rows_) {
      std::vector<int64_t> strides;
      for (size_t l = 0; l < loops_.size(); ++l) {
        strides.push_back(rows.strides[innermost[l]]);
        if (strides.back() > 0) rows.raised = static_cast<int>(l);
      }
      rows.strides = std::move(strides);
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Rows& a, const Rows& b) { return a.raised < b.raised; });
    YUBA_CHECK(rows_.back().raised + 1 == static_cast<int>(loops_.size()));
  }

  // The loops for the first values number [begin, end).
  class Part {
   public:
    Part(Nest& nest, int64_t begin, int64_t end, std::vector<int64_t>* result)
        : nest_(nest),
          result_(result),
          begin_(begin),
          end_(end),
          size_(nest.size_),
          depth_(static_cast<int>(nest.loops_.size())),
          rows_(depth_ + 1, std::vector<const int64_t*>(nest.rows_.size())),
          fixed_(depth_ + 1, std::vector<int64_t>(size_, 0)),
          sum_(size_) {}

    void Run() {
      size_t r = 0;
      for (; r < rows_[0].size(); ++r) rows_[0][r] = nest_.rows_[r].cells;
      for (r = 0; r < rows_[0].size() && nest_.rows_[r].raised < 0; ++r) Fix(0, r);
      if (depth_ == 0) {
        (*result_)[0] = Least(fixed_[0].data(), rows_[0], r);
      } else {
        Over(0, r, 0);
      }
    }

   private:
    // Runs loop number `loop` and those within it, for the cells from `at` on. The rows before
    // `first` do not change in them: their sum is fixed_[loop].
    void Over(int loop, size_t first, int64_t at) {
      const Loop& here = nest_.loops_[loop];
      size_t next = first;  // the first row that changes in loops within this one
      while (next < nest_.rows_.size() && nest_.rows_[next].raised == loop) ++next;
      const int64_t begin = loop == 0 ? begin_ : 0, end = loop == 0 ? end_ : here.size;
      for (int64_t i = begin; i < end && !nest_.stopped_; ++i) {
        const int64_t value = loop == 0 ? nest_.first_values_[i] : i;
        for (size_t r = first; r < nest_.rows_.size(); ++r) {
          rows_[loop + 1][r] = rows_[loop][r] + value * nest_.rows_[r].strides[loop];
        }
        if (loop + 1 == depth_) {
          (*result_)[at + value * here.stride] = Least(fixed_[loop].data(), rows_[depth_], first);
          continue;
        }
        fixed_[loop + 1] = fixed_[loop];
        for (size_t r = first; r < next; ++r) Fix(loop + 1, r);
        Over(loop + 1, next, at + value * here.stride);
      }
      if (loop + 1 == depth_) Look((end - begin) * size_);
    }

    // The least sum of one cell, whose terms add up to the row `fixed` and the rows number `first`
    // and up.
    int64_t Least(const int64_t* fixed, const std::vector<const int64_t*>& rows, size_t first) {
      if (first == rows.size()) return *std::min_element(fixed, fixed + size_);
      if (first + 1 == rows.size()) return LeastSum(fixed, rows[first], size_);
      std::copy(fixed, fixed + size_, sum_.begin());
      for (size_t r = first + 1; r < rows.size(); ++r) Add(sum_.data(), rows[r], size_);
      return LeastSum(sum_.data(), rows[first], size_);
    }

    // Row r is added for all inner loops of `loop`; Least finds it among its rows.
    void Fix(int loop, size_t r) {
      Add(fixed_[loop].data(), rows_[loop][r], size_);
      rows_[depth_][r] = rows_[loop][r];
    }

    void Look(int64_t sums) {
      sums_ += sums;
      if (sums_ < kSumsBetweenLooks) return;
      sums_ = 0;
      if (nest_.budget_.ShouldStop()) nest_.stopped_ = true;
    }

    Nest& nest_;
    std::vector<int64_t>* const result_;
    const int64_t begin_, end_;
    const int size_, depth_;
    int64_t sums_ = 0;                               // since the last look
    std::vector<std::vector<const int64_t*>> rows_;  // by loop: the current row of each term
    std::vector<std::vector<int64_t>> fixed_;        // by loop: the sum of rows it does not change
    std::vector<int64_t> sum_;
  };

  void FillFrom(size_t g, int d, int64_t from, int64_t to, std::vector<int64_t>* result) const {
    if (d == result_rank_) {
      (*result)[to] = (*result)[from];
      return;
    }
    const std::vector<int>& image = domains_[d]->images[g];
    for (int value = 0; value < domains_[d]->size; ++value) {
      FillFrom(g, d + 1, from + value * strides_[d], to + image[value] * strides_[d], result);
    }
  }

  const std::vector<DomainPtr>& domains_;
  const Budget& budget_;
  const int result_rank_, size_;
  int64_t cells_ = 1;
  std::vector<Rows> rows_;  // ascending by `raised`
  std::vector<Loop> loops_;
  std::vector<int64_t> strides_;
  std::vector<int> first_values_;
  std::atomic<bool> stopped_{false};
};

}  // namespace

std::vector<int64_t> MinSum(const std::vector<DomainPtr>& domains,
                            const std::vector<MinSumTerm>& terms, const Budget& budget) {
  Nest nest(domains, terms, budget);
  std::vector<int64_t> result(nest.cells());
  nest.Run(&result);
  if (nest.stopped()) return {};
  nest.FillOrbits(&result);
  return result;
}

}  // namespace yuba::search
