#include "search/solve/min_marginals.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/base/inner_loop.h"
#include "search/solve/min_sum.h"

namespace yuba::search {
namespace {

YUBA_INNER_LOOP void AddTo(int64_t* sum, const int64_t* row, int size) {
  for (int i = 0; i < size; ++i) sum[i] += row[i];
}

YUBA_INNER_LOOP void LowerTo(int64_t* least, const int64_t* row, int size) {
  for (int i = 0; i < size; ++i) least[i] = std::min(least[i], row[i]);
}

class Marginals {
 public:
  Marginals(const PairwiseProblem& problem, const std::vector<int>& order, const Budget& budget,
            bool of_value)
      : problem_(problem),
        budget_(budget),
        of_value_(of_value),
        bucket_of_(problem.variables.size(), -1) {
    YUBA_CHECK(order.size() == problem.variables.size());
    tree_.buckets.resize(order.size());
    for (size_t b = 0; b < order.size(); ++b) {
      tree_.buckets[b].variable = order[b];
      bucket_of_[order[b]] = static_cast<int>(b);
    }
    for (size_t f = 0; f < problem.factors.size(); ++f) {
      const std::vector<int>& scope = problem.factors[f].scope;
      int first = bucket_of_[scope[0]];
      for (int v : scope) first = std::min(first, bucket_of_[v]);
      tree_.buckets[first].factors.push_back(static_cast<int>(f));
      AddScope(first, scope);
    }
  }

  absl::optional<BucketTree> Run() {
    for (size_t b = 0; b < tree_.buckets.size(); ++b) {
      if (budget_.ShouldStop()) return absl::nullopt;
      Bucket& bucket = tree_.buckets[b];
      std::sort(bucket.scope.begin(), bucket.scope.end(),
                [this](int u, int v) { return bucket_of_[u] > bucket_of_[v]; });
      bucket.up = Up(bucket);
      if (bucket.up->empty()) return absl::nullopt;
      if (bucket.scope.empty()) {
        tree_.least += (*bucket.up)[0];
        continue;
      }
      int parent = bucket_of_[bucket.scope.back()];
      tree_.buckets[parent].children.push_back(static_cast<int>(b));
      AddScope(parent, bucket.scope);
    }
    if (of_value_) tree_.of_value.resize(problem_.variables.size());
    for (size_t b = tree_.buckets.size(); b-- > 0;) {
      if (budget_.ShouldStop()) return absl::nullopt;
      Down(&tree_.buckets[b]);
    }
    return std::move(tree_);
  }

 private:
  void AddScope(int b, const std::vector<int>& scope) {
    Bucket& bucket = tree_.buckets[b];
    for (int v : scope) {
      bool known = v == bucket.variable ||
                   std::find(bucket.scope.begin(), bucket.scope.end(), v) != bucket.scope.end();
      if (!known) bucket.scope.push_back(v);
    }
  }

  static std::vector<int> Joint(const Bucket& bucket) {
    std::vector<int> joint = bucket.scope;
    joint.push_back(bucket.variable);
    return joint;
  }

  // The tables that meet in a bucket, over places of its joint scope (the scope, then the
  // variable): factors, then results of children.
  std::vector<MinSumTerm> Terms(const Bucket& bucket) const {
    std::vector<int> joint = Joint(bucket);
    std::vector<MinSumTerm> terms;
    auto add = [&](const std::vector<int>& scope, const Cells& cells) {
      MinSumTerm term;
      for (int v : scope) {
        auto place = std::find(joint.begin(), joint.end(), v) - joint.begin();
        term.scope.push_back(static_cast<int>(place));
      }
      term.cells = cells.get();
      terms.push_back(std::move(term));
    };
    for (int f : bucket.factors) add(problem_.factors[f].scope, problem_.factors[f].cells);
    for (int child : bucket.children) {
      add(tree_.buckets[child].scope, tree_.buckets[child].up);
    }
    return terms;
  }

  // Equal work is done once.
  Cells Up(const Bucket& bucket) {
    std::vector<DomainPtr> domains;
    for (int v : Joint(bucket)) domains.push_back(problem_.variables[v]);
    std::vector<MinSumTerm> terms = Terms(bucket);
    std::vector<std::vector<intptr_t>> key(1);
    for (const DomainPtr& domain : domains) key[0].push_back(domain->size);
    for (const MinSumTerm& term : terms) {
      key.emplace_back(term.scope.begin(), term.scope.end());
      key.back().push_back(reinterpret_cast<intptr_t>(term.cells));
    }
    std::sort(key.begin() + 1, key.end());
    Cells& known = done_[std::move(key)];
    if (known == nullptr) {
      known = std::make_shared<const std::vector<int64_t>>(MinSum(domains, terms, budget_));
    }
    return known;
  }

