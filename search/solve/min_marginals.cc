#include "search/solve/min_marginals.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "opsemantics/base/check.h"
#include "search/solve/min_sum.h"

namespace yuba::search {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

Cells Shared(std::vector<int64_t> cells) {
  return std::make_shared<const std::vector<int64_t>>(std::move(cells));
}

// Gives each child of a bucket its `down`; the bucket has its own already. False where the budget
// was spent.
bool Down(const PairwiseProblem& problem, const Bucket& bucket, const Budget& budget,
          BucketTree* tree) {
  const bool of_value = !tree->of_value.empty();
  if (bucket.children.empty() && !of_value) return true;
  std::vector<DomainPtr> domains;
  for (const int v : JointScope(bucket)) domains.push_back(problem.variables[v]);
  std::vector<std::vector<int64_t>> least;  // by child: of all that contains a cell of its `up`
  for (const int child : bucket.children) {
    least.emplace_back(tree->buckets[child].up->size(), kNone);
  }
  std::vector<std::vector<int64_t>*> lower(bucket.factors.size(), nullptr);
  for (std::vector<int64_t>& each : least) lower.push_back(&each);
  std::vector<int64_t>* of_last = nullptr;
  if (of_value) {
    of_last = &tree->of_value[bucket.variable];
    of_last->assign(domains.back()->size, kNone);
  }
  const std::vector<MinSumTerm> terms = TermsOf(problem, *tree, bucket);
  if (!LowerAll(domains, terms, *bucket.down, lower, of_last, budget)) return false;
  for (size_t c = 0; c < least.size(); ++c) {
    Bucket& child = tree->buckets[bucket.children[c]];
    for (size_t i = 0; i < least[c].size(); ++i) least[c][i] -= (*child.up)[i];
    child.down = Shared(std::move(least[c]));
  }
  return true;
}

}  // namespace

absl::optional<BucketTree> MinMarginals(const PairwiseProblem& problem,
                                        const std::vector<int>& order, const Budget& budget,
                                        bool of_value) {
  YUBA_CHECK(order.size() == problem.variables.size());
  BucketTree tree = MakeBuckets(problem, order);
  if (!EliminateUp(problem, budget, &tree)) return absl::nullopt;
  if (of_value) tree.of_value.resize(problem.variables.size());
  for (size_t b = tree.buckets.size(); b-- > 0;) {
    if (budget.ShouldStop()) return absl::nullopt;
    Bucket& bucket = tree.buckets[b];
    if (bucket.scope.empty()) bucket.down = Shared({tree.least - (*bucket.up)[0]});
    if (!Down(problem, bucket, budget, &tree)) return absl::nullopt;
  }
  return tree;
}

}  // namespace yuba::search
