#include "opsemantics/regions/bounds.h"

#include <algorithm>
#include <numeric>

#include "absl/types/optional.h"
#include "opsemantics/base/arithmetic.h"
#include "opsemantics/regions/value_tables.h"

namespace yuba {
namespace {

constexpr int kMaxRounds = 200;   // of propagation; real constraints settle in two or three
constexpr int kMaxVisits = 4000;  // nodes of one branch and bound; real ones need a handful

int64_t Least(int64_t coefficient, const Interval& range) {
  return coefficient * (coefficient > 0 ? range.begin : range.end - 1);
}
int64_t Greatest(int64_t coefficient, const Interval& range) {
  return coefficient * (coefficient > 0 ? range.end - 1 : range.begin);
}

// The x of a*x = b (mod m), m > 0 and gcd(a, m) == 1, by Euclid.
int64_t SolveCongruence(int64_t a, int64_t b, int64_t m) {
  int64_t r0 = m, r1 = FloorMod(a, m), t0 = 0, t1 = 1;
  while (r1 != 0) {
    const int64_t quotient = r0 / r1;
    std::swap(r0, r1);
    r1 -= quotient * r0;
    std::swap(t0, t1);
    t1 -= quotient * t0;
  }
  return static_cast<int64_t>(static_cast<__int128>(FloorMod(t0, m)) * FloorMod(b, m) % m);
}

// Shrinks `range` to the values x with coefficient*x <= limit.
void KeepBelow(int64_t coefficient, int64_t limit, Interval& range) {
  if (coefficient > 0) {
    range.end = std::min(range.end, FloorDiv(limit, coefficient) + 1);
  } else {
    range.begin = std::max(range.begin, CeilDiv(limit, coefficient));
  }
}

// What a constraint's table adds to its expression: [least, greatest]. Nothing without a table.
std::pair<int64_t, int64_t> TableBounds(const Constraint& constraint,
                                        const std::vector<Interval>& ranges) {
  if (constraint.table == nullptr) return {0, 0};
  const Interval values = ValuesOver(*constraint.table, ranges);
  if (values.empty()) return {0, 0};
  if (constraint.table_factor > 0) return {values.begin, values.end - 1};
  return {1 - values.end, -values.begin};
}

// Shrinks the ranges of the indices of a constraint's table, where the rest of the expression is in
// [least, greatest]. False where no point is left.
bool TightenTable(const Constraint& constraint, int64_t least, int64_t greatest,
                  std::vector<Interval>& ranges) {
  constexpr int64_t kFar = int64_t{1} << 62;
  // factor * value is at most -least and, for an equality, at least -greatest.
  Interval allowed = {constraint.equality ? -greatest : -kFar, -least + 1};
  if (constraint.table_factor < 0) allowed = {1 - allowed.end, 1 - allowed.begin};
  return KeepAllowed(*constraint.table, allowed, ranges);
}

// One pass of a constraint over the bounds of its indices. False where no point is left.
bool Tighten(const Constraint& constraint, std::vector<Interval>& ranges) {
  const Affine& expression = constraint.expression;
  const auto [table_least, table_greatest] = TableBounds(constraint, ranges);
  int64_t least = expression.constant + table_least;
  int64_t greatest = expression.constant + table_greatest;
  for (const auto& [index, coefficient] : expression.terms) {
    least += Least(coefficient, ranges[index]);
    greatest += Greatest(coefficient, ranges[index]);
  }
  if (least > 0 || (constraint.equality && greatest < 0)) return false;
  for (const auto& [index, coefficient] : expression.terms) {
    Interval& range = ranges[index];
    const int64_t others_least = least - Least(coefficient, range);
    const int64_t others_greatest = greatest - Greatest(coefficient, range);
    KeepBelow(coefficient, -others_least, range);
    if (constraint.equality) KeepBelow(-coefficient, others_greatest, range);
    if (range.empty()) return false;
    least = others_least + Least(coefficient, range);
    greatest = others_greatest + Greatest(coefficient, range);
  }
  return constraint.table == nullptr ||
         TightenTable(constraint, least - table_least, greatest - table_greatest, ranges);
}

// Moves the ends of each index to the residues that an equality leaves it: 2*t + 4*u - q == 0 makes
// q even, and 2*t + 4*u - 5 == 0 has no point. False where none is left.
bool TightenResidues(const Affine& expression, std::vector<Interval>& ranges) {
  int64_t constant = expression.constant;
  for (const auto& [index, coefficient] : expression.terms) {
    if (ranges[index].size() == 1) constant += coefficient * ranges[index].begin;
  }
  const auto gcd_without = [&](int skipped) {
    int64_t gcd = 0;
    for (const auto& [index, coefficient] : expression.terms) {
      if (index != skipped && ranges[index].size() > 1) gcd = std::gcd(gcd, coefficient);
    }
    return gcd;
  };
  const int64_t gcd = gcd_without(-1);
  if (gcd == 0) return constant == 0;
  if (constant % gcd != 0) return false;
  for (const auto& [index, coefficient] : expression.terms) {
    Interval& range = ranges[index];
    if (range.size() <= 1) continue;
    const int64_t modulus = gcd_without(index) / gcd;
    if (modulus <= 1) continue;  // 0: the only free index, which Tighten has solved
    const int64_t residue = SolveCongruence(coefficient / gcd, -(constant / gcd), modulus);
    range.begin += FloorMod(residue - range.begin, modulus);
    range.end -= FloorMod(range.end - 1 - residue, modulus);
    if (range.empty()) return false;
    if (range.size() == 1) return true;  // the sums above are stale; the next round goes on
  }
  return true;
}

bool HasSteps(const Affine& expression) {
  return std::any_of(expression.terms.begin(), expression.terms.end(),
                     [](const auto& term) { return term.second > 1 || term.second < -1; });
}

// Applies one constraint; says whether a bound moved.
enum class Step { kNothing, kMoved, kNoPoint };
Step Apply(const Constraint& constraint, std::vector<Interval>& ranges) {
  const auto size = [&ranges, &constraint] {
    int64_t sum = 0;
    for (const auto& term : constraint.expression.terms) sum += ranges[term.first].size();
    if (constraint.table == nullptr) return sum;
    for (int index : constraint.table->indices) sum += ranges[index].size();
    return sum;
  };
  const int64_t before = size();
  if (!Tighten(constraint, ranges)) return Step::kNoPoint;
  if (constraint.equality && constraint.table == nullptr && HasSteps(constraint.expression) &&
      !TightenResidues(constraint.expression, ranges)) {
    return Step::kNoPoint;
  }
  return size() == before ? Step::kNothing : Step::kMoved;
}

bool PropagateAll(absl::Span<const Constraint* const> constraints, std::vector<Interval>& ranges) {
  for (const Interval& range : ranges) {
    if (range.empty()) return false;
  }
  for (int round = 0; round < kMaxRounds; ++round) {
    bool moved = false;
    for (const Constraint* constraint : constraints) {
      const Step step = Apply(*constraint, ranges);
      if (step == Step::kNoPoint) return false;
      moved |= step == Step::kMoved;
    }
    if (!moved) break;
  }
  return true;
}

std::vector<const Constraint*> PointersTo(absl::Span<const Constraint> constraints) {
  std::vector<const Constraint*> pointers;
  pointers.reserve(constraints.size());
  for (const Constraint& constraint : constraints) pointers.push_back(&constraint);
  return pointers;
}

// Branch and bound for the least value of an expression over the points.
class Minimizer {
 public:
  Minimizer(absl::Span<const Constraint* const> constraints, std::vector<int> indices,
            const Affine& objective)
      : constraints_(constraints), indices_(std::move(indices)), objective_(objective) {}

