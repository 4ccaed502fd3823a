#include "opsemantics/sharding/work.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/types/optional.h"
#include "opsemantics/definition/functions.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"

namespace yuba {
namespace {

bool IsOperation(const Expr& expr) {
  if (expr.kind != Expr::kCall) return false;
  const TypeRule rule = FactsOf(expr.function).rule;
  return rule == TypeRule::kNumber || rule == TypeRule::kFloat ||
         expr.function == Function::kRandom;
}

bool TakesOneTerm(Reducer reducer) {
  return reducer == Reducer::kNone || reducer == Reducer::kPick;
}

// The extra that a function is; -1: none.
int ExtraOf(Function function) {
  switch (CostOf(function)) {
    case FunctionCost::kQuick: return -1;
    case FunctionCost::kRoot: return static_cast<int>(Extra::kRoot);
    case FunctionCost::kFunction: return static_cast<int>(Extra::kFunction);
    case FunctionCost::kPower: return static_cast<int>(Extra::kPower);
  }
  return -1;
}

bool DependsOn(const ExprPtr& value, int index) {
  bool depends = false;
  const auto look = [&](const Affine& affine) {
    for (const auto& term : affine.terms) depends |= term.first == index;
  };
  Walk(value, [&](const Expr& expr) {
    if (expr.kind == Expr::kIndex) look(expr.affine);
    for (const Affine& position : expr.position) look(position);
  });
  return depends;
}

// The number that a term always is; nullopt: it is none.
absl::optional<double> NumberOf(const Expr& expr) {
  if (expr.kind == Expr::kLiteral && IsFloat(expr.type)) return expr.number;
  if (expr.kind != Expr::kCall || expr.function != Function::kAdd) return absl::nullopt;
  const absl::optional<double> a = NumberOf(*expr.args[0]), b = NumberOf(*expr.args[1]);
  if (!a.has_value() || !b.has_value()) return absl::nullopt;
  return *a + *b;
}

// Squares are products, also those that a gradient has made, as pow(x, 3 - 1).
bool IsSquare(const Expr& expr) {
  return expr.function == Function::kPow && NumberOf(*expr.args[1]) == 2;
}

// The share of the points at which a condition holds, where it says which point of an index it is;
// else 1.
double ShareOf(const Definition& definition, const Expr& condition) {
  if (condition.kind != Expr::kCall || condition.function != Function::kEq) return 1;
  for (const ExprPtr& arg : condition.args) {
    if (arg->kind != Expr::kIndex || arg->affine.terms.size() != 1) continue;
    const int64_t extent = definition.indices[arg->affine.terms.begin()->first].extent;
    return 1.0 / static_cast<double>(std::max<int64_t>(1, extent));
  }
  return 1;
}

// How often a term is computed.
struct Computed {
  double share = 0;     // of the points
  bool always = false;  // whether it is at all, without looking at a condition
};
using ComputedTerms = absl::flat_hash_map<const Expr*, Computed>;

ComputedTerms HowOften(const Definition& definition, const ExprPtr& body) {
  ComputedTerms computed;
  computed[body.get()] = {1, true};
  for (const Occurrence& term : Occurrences(body)) {  // those that use it come before it
    Computed& own = computed[term.node];
    own.share = std::min(1.0, own.share);
    const Computed at = own;
    const bool selects = term.node->kind == Expr::kCall && term.node->function == Function::kSelect;
    for (size_t a = 0; a < term.node->args.size(); ++a) {
      const double part = selects && a == 1 ? ShareOf(definition, *term.node->args[0]) : 1;
      Computed& arg = computed[term.node->args[a].get()];
      arg.share += at.share * part;
      arg.always |= at.always && !(selects && a > 0);
    }
  }
  return computed;
}

// Of one element alone: a root takes as long then as a function that a loop computes for several,
// and a function as long as a power.
int OfOneElement(int extra) { return std::min(extra + 1, static_cast<int>(Extra::kPower)); }

// A term that is used twice is computed once.
void CountOperations(const Definition& definition, PointWork& work) {
  work.operations = TakesOneTerm(definition.reducer) ? 0 : 1;
  // What is the same along a run is computed once, before it, as powers of the number of steps.
  const auto varies = [&](const Expr& expr) {
    return work.row < 0 || std::any_of(
                               expr.args.begin(), expr.args.end(),
                               [&](const ExprPtr& arg) { return DependsOn(arg, work.row); });
  };
  const double run = work.row < 0 ? 1 : static_cast<double>(definition.indices[work.row].extent);
  const ExprPtr body = SharedTerms().Of(definition.body);
  ComputedTerms computed = HowOften(definition, body);
  Walk(body, [&](const Expr& expr) {
    if (!IsOperation(expr)) return;
    ++work.operations;
    const int extra = ExtraOf(expr.function);
    if (extra < 0 || IsSquare(expr)) return;
    const Computed& how = computed[&expr];
    if (!varies(expr)) {
      work.extras[OfOneElement(extra)] += how.share / run;
      return;
    }
    // Loops compute roots, which are instructions, also where a condition drops some of them.
    const bool alone =
        run < kPointsAtATime || (!how.always && extra != static_cast<int>(Extra::kRoot));
    work.extras[alone ? OfOneElement(extra) : extra] += how.share;
  });
}

// The index of the innermost position that is one, and of more than one element; -1: none.
int Innermost(const Definition& definition, const std::vector<Affine>& position) {
  for (auto affine = position.rbegin(); affine != position.rend(); ++affine) {
    int longest = -1;
    for (const auto& term : affine->terms) {
      const int64_t extent = definition.indices[term.first].extent;
      if (extent > 1 && (longest < 0 || extent > definition.indices[longest].extent)) {
        longest = term.first;
      }
    }
    if (longest >= 0) return longest;
  }
  return -1;
}

bool IsOneOf(int index, const std::vector<int>& indices) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

// The innermost index of the first read of an operand; -1: none.
int InnermostOf(const Definition& definition, int operand) {
  int found = -1;
  Walk(definition.body, [&](const Expr& expr) {
    if (found >= 0 || expr.kind != Expr::kRead || expr.operand != operand) return;
    found = Innermost(definition, expr.position);
  });
  return found;
}

int TurnedOf(const Definition& definition, const Contraction& contraction) {
  int innermost = -1;  // of the result
  for (int i = 0; i < static_cast<int>(definition.indices.size()); ++i) {
    if (!definition.indices[i].reduction && definition.indices[i].extent > 1) innermost = i;
  }
  const bool of_right = IsOneOf(innermost, contraction.columns);
  if (!of_right && !IsOneOf(innermost, contraction.rows)) return -1;
  const int operand = of_right ? contraction.right : contraction.left;
  return IsOneOf(InnermostOf(definition, operand), contraction.inner) ? operand : -1;
}

int RowOf(const Definition& definition) {
  const int count = static_cast<int>(definition.indices.size());
  if (!TakesOneTerm(definition.reducer)) {
    int row = -1;
    Walk(definition.body, [&](const Expr& expr) {
      if (row < 0 && expr.kind == Expr::kRead) row = Innermost(definition, expr.position);
    });
    if (row >= 0) return row;
  }
  for (int i = count - 1; i >= 0; --i) {
    if (!definition.indices[i].reduction && definition.indices[i].extent > 1) return i;
  }
  return -1;
}

KernelClass ClassOf(const Definition& definition) {
  if (TakesOneTerm(definition.reducer)) return KernelClass::kMap;
  if (!IsSumOfProducts(definition)) return KernelClass::kReduction;
  return MatchConvolution(definition).has_value() ? KernelClass::kConvolution
                                                  : KernelClass::kProduct;
}

ElementType TypeOf(const Definition& definition) {
  const absl::Span<const ExprPtr> factors = FactorsOf(definition);
  return factors.empty() ? definition.result.type : definition.operands[factors[0]->operand].type;
}

// The index that the condition gives a value, where it is one: a reduction index, if there is one.
int LookedUp(const Definition& definition, const DataCondition& condition) {
  int found = -1;
  if (condition.compare != Function::kEq) return found;
  for (const auto& [index, coefficient] : condition.index.terms) {
    if (coefficient != 1 && coefficient != -1) continue;
    if (found >= 0 && !definition.indices[index].reduction) continue;
    if (!DependsOn(condition.value, index)) found = index;
  }
  return found;
}

std::vector<TiedIndices> TiesOf(const Definition& definition) {
  std::vector<TiedIndices> ties;
  if (IsOpaque(definition)) {
    for (int i = 0; i < static_cast<int>(definition.indices.size()); ++i) {
      if (!MayBeCut(definition, i)) ties.push_back({i});
    }
    return ties;
  }
  for (const DataCondition& condition : definition.data_where) {
    const int index = LookedUp(definition, condition);
    if (index >= 0) ties.push_back({index});
  }
  for (const Constraint& constraint : definition.where) {
    if (!constraint.equality) continue;
    TiedIndices tie;
    for (const auto& term : constraint.expression.terms) tie.push_back(term.first);
    if (!tie.empty()) ties.push_back(std::move(tie));
  }
  return ties;
}

double BytesOf(const Box& box, ElementType type, double most_elements) {
  const double elements = std::min(static_cast<double>(Volume(box)), most_elements);
  return elements * static_cast<double>(ByteSize(type));
}

}  // namespace

PointWork WorkAtPoint(const Definition& definition) {
  PointWork work;
  work.ties = TiesOf(definition);
  if (IsOpaque(definition)) {
    work.kernel_class = KernelClass::kReduction;
    work.type = definition.result.type;
    work.operations = static_cast<double>(definition.opaque.flops);
    return work;
  }
  work.kernel_class = ClassOf(definition);
  work.type = TypeOf(definition);
  work.row = RowOf(definition);
  CountOperations(definition, work);
  if (work.kernel_class == KernelClass::kProduct) {
    const absl::optional<Contraction> contraction = MatchContraction(definition);
    if (contraction.has_value()) {
      work.batch = contraction->batch;
      work.turned = TurnedOf(definition, *contraction);
    }
  }
  return work;
}

std::vector<Interval> RangesOfWork(const Definition& definition,
                                   const std::vector<Interval>& ranges) {
  return IsOpaque(definition) ? ranges : AnalyzeBoxes(definition, ranges).indices;
}

double DefinitionWork::bytes() const { return std::accumulate(read.begin(), read.end(), written); }

KernelWork DefinitionWork::Kernel(bool library) const {
  KernelWork work = {kernel_class, library, type, operations, bytes(), results};
  std::copy(std::begin(extras), std::end(extras), std::begin(work.extras));
  if (library) {
    work.extras[static_cast<int>(Extra::kRun)] = calls;
    work.extras[static_cast<int>(Extra::kTurned)] = turned;
  }
  return work;
}

DefinitionWork WorkOf(const Definition& definition, const std::vector<Interval>& ranges) {
  const PointWork at_point = WorkAtPoint(definition);
  const Boxes boxes = AnalyzeBoxes(definition, ranges);
  std::vector<double> sizes;
  for (const Interval& range : IsOpaque(definition) ? ranges : boxes.indices)
    sizes.push_back(static_cast<double>(range.size()));
  DefinitionWork work;
  work.kernel_class = at_point.kernel_class;
  work.type = at_point.type;
  work.points = CountPoints(sizes, at_point.ties);
  work.operations = work.points * at_point.operations;
  for (int e = 0; e < kExtras; ++e) work.extras[e] = work.points * at_point.extras[e];
  work.extras[static_cast<int>(Extra::kRun)] = RunsOf(
      work.points, at_point.row < 0 ? 1 : sizes[at_point.row],
      work.kernel_class == KernelClass::kProduct || work.kernel_class == KernelClass::kConvolution);
  work.calls = work.points > 0 ? 1 : 0;
  for (const int index : at_point.batch) work.calls *= sizes[index];
  // A call of an opaque function takes whole slices.
  const double most = IsOpaque(definition) ? std::numeric_limits<double>::infinity() : work.points;
  for (size_t o = 0; o < definition.operands.size(); ++o)
    work.read.push_back(BytesOf(boxes.reads[o], definition.operands[o].type, most));
  if (at_point.turned >= 0) {
    work.turned = work.read[at_point.turned] /
                  static_cast<double>(ByteSize(definition.operands[at_point.turned].type));
  }
  work.written = BytesOf(boxes.writes, definition.result.type, most);
  work.results = static_cast<double>(Volume(boxes.writes));
  return work;
}

}  // namespace yuba
