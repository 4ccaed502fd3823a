#include "opsemantics/gradient/gradient.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/index_names.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/gradient/adjoints.h"
#include "opsemantics/gradient/solve.h"
#include "opsemantics/regions/structure.h"

namespace yuba {
namespace {

// The place of a maximum or minimum: the definition with another reducer.
Definition PlaceOf(const Definition& definition) {
  Definition place = definition;
  place.name = absl::StrCat("place(", definition.name, ")");
  place.reducer = definition.reducer == Reducer::kMax ? Reducer::kArgMax : Reducer::kArgMin;
  place.result.type = ElementType::kI64;
  place.nograd = true;
  return place;
}

// The number of a point among all points of the reduction indices, in row-major order.
Affine NumberOfPoint(const Definition& definition) {
  Affine number;
  for (size_t i = 0; i < definition.indices.size(); ++i) {
    const Index& index = definition.indices[i];
    if (index.reduction) number = number * index.extent + IndexAffine(static_cast<int>(i));
  }
  return number;
}

class Differentiator {
 public:
  // `definition` has shared terms.
  explicit Differentiator(const Definition& definition)
      : definition_(definition), operands_(static_cast<int>(definition.operands.size())) {}

  absl::StatusOr<Gradient> Differentiate(const std::vector<bool>& wanted) {
    const Reducer reducer = definition_.reducer;
    const bool chosen = reducer == Reducer::kMax || reducer == Reducer::kMin;
    if (!chosen && reducer != Reducer::kNone && reducer != Reducer::kSum &&
        reducer != Reducer::kPick) {
      return UserError("the reducer ", Name(reducer), " of ", ToString(definition_),
                       " has no gradient");
    }
    const ExprPtr seed = ReadExpr(operands_, definition_.left, definition_.result.type);
    YUBA_ASSIGN_OR_RETURN(std::vector<ReadAdjoint> adjoints, AdjointsOf(definition_, seed));
    if (IsMap(definition_)) {
      const ExprPtr result = ReadExpr(operands_ + 1, definition_.left, definition_.result.type);
      YUBA_ASSIGN_OR_RETURN(const std::vector<ReadAdjoint> from_result,
                            AdjointsOf(definition_, seed, result));
      ReadResults(from_result, adjoints);
    }
    Gradient gradient;
    for (const ReadAdjoint& adjoint : adjoints) {
      if (!wanted[adjoint.read->operand]) continue;
      gradient.shares.push_back(ShareOf(adjoint, chosen));
    }
    std::stable_sort(
        gradient.shares.begin(), gradient.shares.end(),
        [](const GradientShare& a, const GradientShare& b) { return a.operand < b.operand; });
    if (chosen && !gradient.shares.empty()) gradient.place = PlaceOf(definition_);
    return gradient;
  }

 private:
  bool ReadsOperands(const ExprPtr& expr) const {
    bool reads = false;
    Walk(expr,
         [&](const Expr& term) { reads |= term.kind == Expr::kRead && term.operand < operands_; });
    return reads;
  }

  // Takes those that read nothing but the result where the others read operands: these need not
  // live, and a result of max, tanh, sig or exp says the same of its slope.
  void ReadResults(const std::vector<ReadAdjoint>& from_result,
                   std::vector<ReadAdjoint>& adjoints) const {
    YUBA_CHECK(from_result.size() == adjoints.size());
    for (size_t a = 0; a < adjoints.size(); ++a) {
      if (ReadsOperands(adjoints[a].adjoint) && !ReadsOperands(from_result[a].adjoint))
        adjoints[a] = from_result[a];
    }
  }

  GradientShare ShareOf(const ReadAdjoint& adjoint, bool chosen) const {
    GradientShare share;
    share.operand = adjoint.read->operand;
    Definition& result = share.definition;
    result = definition_;
    result.name = absl::StrCat("dx", share.operand);
    result.reducer = Reducer::kSum;
    result.body = adjoint.adjoint;
    result.operands.push_back(definition_.result);
    result.operands.push_back(definition_.result);
    if (chosen) {
      result.operands.back().type = ElementType::kI64;
      const ExprPtr place = ReadExpr(operands_ + 1, definition_.left, ElementType::kI64);
      result.data_where.push_back({NumberOfPoint(definition_), Function::kEq, false, place});
    }
    result.result = definition_.operands[share.operand];
    for (Index& index : result.indices) index.reduction = true;
    PlaceResult(adjoint.read->position, result);
    SolveSum(result, operands_);
    for (size_t k = 0; k < result.operands.size(); ++k)
      share.sources.push_back(static_cast<int>(k));
    NormalizeOperands(share.sources, result);
    return share;
  }

  // Makes the position of the read the place of the result's element. An index that is a whole
  // dimension of the operand alone becomes an output index; other dimensions get a new one, to
  // which the position is equal.
  static void PlaceResult(const std::vector<Affine>& position, Definition& result) {
    result.left.clear();
    for (size_t d = 0; d < position.size(); ++d) {
      const int64_t extent = result.result.dims[d];
      const int bare = position[d].BareIndex();
      if (bare >= 0 && result.indices[bare].reduction && result.indices[bare].extent == extent) {
        result.indices[bare].reduction = false;
        result.left.push_back(position[d]);
        continue;
      }
      if (extent == 1) {
        result.left.emplace_back();
        if (!(position[d] == Affine())) result.where.push_back({position[d], true});
        continue;
      }
      result.left.push_back(IndexAffine(AddIndex(result, absl::StrCat("q", d), extent, false)));
      result.where.push_back({position[d] - result.left.back(), true});
    }
  }

  const Definition& definition_;
  int operands_;
};

}  // namespace

absl::StatusOr<Gradient> GradientOf(const Definition& definition, const std::vector<bool>& wanted) {
  YUBA_CHECK(wanted.size() == definition.operands.size()) << definition.name;
  YUBA_CHECK(!definition.partial && definition.partial_operands.empty()) << definition.name;
  if (definition.nograd || !IsFloat(definition.result.type)) return Gradient();
  Definition shared = definition;
  ShareTerms(shared);
  return Differentiator(shared).Differentiate(wanted);
}

}  // namespace yuba
