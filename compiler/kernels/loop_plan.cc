#include "compiler/kernels/loop_plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/regions/boxes.h"

namespace yuba::kernels {
namespace {

using IndexSet = std::set<int>;

// On the GPU an output index is looked up only if at least so many threads remain: fewer threads,
// with a long loop in each, are slower than many threads that search for their terms.
constexpr int64_t kManyThreads = 32;

bool IsUnit(int64_t coefficient) { return coefficient == 1 || coefficient == -1; }

void AddIndices(const Affine& affine, IndexSet& set) {
  for (const auto& [index, coefficient] : affine.terms) set.insert(index);
}

// The value of `index` from affine == 0, where its coefficient there is 1 or -1.
Affine SolveFor(int index, const Affine& affine) {
  const int64_t coefficient = Coefficient(affine, index);
  YUBA_CHECK(IsUnit(coefficient));
  return IndexAffine(index) - affine * coefficient;
}

bool IsZeroLiteral(const Expr& expr) {
  if (expr.kind != Expr::kLiteral) return false;
  return IsFloat(expr.type) ? expr.number == 0 && !std::signbit(expr.number) : expr.integer == 0;
}

bool IsInfinity(const Expr& expr, bool negative) {
  return expr.kind == Expr::kLiteral && IsFloat(expr.type) && std::isinf(expr.number) &&
         (expr.number < 0) == negative;
}

class Planner {
 public:
  Planner(const Definition& definition, const LoopOptions& options)
      : definition_(definition), options_(options) {
    plan_.solved.resize(definition.indices.size());
    lookup_.assign(definition.indices.size(), -1);
    first_wins_ = IsArgReducer(definition.reducer);
    memory_ok_ = !options.parallel_outputs && !first_wins_;
    // Accumulators of many elements lie in the result's buffer, so they must not be wider than it.
    fits_ = !first_wins_ && (options.arithmetic == Arithmetic::kHash ||
                             AccumulatorType(definition.result.type) == definition.result.type);
    scatter_ok_ = memory_ok_ && fits_;
  }

  LoopPlan Plan() {
    if (definition_.reducer == Reducer::kNone) {
      for (int i = 0; i < Size(); ++i) plan_.outer.push_back(i);
      return plan_;
    }
    for (const Constraint& constraint : definition_.where)
      plan_.bounds.push_back({constraint.expression, {}, constraint.equality});
    BoundGuards();
    if (!first_wins_) {
      SolveData();
      SolveEqualities();
    }
    Order();
    return plan_;
  }

 private:
  int Size() const { return static_cast<int>(definition_.indices.size()); }
  bool IsOutput(int index) const { return !definition_.indices[index].reduction; }
  int64_t Extent(int index) const { return definition_.indices[index].extent; }

  // A read whose `else` value makes the term the reducer's identity needs no guard: where it is
  // outside there is no term, so it bounds the loops instead.
  void BoundGuards() {
    std::vector<const Expr*> reads;
    if (definition_.reducer == Reducer::kSum || definition_.reducer == Reducer::kPick)
      Absorbing(*definition_.body, definition_.reducer == Reducer::kSum, reads);
    const bool max = definition_.reducer == Reducer::kMax;
    if (max || definition_.reducer == Reducer::kMin) {
      const Expr& body = *definition_.body;
      if (body.kind == Expr::kRead && !body.args.empty() && IsInfinity(*body.args[0], max))
        reads.push_back(&body);
    }
    for (const Expr* read : reads) {
      plan_.inside.push_back(read);
      for (size_t d = 0; d < read->position.size(); ++d) {
        const Affine& at = read->position[d];
        const int64_t extent = definition_.operands[read->operand].dims[d];
        if (Interval{0, extent}.Contains(Range(at, WholeRanges(definition_)))) continue;
        plan_.bounds.push_back({ConstantAffine(0) - at, {}, false});
        plan_.bounds.push_back({at - ConstantAffine(extent - 1), {}, false});
      }
    }
  }

  // Adds the reads with `else 0` that `expr` is a multiple of.
  void Absorbing(const Expr& expr, bool products, std::vector<const Expr*>& reads) const {
    absl::flat_hash_set<const Expr*> seen;
    AddAbsorbing(expr, products, seen, reads);
  }

