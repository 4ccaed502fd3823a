#include "opsemantics/sharding/work.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "opsemantics/definition/functions.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"
#include "opsemantics/sharding/operations.h"

namespace yuba {
namespace {

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
