#include "search/blocks.h"

#include <algorithm>
#include <utility>

#include "absl/types/optional.h"
#include "search/fold.h"
#include "search/improve.h"
#include "search/shrink.h"
#include "search/split_problem.h"

namespace yuba {
namespace {

class BlockSearch {
 public:
  BlockSearch(const PairwiseProblem& problem, const std::vector<Values>& listed,
              const Solution& start, const BlockOptions& options, const Budget& budget)
      : problem_(problem), options_(options), budget_(budget), shrinking_(problem), kept_(listed) {
    found_.solution = start;
    Anchor();
  }

  Blocks Run() {
    int64_t before = 0, sums = options_.sums, work = options_.work, limit = found_.solution.cost;
    for (int round = 0; round < options_.rounds; ++round, sums *= options_.growth) {
      const PairwiseProblem part = shrinking_.Of(kept_);
      if (LargestFactor(part) > options_.most_sums) break;
      sums = std::min(sums, options_.most_sums);
      // Of all steps of an elimination; less for a problem that is large from the first.
      const int64_t most = work / (2 * (round == 0 ? options_.first_steps : options_.few_steps));
      if (CellsOf(part) > most && round == 0) break;  // it will take about as many
      SplitProblem split(part, sums, most);
      for (; split.sums() > most && sums / 2 > before; split = SplitProblem(part, sums, most))
        sums /= 2;
      if (split.sums() > most) break;
      before = sums;
      const int64_t cost = found_.solution.cost;
      split.Start(options_.sweeps, budget_);
      split.Raise(cost, options_.steps, &work, budget_);
      if (!split.raised()) break;
      rounds_.push_back(split.Proof(cost));
      const int64_t bound = std::min(split.bound(), limit);
      if (bound > found_.bound) {
        found_.bound = bound;
        found_.rounds = rounds_;
      }
      limit = cost;
      if (found_.bound >= cost || budget_.Spent()) break;
      const absl::optional<Assignment> decoded = split.Decode(budget_);
      Assignment near;
      for (size_t v = 0; v < kept_.size(); ++v) near.push_back(Keep(split, v, cost, decoded));
      if (std::any_of(kept_.begin(), kept_.end(),
                      [](const Values& left) { return left.empty(); })) {
        found_.bound = cost;  // each copy may leave values that the others do not
        found_.rounds = rounds_;
        break;
      }
      if (!Search(near)) break;
    }
    return std::move(found_);
  }

 private:
  static int64_t CellsOf(const PairwiseProblem& problem) {
    int64_t cells = 0;
    for (const Factor& factor : problem.factors) cells += factor.cells->size();
    return cells;
  }

  static int64_t LargestFactor(const PairwiseProblem& problem) {
    size_t largest = 0;
    for (const Factor& factor : problem.factors) largest = std::max(largest, factor.cells->size());
    return static_cast<int64_t>(largest);
  }

  // The variable of most factors whose values have images.
  void Anchor() {
    std::vector<int64_t> factors(kept_.size(), 0);
    for (const Factor& factor : problem_.factors) {
      for (int v : factor.scope) ++factors[v];
    }
    for (size_t v = 0; v < kept_.size(); ++v) {
      const bool symmetric = problem_.variables[v]->images.size() > 1 && kept_[v].size() > 1;
      const bool more = found_.anchor < 0 || factors[v] > factors[found_.anchor];
      if (symmetric && more) found_.anchor = static_cast<int>(v);
    }
    if (found_.anchor < 0) return;
    Values& values = kept_[found_.anchor];
    std::vector<int> place(values.size());
    for (size_t i = 0; i < values.size(); ++i) place[values[i]] = static_cast<int>(i);
    const std::vector<std::vector<int>>& images = problem_.variables[found_.anchor]->images;
    values.erase(std::remove_if(values.begin(), values.end(),
                                [&](int value) {
                                  return std::any_of(images.begin(), images.end(),
                                                     [&](const std::vector<int>& image) {
                                                       return place[image[value]] < place[value];
                                                     });
                                }),
                 values.end());
  }

  // Drops what costs `limit` or more; the place of the value that is decoded, or of another.
  int Keep(const SplitProblem& split, size_t v, int64_t limit,
           const absl::optional<Assignment>& decoded) {
    const std::vector<int64_t> costs = split.CostsOf(static_cast<int>(v));
    Values left;
    int near = 0;
    for (size_t x = 0; x < costs.size(); ++x) {
      if (costs[x] >= limit) continue;
      if (decoded.has_value() && (*decoded)[v] == static_cast<int>(x)) {
        near = static_cast<int>(left.size());
      }
      left.push_back(kept_[v][x]);
    }
    kept_[v] = std::move(left);
    return near;
  }

  // Local search among the values that are left.
  bool Search(const Assignment& near) {
    const PairwiseProblem part = shrinking_.Of(kept_);
    ImproveOptions improve;
    improve.rounds = 12;
    improve.work = options_.work / 16;
    const Solution better = Improve(part, {near, CostOf(part, near)}, improve, budget_);
    if (better.cost >= found_.solution.cost) return !budget_.Spent();
    for (size_t v = 0; v < kept_.size(); ++v) {
      found_.solution.assignment[v] = kept_[v][better.assignment[v]];
    }
    found_.solution.cost = better.cost;
    return !budget_.Spent();
  }

  const PairwiseProblem& problem_;
  const BlockOptions& options_;
  const Budget& budget_;
  Shrinking shrinking_;
  std::vector<Values> kept_;  // by variable
  Blocks found_;
  std::vector<BlockRound> rounds_;
};

}  // namespace

Blocks BoundByBlocks(const PairwiseProblem& problem, const std::vector<std::vector<int>>& listed,
                     const Solution& start, const BlockOptions& options, const Budget& budget) {
  PairwiseProblem merged = problem;
  merged.factors = OneOfEachScope(problem);
  return BlockSearch(merged, listed, start, options, budget).Run();
}

}  // namespace yuba