  absl::optional<int64_t> Run(const std::vector<Interval>& ranges) {
    Visit(ranges);
    return best_;
  }

 private:
  void Visit(const std::vector<Interval>& ranges) {
    const int64_t bound = Range(objective_, ranges).begin;
    if (best_.has_value() && bound >= *best_) return;
    const int index = ++visits_ > kMaxVisits ? -1 : NextIndex(ranges);
    if (index < 0) {  // a single point, or too many visits: then the bound, which loses no point
      best_ = bound;
      return;
    }
    // First the end at which the objective is least, then the rest by halves.
    const Interval& range = ranges[index];
    const int64_t middle = range.begin + (range.size() + 1) / 2;
    if (Coefficient(index) >= 0) {
      Narrow(ranges, index, {range.begin, range.begin + 1});
      Narrow(ranges, index, {range.begin + 1, middle});
      Narrow(ranges, index, {middle, range.end});
    } else {
      Narrow(ranges, index, {range.end - 1, range.end});
      Narrow(ranges, index, {middle, range.end - 1});
      Narrow(ranges, index, {range.begin, middle});
    }
  }

  void Narrow(std::vector<Interval> ranges, int index, Interval range) {
    if (range.empty()) return;
    ranges[index] = range;
    if (best_.has_value() && Range(objective_, ranges).begin >= *best_) return;
    if (PropagateAll(constraints_, ranges)) Visit(ranges);
  }

  int64_t Coefficient(int index) const {
    for (const auto& term : objective_.terms) {
      if (term.first == index) return term.second;
    }
    return 0;
  }

  // The index to branch on: of the indices that are not a single value yet, one with the largest
  // coefficient in the objective. -1: all are single values.
  int NextIndex(const std::vector<Interval>& ranges) const {
    int next = -1;
    int64_t most = -1;
    for (int index : indices_) {
      if (ranges[index].size() == 1) continue;
      const int64_t weight = std::abs(Coefficient(index));
      if (weight > most) {
        most = weight;
        next = index;
      }
    }
    return next;
  }