  void AddAbsorbing(const Expr& expr, bool products, absl::flat_hash_set<const Expr*>& seen,
                    std::vector<const Expr*>& reads) const {
    if (!seen.insert(&expr).second) return;
    if (expr.kind == Expr::kRead && !expr.args.empty() && IsZeroLiteral(*expr.args[0]))
      reads.push_back(&expr);
    if (expr.kind != Expr::kCall || !products) return;
    if (expr.function == Function::kMul)
      for (const ExprPtr& arg : expr.args) AddAbsorbing(*arg, products, seen, reads);
    const bool one = expr.function == Function::kNeg || expr.function == Function::kDiv;
    if (one && IsFloat(TypeOf(expr, definition_.operands)))
      AddAbsorbing(*expr.args[0], products, seen, reads);
  }

  // Adds the indices on which a value depends, with solved indices replaced.
  void AddDependencies(const ExprPtr& value, IndexSet& set) const {
    auto add = [&](const Affine& affine) { AddIndices(Substitute(affine, plan_.solved), set); };
    Walk(value, [&](const Expr& expr) {
      if (expr.kind == Expr::kIndex) add(expr.affine);
      for (const Affine& affine : expr.position) add(affine);
    });
  }

  IndexSet ConditionDependencies(int condition) const {
    IndexSet set;
    AddDependencies(definition_.data_where[condition].value, set);
    AddIndices(Substitute(definition_.data_where[condition].index, plan_.solved), set);
    return set;
  }

  // `set`, and all indices on which the lookups of its indices depend.
  IndexSet Closure(IndexSet set) const {
    while (true) {
      IndexSet wider = set;
      for (int index : set) {
        if (lookup_[index] < 0) continue;
        for (int other : ConditionDependencies(lookup_[index])) wider.insert(other);
      }
      if (wider == set) return set;
      set = std::move(wider);
    }
  }

  // Whether an output index may be looked up. With parallel outputs each thread then owns the
  // elements of one value of the other output indices, of which there should be many.
  bool MayScatter(int index) const {
    if (!fits_ || memory_ok_) return scatter_ok_;
    int64_t others = 1;
    for (int i = 0; i < Size(); ++i)
      if (IsOutput(i) && i != index && lookup_[i] < 0) others *= std::max<int64_t>(Extent(i), 1);
    return others >= kManyThreads;
  }

  // Conditions index == value on data: the index is looked up, not searched for.
  void SolveData() {
    for (int k = 0; k < static_cast<int>(definition_.data_where.size()); ++k) {
      const DataCondition& condition = definition_.data_where[k];
      if (condition.compare != Function::kEq) continue;
      IndexSet needed;
      AddDependencies(condition.value, needed);
      int best = -1;
      for (const auto& [index, coefficient] : condition.index.terms) {
        if (!IsUnit(coefficient) || lookup_[index] >= 0) continue;
        if (IsOutput(index) && !MayScatter(index)) continue;
        IndexSet others = needed;
        AddIndices(condition.index - IndexAffine(index) * coefficient, others);
        if (Closure(others).count(index) > 0) continue;
        if (best < 0 || (IsOutput(best) && !IsOutput(index))) best = index;
      }
      if (best >= 0) lookup_[best] = k;
    }
  }

  void SolveEqualities() {
    for (size_t k = 0; k < plan_.bounds.size(); ++k) {
      if (!plan_.bounds[k].equality) continue;
      const int index = ToSolve(plan_.bounds[k].expression);
      if (index >= 0) Solve(index, k--);
    }
  }

  // The index to solve from an equality: the longest reduction index with a coefficient of 1 or -1.
  // Where accumulators may be in memory, an output index more than twice as long is better: a
  // strided gradient then runs over what it reads. -1 where there is none.
  int ToSolve(const Affine& expression) const {
    int reduction = -1, output = -1;
    for (const auto& [index, coefficient] : expression.terms) {
      if (!IsUnit(coefficient) || lookup_[index] >= 0 || NeededByLookup(index)) continue;
      int& best = IsOutput(index) ? output : reduction;
      if (best < 0 || Extent(index) > Extent(best)) best = index;
    }
    if (!scatter_ok_ || output < 0) return reduction;
    if (reduction >= 0 && 2 * Extent(reduction) >= Extent(output)) return reduction;
    return output;
  }

  // Whether a lookup depends on `index`: then it cannot be solved, since its value may depend on
  // the lookup.
  bool NeededByLookup(int index) const {
    for (int i = 0; i < Size(); ++i)
      if (lookup_[i] >= 0 && Closure({i}).count(index) > 0) return true;
    return false;
  }

