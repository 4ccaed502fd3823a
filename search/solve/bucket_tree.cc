#include "search/solve/bucket_tree.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/base/check.h"
#include "search/solve/min_sum.h"

namespace yuba::search {
namespace {

void AddScope(const std::vector<int>& scope, Bucket* bucket) {
  for (const int v : scope) {
    const bool known =
        v == bucket->variable ||
        std::find(bucket->scope.begin(), bucket->scope.end(), v) != bucket->scope.end();
    if (!known) bucket->scope.push_back(v);
  }
}

// The scope, then the variable.
std::vector<int> JointScope(const Bucket& bucket) {
  std::vector<int> joint = bucket.scope;
  joint.push_back(bucket.variable);
  return joint;
}

// Domains, then the scope and the identity of each table, the tables in an order that equal work
// has in common. A child's table is that of the first bucket like the child.
std::vector<const void*> KeyOf(const PairwiseProblem& problem, const BucketTree& tree,
                               const Bucket& bucket) {
  const std::vector<int> joint = JointScope(bucket);
  std::vector<const void*> key;
  for (const int v : joint) key.push_back(problem.variables[v].get());
  std::vector<std::pair<const void*, std::vector<const void*>>> terms;
  const auto add = [&](const std::vector<int>& scope, const void* table) {
    std::vector<const void*> places;
    for (const int v : scope) {
      const auto place = std::find(joint.begin(), joint.end(), v) - joint.begin();
      places.push_back(reinterpret_cast<const void*>(static_cast<intptr_t>(place)));
    }
    terms.push_back({table, std::move(places)});
  };
  for (const int f : bucket.factors) {
    add(problem.factors[f].scope, problem.factors[f].cells.get());
  }
  for (const int child : bucket.children) {
    add(tree.buckets[child].scope, &tree.buckets[tree.buckets[child].like]);
  }
  std::sort(terms.begin(), terms.end());
  for (const auto& [table, places] : terms) {
    key.push_back(table);
    key.insert(key.end(), places.begin(), places.end());
  }
  return key;
}

// Sets `like` of all buckets; children come before their parents.
void FindEqual(const PairwiseProblem& problem, BucketTree* tree) {
  absl::flat_hash_map<std::vector<const void*>, int> known;
  for (size_t b = 0; b < tree->buckets.size(); ++b) {
    Bucket& bucket = tree->buckets[b];
    bucket.like = known.emplace(KeyOf(problem, *tree, bucket), static_cast<int>(b)).first->second;
  }
}

Cells Shared(std::vector<int64_t> cells) {
  return std::make_shared<const std::vector<int64_t>>(std::move(cells));
}

// The tables that meet in a bucket, over places of its joint scope: factors, then results of
// children. They point into problem and tree.
std::vector<MinSumTerm> TermsOf(const PairwiseProblem& problem, const BucketTree& tree,
                                const Bucket& bucket) {
  const std::vector<int> joint = JointScope(bucket);
  std::vector<MinSumTerm> terms;
  const auto add = [&](const std::vector<int>& scope, const Cells& cells) {
    MinSumTerm term;
    for (const int v : scope) {
      const auto place = std::find(joint.begin(), joint.end(), v) - joint.begin();
      term.scope.push_back(static_cast<int>(place));
    }
    term.cells = cells.get();
    terms.push_back(std::move(term));
  };
  for (const int f : bucket.factors) add(problem.factors[f].scope, problem.factors[f].cells);
  for (const int child : bucket.children) add(tree.buckets[child].scope, tree.buckets[child].up);
  return terms;
}

// What the tables of the bucket cost together, all variables in them having values.
int64_t CostIn(const PairwiseProblem& problem, const BucketTree& tree, const Bucket& bucket,
               const Assignment& assignment) {
  int64_t cost = 0;
  const auto add = [&](const std::vector<int>& scope, const Cells& cells) {
    size_t cell = 0;
    for (const int v : scope) cell = cell * problem.variables[v]->size + assignment[v];
    cost += (*cells)[cell];
  };
  for (const int f : bucket.factors) add(problem.factors[f].scope, problem.factors[f].cells);
  for (const int child : bucket.children) add(tree.buckets[child].scope, tree.buckets[child].up);
  return cost;
}

}  // namespace

BucketTree MakeBuckets(const PairwiseProblem& problem, const std::vector<int>& order) {
  const auto never = static_cast<int>(order.size());
  std::vector<int> bucket_of(problem.variables.size(), never);
  BucketTree tree;
  tree.buckets.resize(order.size());
  for (int b = 0; b < never; ++b) {
    tree.buckets[b].variable = order[b];
    bucket_of[order[b]] = b;
  }
  for (size_t f = 0; f < problem.factors.size(); ++f) {
    const std::vector<int>& scope = problem.factors[f].scope;
    int first = never;
    for (const int v : scope) first = std::min(first, bucket_of[v]);
    YUBA_CHECK(first < never) << "a factor of no variable in the order";
    tree.buckets[first].factors.push_back(static_cast<int>(f));
    AddScope(scope, &tree.buckets[first]);
  }
  for (int b = 0; b < never; ++b) {
    Bucket& bucket = tree.buckets[b];
    std::sort(bucket.scope.begin(), bucket.scope.end(), [&](int u, int v) {
      return bucket_of[u] != bucket_of[v] ? bucket_of[u] > bucket_of[v] : u < v;
    });
    if (bucket.scope.empty()) continue;
    bucket.parent = bucket_of[bucket.scope.back()];
    tree.buckets[bucket.parent].children.push_back(b);
    AddScope(bucket.scope, &tree.buckets[bucket.parent]);
  }
  FindEqual(problem, &tree);
  return tree;
}

Work WorkOf(const PairwiseProblem& problem, const BucketTree& tree, bool equal_once) {
  Work work;
  const auto add = [](int64_t more, int64_t* sum) {
    if (__builtin_add_overflow(*sum, more, sum)) *sum = std::numeric_limits<int64_t>::max();
  };
  for (size_t b = 0; b < tree.buckets.size(); ++b) {
    const Bucket& bucket = tree.buckets[b];
    if (equal_once && bucket.like != static_cast<int>(b)) continue;
    int64_t cells = 1;
    for (const int v : bucket.scope) cells *= problem.variables[v]->size;
    const Domain& last = *problem.variables[bucket.variable];
    add(cells, &work.cells);
    add(cells * last.size / static_cast<int64_t>(last.images.size()), &work.sums);
  }
  return work;
}

bool EliminateUp(const PairwiseProblem& problem, const Budget& budget, BucketTree* tree) {
  for (size_t b = 0; b < tree->buckets.size(); ++b) {
    if (budget.ShouldStop()) return false;
    Bucket& bucket = tree->buckets[b];
    if (bucket.like == static_cast<int>(b)) {
      std::vector<DomainPtr> domains;
      for (const int v : JointScope(bucket)) domains.push_back(problem.variables[v]);
      bucket.up = Shared(MinSum(domains, TermsOf(problem, *tree, bucket), budget));
      if (bucket.up->empty()) return false;
    } else {
      bucket.up = tree->buckets[bucket.like].up;
    }
    if (bucket.scope.empty()) tree->least += (*bucket.up)[0];
  }
  return true;
}

void ChooseValues(const PairwiseProblem& problem, const BucketTree& tree, Assignment* assignment) {
  for (auto bucket = tree.buckets.rbegin(); bucket != tree.buckets.rend(); ++bucket) {
    const int v = bucket->variable;
    int best = -1;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int value = 0; value < problem.variables[v]->size; ++value) {
      (*assignment)[v] = value;
      const int64_t cost = CostIn(problem, tree, *bucket, *assignment);
      if (cost >= least) continue;
      least = cost;
      best = value;
    }
    YUBA_CHECK(best >= 0) << "no value of an eliminated variable can be paid";
    (*assignment)[v] = best;
  }
}

}  // namespace yuba::search
