// Shared terms: equal terms of a definition are one node, so that a body takes the room, and
// whatever walks it the time, of its distinct terms, however often they are used.
//
// Example: with s = x0[i] + x1[i], the body s * s is four nodes: two reads, the sum, the product. A
// chain of 60 such squares is 63 nodes; written out as a tree it would have more than 2^60.
//
// What a definition is does not depend on how its terms came to be shared: equality (==), text and
// hashes are of the terms, not of the nodes. Those who build a definition share its terms once
// (ShareTerms), and those who rewrite one keep them shared (PerTerm).
#ifndef YUBA_OPSEMANTICS_DEFINITION_SHARED_TERMS_H_
#define YUBA_OPSEMANTICS_DEFINITION_SHARED_TERMS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// Finds the one node for each term of the expressions that it is asked for.
class SharedTerms {
 public:
  // The node for the term `expr`, all of whose terms are such nodes: `expr` itself where no equal
  // term was met before and its arguments are such nodes already.
  ExprPtr Of(const ExprPtr& expr);

  int size() const { return static_cast<int>(nodes_.size()); }  // distinct terms

 private:
  // By the node and the addresses of its arguments, which are shared already.
  struct Hash {
    size_t operator()(const ExprPtr& expr) const;
  };
  struct Equal {
    bool operator()(const ExprPtr& a, const ExprPtr& b) const;
  };
  absl::flat_hash_map<ExprPtr, ExprPtr> known_;  // a node that was asked for -> the one node
  absl::flat_hash_set<ExprPtr, Hash, Equal> nodes_;
};

// Makes equal terms of the body and the conditions on data one node.
void ShareTerms(Definition& definition);

bool SameExpr(const ExprPtr& a, const ExprPtr& b);  // whether the terms are equal

int DistinctTerms(const ExprPtr& expr);
// The nodes of the expression written out as a tree; at most 2^62.
int64_t TreeSize(const ExprPtr& expr);

// A node, and how often the expression written out as a tree has it; at most 2^62.
struct Occurrence {
  const Expr* node = nullptr;
  int64_t times = 0;
};
// Each node once, before its arguments.
std::vector<Occurrence> Occurrences(const ExprPtr& expr);

// The terms with arguments that are used more than once in these expressions, each after those that
// it uses itself. Equal terms must be one node (SharedTerms).
std::vector<ExprPtr> RepeatedTerms(const std::vector<ExprPtr>& roots);

// A body whose tree has at most so many nodes is written as a tree; in a larger one, terms that are
// used more than once get names. No body that a person reads at a glance has a tree this large.
constexpr int64_t kLargestTree = 128;

// A function of the nodes of expressions that is computed once for each node. The expressions must
// outlive it.
template <typename Value>
class PerTerm {
 public:
  // The value of `expr`: `compute()` where it is not known.
  template <typename Compute>
  Value Of(const ExprPtr& expr, const Compute& compute) {
    // A node to which there is one pointer is asked for once: its one parent is.
    if (expr.use_count() == 1) return compute();
    const auto known = values_.find(expr.get());
    if (known != values_.end()) return known->second;
    Value value = compute();
    values_.emplace(expr.get(), value);
    return value;
  }

 private:
  absl::flat_hash_map<const Expr*, Value> values_;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_SHARED_TERMS_H_