  void Solve(int index, size_t bound) {
    const Affine value = SolveFor(index, plan_.bounds[bound].expression);
    plan_.bounds.erase(plan_.bounds.begin() + bound);
    std::vector<absl::optional<Affine>> one(Size());
    one[index] = value;
    for (Bound& other : plan_.bounds) other.expression = Substitute(other.expression, one);
    for (absl::optional<Affine>& solved : plan_.solved)
      if (solved.has_value()) solved = Substitute(*solved, one);
    plan_.solved[index] = value;
    plan_.bounds.push_back({ConstantAffine(0) - value, {{BeginArgument(index), 1}}, false});
    plan_.bounds.push_back({value + ConstantAffine(1), {{EndArgument(index), -1}}, false});
  }

  bool HasLoop(int index) const { return !plan_.solved[index].has_value() && lookup_[index] < 0; }

  void Order() {
    std::vector<int> outputs, reductions;
    bool scatter = false;
    for (int i = 0; i < Size(); ++i) {
      if (HasLoop(i))
        (IsOutput(i) ? outputs : reductions).push_back(i);
      else if (IsOutput(i))
        scatter = true;
    }
    const int inner = first_wins_ ? -1 : Innermost(outputs, reductions);
    auto remove = [inner](std::vector<int>& list) {
      list.erase(std::remove(list.begin(), list.end(), inner), list.end());
    };
    const bool row = !scatter && inner >= 0 && IsOutput(inner);
    plan_.mode = scatter ? LoopPlan::kScatter : row ? LoopPlan::kRow : LoopPlan::kRegister;
    if ((scatter && memory_ok_) || row) remove(outputs);
    remove(reductions);
    std::vector<int> loops = reductions;
    if (scatter && memory_ok_)
      loops.insert(loops.begin(), outputs.begin(), outputs.end());
    else
      plan_.outer = outputs;
    if (row) plan_.row = inner;
    if (inner >= 0) loops.push_back(inner);
    AddSteps(loops);
    if (row) plan_.block = Block();
  }

  // LoopPlan::block: an outer index on which something that is read along the row does not depend.
  int Block() const {
    for (size_t at = plan_.outer.size(); at-- > 0;) {
      const int index = plan_.outer[at];
      if (Extent(index) < kRowBlock || Controls(definition_, plan_, index)) continue;
      bool shares = false;
      Walk(definition_.body, [&](const Expr& expr) {
        shares = shares || (expr.kind == Expr::kRead && StrideCost(expr.position, plan_.row) > 0 &&
                            StrideCost(expr.position, index) == 0);
      });
      if (shares) return index;
    }
    return -1;
  }

  // The steps: loops in the given order, each lookup and guard as soon as the indices on which it
  // depends are known.
  void AddSteps(const std::vector<int>& loops) {
    IndexSet known(plan_.outer.begin(), plan_.outer.end());
    IndexSet waiting;
    for (int k = 0; k < static_cast<int>(definition_.data_where.size()); ++k) waiting.insert(k);
    AddConditions(known, waiting);
    for (int index : loops) {
      plan_.steps.push_back({LoopStep::kLoop, index, -1});
      known.insert(index);
      AddConditions(known, waiting);
    }
    YUBA_CHECK(waiting.empty()) << definition_.name;
  }

  void AddConditions(IndexSet& known, IndexSet& waiting) {
    for (bool progress = true; progress;) {
      progress = false;
      for (int k : IndexSet(waiting)) {
        const auto found = std::find(lookup_.begin(), lookup_.end(), k);
        const int index = found == lookup_.end() ? -1 : static_cast<int>(found - lookup_.begin());
        IndexSet needed = ConditionDependencies(k);
        needed.erase(index);
        if (!std::includes(known.begin(), known.end(), needed.begin(), needed.end())) continue;
        plan_.steps.push_back({index >= 0 ? LoopStep::kLookup : LoopStep::kGuard, index, k});
        if (index >= 0) known.insert(index);
        waiting.erase(k);
        progress = true;
      }
    }
  }

  // The index whose loop is the cheapest innermost one, by the strides of what is read and written
  // along it.
  int Innermost(const std::vector<int>& outputs, const std::vector<int>& reductions) const {
    int best = -1;
    double least = 0;
    auto consider = [&](int index, double cost) {
      if (best < 0 || cost < least) {
        best = index;
        least = cost;
      }
    };
    for (int index : reductions) consider(index, InnerCost(index));
    if (memory_ok_)
      for (int index : outputs) consider(index, InnerCost(index));
    return best;
  }

