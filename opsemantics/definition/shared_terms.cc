#include "opsemantics/definition/shared_terms.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"

namespace yuba {
namespace {

size_t HashOf(const Affine& affine) {
  return absl::Hash<std::pair<int64_t, std::vector<std::pair<int, int64_t>>>>()(
      {affine.constant, affine.terms});
}

// Of some of what its kind uses: equal nodes have equal numbers. Floats are left out, for -0 is not
// 0 and a NaN is one.
int64_t NumberIn(const Expr& expr) {
  switch (expr.kind) {
    case Expr::kLiteral: return IsFloat(expr.type) ? 0 : expr.integer;
    case Expr::kIndex: return static_cast<int64_t>(HashOf(expr.affine));
    case Expr::kRead: return expr.operand;
    case Expr::kCall: return static_cast<int64_t>(expr.function);
  }
  return 0;
}

int64_t BoundedSum(int64_t a, int64_t b) {
  constexpr int64_t kMost = int64_t{1} << 62;
  return b >= kMost - a ? kMost : a + b;
}

int64_t SizeOf(const ExprPtr& expr, PerTerm<int64_t>& sizes) {
  return sizes.Of(expr, [&] {
    int64_t size = 1;
    for (const ExprPtr& arg : expr->args) size = BoundedSum(size, SizeOf(arg, sizes));
    return size;
  });
}

// Counts the uses of each node, and appends the nodes of `expr`, arguments first.
void CountUses(const ExprPtr& expr, absl::flat_hash_map<const Expr*, int>& uses,
               std::vector<ExprPtr>& nodes) {
  if (++uses[expr.get()] > 1) return;
  for (const ExprPtr& arg : expr->args) CountUses(arg, uses, nodes);
  nodes.push_back(expr);
}

}  // namespace

size_t SharedTerms::Hash::operator()(const ExprPtr& expr) const {
  std::vector<size_t> parts = {static_cast<size_t>(expr->kind),
                               static_cast<size_t>(NumberIn(*expr))};
  if (expr->kind == Expr::kRead) {
    for (const Affine& affine : expr->position) parts.push_back(HashOf(affine));
  }
  for (const ExprPtr& arg : expr->args) parts.push_back(reinterpret_cast<size_t>(arg.get()));
  return absl::Hash<std::vector<size_t>>()(parts);
}

bool SharedTerms::Equal::operator()(const ExprPtr& a, const ExprPtr& b) const {
  return a == b || (SameNode(*a, *b) && a->args == b->args);
}

ExprPtr SharedTerms::Of(const ExprPtr& expr) {
  const auto known = known_.find(expr);
  if (known != known_.end()) return known->second;
  std::vector<ExprPtr> args;
  args.reserve(expr->args.size());
  for (const ExprPtr& arg : expr->args) args.push_back(Of(arg));
  ExprPtr node = expr;
  if (args != expr->args) {
    auto copy = std::make_shared<Expr>(*expr);
    copy->args = std::move(args);
    node = std::move(copy);
  }
  ExprPtr shared = *nodes_.insert(std::move(node)).first;
  known_.emplace(expr, shared);
  return shared;
}

void ShareTerms(Definition& definition) {
  SharedTerms terms;
  definition.body = terms.Of(definition.body);
  for (DataCondition& condition : definition.data_where)
    condition.value = terms.Of(condition.value);
}

bool SameExpr(const ExprPtr& a, const ExprPtr& b) {
  if (a == b) return true;
  SharedTerms terms;
  return SameNode(*a, *b) && terms.Of(a) == terms.Of(b);
}

int DistinctTerms(const ExprPtr& expr) {
  SharedTerms terms;
  terms.Of(expr);
  return terms.size();
}

int64_t TreeSize(const ExprPtr& expr) {
  PerTerm<int64_t> sizes;
  return SizeOf(expr, sizes);
}

std::vector<Occurrence> Occurrences(const ExprPtr& expr) {
  absl::flat_hash_map<const Expr*, int> uses;
  std::vector<ExprPtr> nodes;
  CountUses(expr, uses, nodes);
  absl::flat_hash_map<const Expr*, int64_t> times = {{expr.get(), 1}};
  std::vector<Occurrence> occurrences;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const int64_t here = times[node->get()];
    occurrences.push_back({node->get(), here});
    for (const ExprPtr& arg : (*node)->args) times[arg.get()] = BoundedSum(times[arg.get()], here);
  }
  return occurrences;
}

std::vector<ExprPtr> RepeatedTerms(const std::vector<ExprPtr>& roots) {
  absl::flat_hash_map<const Expr*, int> uses;
  std::vector<ExprPtr> nodes, repeated;
  for (const ExprPtr& root : roots) CountUses(root, uses, nodes);
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(repeated),
               [&](const ExprPtr& node) { return !node->args.empty() && uses[node.get()] > 1; });
  return repeated;
}

}  // namespace yuba