  absl::Span<const Constraint* const> constraints_;
  const std::vector<int> indices_;
  const Affine& objective_;
  absl::optional<int64_t> best_;
  int visits_ = 0;
};

}  // namespace

bool Propagate(absl::Span<const Constraint> constraints, std::vector<Interval>& ranges) {
  return PropagateAll(PointersTo(constraints), ranges);
}

Interval SolveFor(int index, const Constraint& constraint, const std::vector<Interval>& ranges) {
  Interval range = ranges[index];
  auto [least, greatest] = TableBounds(constraint, ranges);
  int64_t own = 0;
  least += constraint.expression.constant;
  greatest += constraint.expression.constant;
  for (const auto& term : constraint.expression.terms) {
    if (term.first == index) {
      own = term.second;
      continue;
    }
    least += Least(term.second, ranges[term.first]);
    greatest += Greatest(term.second, ranges[term.first]);
  }
  if (own == 0) return range;
  KeepBelow(own, -least, range);
  if (constraint.equality) KeepBelow(-own, greatest, range);
  return range;
}

bool Holds(const Constraint& constraint, const std::vector<Interval>& ranges) {
  const Interval range = Range(constraint.expression, ranges);
  const auto [least, greatest] = TableBounds(constraint, ranges);
  return range.end + greatest <= 1 && (!constraint.equality || range.begin + least >= 0);
}

PointSet::PointSet(absl::Span<const Constraint> constraints, std::vector<Interval> ranges)
    : ranges_(std::move(ranges)) {
  for (const Constraint& constraint : constraints) {
    if (!Holds(constraint, ranges_)) constraints_.push_back(&constraint);
  }
  if (!PropagateAll(constraints_, ranges_)) {
    empty_ = true;
    return;
  }
  constraints_.erase(
      std::remove_if(constraints_.begin(), constraints_.end(),
                     [this](const Constraint* constraint) { return Holds(*constraint, ranges_); }),
      constraints_.end());
  component_.assign(ranges_.size(), -1);
  if (constraints_.empty()) return;
  FindComponents();
  for (int c = 0; c < components_ && !empty_; ++c) {
    std::vector<int> indices;
    for (size_t i = 0; i < component_.size(); ++i) {
      if (component_[i] == c) indices.push_back(i);
    }
    if (exact_[c]) continue;
    empty_ = !Minimizer(constraints_, indices, Affine()).Run(ranges_).has_value();
  }
}

// A component is a set of indices that constraints tie together. Extreme values of an expression
// are the sums of those over the components.
void PointSet::FindComponents() {
  for (const Constraint* constraint : constraints_) {
    const int fresh = components_++;
    for (const int index : IndicesIn(*constraint)) {
      const int old = component_[index];
      component_[index] = fresh;
      if (old < 0) continue;
      std::replace(component_.begin(), component_.end(), old, fresh);
    }
  }
  // The bounds of an index that is alone are exact, unless a table ties it to itself.
  exact_.assign(components_, false);
  for (int c = 0; c < components_; ++c)
    exact_[c] = std::count(component_.begin(), component_.end(), c) == 1;
  for (const Constraint* constraint : constraints_) {
    if (constraint->table == nullptr) continue;
    for (const int index : IndicesIn(*constraint)) exact_[component_[index]] = false;
  }
}

Interval PointSet::Hull(const Affine& expression) const {
  if (empty_) return {0, 0};
  const bool tied = std::any_of(expression.terms.begin(), expression.terms.end(),
                                [this](const auto& term) { return component_[term.first] >= 0; });
  if (!tied) return Range(expression, ranges_);
  Affine free;  // the terms of indices whose ranges are exact: in no component, or alone in theirs
  free.constant = expression.constant;
  std::vector<Affine> parts(components_);
  std::vector<std::vector<int>> indices(components_);
  for (size_t i = 0; i < component_.size(); ++i) {
    if (component_[i] >= 0) indices[component_[i]].push_back(i);
  }
  for (const auto& term : expression.terms) {
    const int c = component_[term.first];
    (c < 0 || exact_[c] ? free : parts[c]).terms.push_back(term);
  }
  Interval hull = Range(free, ranges_);
  for (int c = 0; c < components_; ++c) {
    if (parts[c].terms.empty()) continue;
    const Affine negative = parts[c] * -1;
    // There is a point: the constructor has made sure.
    hull.begin += Minimizer(constraints_, indices[c], parts[c]).Run(ranges_).value();
    hull.end -= Minimizer(constraints_, indices[c], negative).Run(ranges_).value();
  }
  return hull;
}

}  // namespace yuba
