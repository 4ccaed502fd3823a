#include "opsemantics/gradient/adjoints.h"

#include "absl/container/flat_hash_map.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/gradient/derivatives.h"
#include "opsemantics/gradient/terms.h"
#include "opsemantics/regions/boxes.h"

namespace yuba {
namespace {

class Adjoints {
 public:
  explicit Adjoints(const Definition& definition) : definition_(definition) {}

  absl::StatusOr<std::vector<ReadAdjoint>> From(const ExprPtr& seed, const ExprPtr& result) {
    std::vector<ReadAdjoint> reads;
    KeepPointers(definition_.body);
    Add(definition_.body, seed);
    for (const Occurrence& occurrence : Occurrences(definition_.body)) {
      const auto found = adjoints_.find(occurrence.node);
      if (found == adjoints_.end()) continue;
      const ExprPtr adjoint = found->second;
      const ExprPtr& term = pointers_.at(occurrence.node);
      if (term->kind == Expr::kRead) {
        reads.push_back({term.get(), adjoint});
        if (!term->args.empty()) Add(term->args[0], Chosen(Inside(*term), zero(*term), adjoint));
      }
      if (term->kind != Expr::kCall) continue;
      if (!HasDerivative(term->function)) {
        return UserError("the function ", Name(term->function), " has no derivative");
      }
      const bool held = result != nullptr && term == definition_.body;
      const std::vector<ExprPtr> adjoints = ArgumentAdjoints(term, held ? result : term, adjoint);
      for (size_t a = 0; a < adjoints.size(); ++a) {
        if (adjoints[a] != nullptr) Add(term->args[a], adjoints[a]);
      }
    }
    return reads;
  }

 private:
  static ExprPtr zero(const Expr& term) { return Number(0, term.type); }

  void KeepPointers(const ExprPtr& term) {
    if (!pointers_.emplace(term.get(), term).second) return;
    for (const ExprPtr& arg : term->args) KeepPointers(arg);
  }

  void Add(const ExprPtr& term, const ExprPtr& adjoint) {
    const bool depends = term->kind == Expr::kRead || term->kind == Expr::kCall;
    if (!depends || IsNumber(*adjoint, 0)) return;
    if (!IsFloat(TypeOf(*term, definition_.operands))) return;
    ExprPtr& sum = adjoints_[term.get()];
    sum = sum == nullptr ? adjoint : Sum(sum, adjoint);
  }

  // Whether a read is inside its operand; null: it always is.
  ExprPtr Inside(const Expr& read) const {
    ExprPtr inside;
    const std::vector<Interval> ranges = WholeRanges(definition_);
    const std::vector<int64_t>& dims = definition_.operands[read.operand].dims;
    for (size_t d = 0; d < read.position.size(); ++d) {
      const Interval range = Range(read.position[d], ranges);
      if (range.begin < 0) inside = Both(inside, ConditionOf({read.position[d] * -1, false}));
      const Constraint ends{read.position[d] - ConstantAffine(dims[d] - 1), false};
      if (range.end > dims[d]) inside = Both(inside, ConditionOf(ends));
    }
    return inside;
  }

  const Definition& definition_;
  absl::flat_hash_map<const Expr*, ExprPtr> pointers_;
  absl::flat_hash_map<const Expr*, ExprPtr> adjoints_;
};

}  // namespace

absl::StatusOr<std::vector<ReadAdjoint>> AdjointsOf(const Definition& definition,
                                                    const ExprPtr& seed, const ExprPtr& result) {
  return Adjoints(definition).From(seed, result);
}

}  // namespace yuba