  // One table of a bucket, as rows along the bucket's variable.
  struct Rows {
    std::vector<int64_t> strides;  // along the scope of the bucket
    int64_t stride = 0;            // along its variable
    const int64_t* cells = nullptr;
    int64_t at = 0;
  };

  Rows RowsOf(const std::vector<int>& joint, const MinSumTerm& term) const {
    Rows rows;
    rows.strides.assign(joint.size(), 0);
    int64_t stride = 1;
    for (size_t i = term.scope.size(); i-- > 0;) {
      rows.strides[term.scope[i]] = stride;
      stride *= problem_.variables[joint[term.scope[i]]]->size;
    }
    rows.stride = rows.strides.back();
    rows.strides.pop_back();
    if (term.cells != nullptr) rows.cells = term.cells->data();
    return rows;
  }

  // Gives each child its `down`; this bucket has its own already.
  void Down(Bucket* bucket) {
    if (bucket->scope.empty()) {
      bucket->down =
          std::make_shared<const std::vector<int64_t>>(1, tree_.least - (*bucket->up)[0]);
    }
    if (bucket->children.empty() && !of_value_) return;
    const std::vector<int> joint = Joint(*bucket);
    std::vector<Rows> tables;
    for (const MinSumTerm& term : Terms(*bucket)) tables.push_back(RowsOf(joint, term));
    const size_t first_child = bucket->factors.size();
    std::vector<std::vector<int64_t>> least;
    for (int child : bucket->children) {
      least.emplace_back(tree_.buckets[child].up->size(), std::numeric_limits<int64_t>::max());
    }
    const int size = problem_.variables[bucket->variable]->size;
    std::vector<int64_t> sum(size), of_value(size, std::numeric_limits<int64_t>::max());
    std::vector<int> value(bucket->scope.size(), 0);
    for (int64_t outside : *bucket->down) {
      std::fill(sum.begin(), sum.end(), outside);
      for (const Rows& table : tables) AddRow(table, &sum);
      for (size_t c = 0; c < least.size(); ++c) {
        LowerTo(least[c].data() + tables[first_child + c].at, sum.data(), size);
      }
      if (of_value_) LowerTo(of_value.data(), sum.data(), size);
      Advance(*bucket, &value, &tables);
    }
    if (of_value_) tree_.of_value[bucket->variable] = std::move(of_value);
    for (size_t c = 0; c < least.size(); ++c) {
      Bucket& child = tree_.buckets[bucket->children[c]];
      for (size_t i = 0; i < least[c].size(); ++i) least[c][i] -= (*child.up)[i];
      child.down = std::make_shared<const std::vector<int64_t>>(std::move(least[c]));
    }
  }

  static void AddRow(const Rows& table, std::vector<int64_t>* sum) {
    const int64_t* cell = table.cells + table.at;
    const int size = static_cast<int>(sum->size());
    if (table.stride == 1) {
      AddTo(sum->data(), cell, size);
    } else {
      for (int i = 0; i < size; ++i) (*sum)[i] += cell[i * table.stride];
    }
  }

  // Steps to the next assignment of the scope, row-major.
  void Advance(const Bucket& bucket, std::vector<int>* value, std::vector<Rows>* tables) const {
    for (size_t d = value->size(); d-- > 0;) {
      int size = problem_.variables[bucket.scope[d]]->size;
      bool wraps = ++(*value)[d] == size;
      if (wraps) (*value)[d] = 0;
      for (Rows& table : *tables) {
        table.at += wraps ? -(size - 1) * table.strides[d] : table.strides[d];
      }
      if (!wraps) return;
    }
  }

  const PairwiseProblem& problem_;
  const Budget& budget_;
  const bool of_value_;
  std::vector<int> bucket_of_;  // by variable
  BucketTree tree_;
  std::map<std::vector<std::vector<intptr_t>>, Cells> done_;
};

}  // namespace

absl::optional<BucketTree> MinMarginals(const PairwiseProblem& problem,
                                        const std::vector<int>& order, const Budget& budget,
                                        bool of_value) {
  return Marginals(problem, order, budget, of_value).Run();
}

}  // namespace yuba::search