  double InnerCost(int index) const {
    double cost = 1;
    auto add = [&](const ExprPtr& root) {  // as often as the value is used
      for (const Occurrence& term : Occurrences(root)) {
        if (term.node->kind != Expr::kRead) continue;
        cost += StrideCost(term.node->position, index) * static_cast<double>(term.times);
      }
    };
    add(definition_.body);
    for (const DataCondition& condition : definition_.data_where) add(condition.value);
    cost += 1.5 * StrideCost(definition_.left, index);
    if (Extent(index) < 8) cost *= 3;
    return cost + 16.0 / std::max<int64_t>(Extent(index), 1);
  }

  double StrideCost(const std::vector<Affine>& position, int index) const {
    double cost = 0;
    for (size_t d = 0; d < position.size(); ++d) {
      const Affine at = Substitute(position[d], plan_.solved);
      const int64_t coefficient = Coefficient(at, index);
      IndexSet through;
      AddIndices(at, through);
      through = Closure(through);
      if (coefficient == 0 && through.count(index) == 0) continue;
      cost = std::max(cost, d + 1 < position.size() || coefficient == 0 ? 8.0
                            : coefficient == 1                          ? 1.0
                                                                        : 4.0);
    }
    return cost;
  }

  const Definition& definition_;
  const LoopOptions options_;
  bool first_wins_ = false;  // argmax or argmin: terms must come in order
  bool memory_ok_ = false;   // accumulators of several elements may be in memory
  bool fits_ = false;        // an accumulator is no wider than an element of the result
  bool scatter_ok_ = false;  // memory_ok_ and fits_
  std::vector<int> lookup_;  // [index]: the data condition by which it is looked up, else -1
  LoopPlan plan_;
};

}  // namespace

int64_t Coefficient(const Affine& affine, int index) {
  for (const auto& [term, coefficient] : affine.terms)
    if (term == index) return coefficient;
  return 0;
}

Affine Substitute(const Affine& affine, const std::vector<absl::optional<Affine>>& solved) {
  Affine result = ConstantAffine(affine.constant);
  for (const auto& [index, coefficient] : affine.terms) {
    const Affine value = solved[index].has_value() ? *solved[index] : IndexAffine(index);
    result = result + value * coefficient;
  }
  return result;
}

bool Controls(const Definition& definition, const LoopPlan& plan, int index) {
  for (const Bound& bound : plan.bounds)
    if (Coefficient(bound.expression, index) != 0) return true;
  const auto moves = [&](const Affine& affine) {
    return Coefficient(Substitute(affine, plan.solved), index) != 0;
  };
  bool controls = false;
  for (const DataCondition& condition : definition.data_where) {
    controls |= moves(condition.index);
    Walk(condition.value, [&](const Expr& expr) {
      controls |= expr.kind == Expr::kIndex && moves(expr.affine);
      controls |= std::any_of(expr.position.begin(), expr.position.end(), moves);
    });
  }
  return controls;
}

LoopOptions LoopOptionsFor(const KernelTarget& target) {
  return {target.facts->parallel, target.arithmetic};
}

LoopPlan PlanLoops(const Definition& definition, const LoopOptions& options) {
  return Planner(definition, options).Plan();
}

std::string ToString(const LoopPlan& plan, const Definition& definition) {
  static const char* const kModes[] = {"map", "register", "row", "scatter"};
  auto name = [&](int index) { return definition.indices[index].name; };
  std::string text = absl::StrCat(kModes[plan.mode], ":");
  for (int index : plan.outer) {
    absl::StrAppend(&text, " ", name(index),
                    index == plan.block ? absl::StrCat(" (by ", kRowBlock, ")") : "");
  }
  absl::StrAppend(&text, " |");
  for (const LoopStep& step : plan.steps) {
    if (step.kind == LoopStep::kGuard) {
      absl::StrAppend(&text, " guard");
    } else {
      absl::StrAppend(&text, " ", name(step.index), step.kind == LoopStep::kLookup ? "=" : "");
    }
  }
  absl::StrAppend(&text, "; ", plan.bounds.size(), " bounds");
  for (size_t i = 0; i < plan.solved.size(); ++i)
    if (plan.solved[i].has_value()) absl::StrAppend(&text, ", ", name(i), " solved");
  return text;
}

}  // namespace yuba::kernels
