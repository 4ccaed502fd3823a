#include "opsemantics/definition/refine.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/arithmetic.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/index_names.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba {
namespace {

using Factors = std::vector<int64_t>;

Factors WithoutOnes(const Factors& factors) {
  Factors real;
  for (int64_t factor : factors) {
    if (factor != 1) real.push_back(factor);
  }
  if (real.empty()) real.push_back(1);
  return real;
}

int64_t Product(const Factors& factors) {
  int64_t product = 1;
  for (int64_t factor : factors) product *= factor;
  return product;
}

class Refiner {
 public:
  Refiner(const Definition& definition, const Refinement& refinement)
      : old_(definition),
        refinement_(refinement),
        positions_(definition.indices.size()),
        in_window_(definition.indices.size()) {}

  absl::optional<Definition> Run() {
    if (!SplitIndices()) return absl::nullopt;
    fresh_.name = old_.name;
    fresh_.nograd = old_.nograd;
    fresh_.reducer = old_.reducer;
    for (size_t o = 0; o < old_.operands.size(); ++o) {
      fresh_.operands.push_back(Type(old_.operands[o], refinement_.operands[o]));
    }
    fresh_.result = Type(old_.result, refinement_.result);
    fresh_.left = Position(old_.left, refinement_.result);
    for (const Constraint& constraint : old_.where) {
      fresh_.where.push_back({Substitute(constraint.expression), constraint.equality});
    }
    for (const DataCondition& condition : old_.data_where) {
      fresh_.data_where.push_back({Substitute(condition.index), condition.compare,
                                   condition.reversed, Rewrite(condition.value),
                                   Split(condition.table)});
    }
    fresh_.body = Rewrite(old_.body);
    fresh_.opaque = old_.opaque;
    if (!possible_) return absl::nullopt;
    DropEmptyReduction();
    ShareTerms(fresh_);
    return std::move(fresh_);
  }

 private:
  // Splits every index at the positions of all dimensions along it. A position is the product of
  // the factors inside it: (3 12 64) splits at 64 and at 768. False where they are no chain.
  bool SplitIndices() {
    Collect(old_.left, refinement_.result);
    const auto collect = [this](const Expr& expr) {
      if (expr.kind != Expr::kRead) return;
      Collect(expr.position, refinement_.operands[expr.operand]);
      KeepWindows(expr.position);
    };
    Walk(old_.body, collect);
    for (const DataCondition& condition : old_.data_where) Walk(condition.value, collect);
    for (size_t i = 0; i < old_.indices.size(); ++i) {
      if (!SplitIndex(i)) return false;
    }
    return true;
  }

  void Collect(const std::vector<Affine>& position, const std::vector<Factors>& factors) {
    for (size_t d = 0; d < position.size(); ++d) {
      const int index = position[d].BareIndex();
      // A dimension longer than the index is only read in part: its factors say nothing of the
      // index.
      if (index < 0 || Product(factors[d]) != old_.indices[index].extent) continue;
      int64_t product = 1;
      for (auto factor = factors[d].rbegin(); factor != factors[d].rend(); ++factor) {
        positions_[index].insert(product);
        product *= *factor;
      }
    }
  }

  // A window of one tap or of one output stays a window, unless nothing is left of it.
  void KeepWindows(const std::vector<Affine>& position) {
    for (const Affine& affine : position) {
      Affine rest = ConstantAffine(affine.constant);
      for (const auto& term : affine.terms) {
        if (old_.indices[term.first].extent > 1) rest.terms.push_back(term);
      }
      if (rest.IsConstant() || rest.BareIndex() >= 0) continue;
      for (const auto& term : affine.terms) in_window_[term.first] = true;
    }
  }

  bool SplitIndex(size_t i) {
    const Index& index = old_.indices[i];
    Affine value;
    const bool opaque = IsOpaque(old_);  // its function sees dimensions of 1 too
    if (index.extent == 1 && !in_window_[i] && !(index.reduction && IsArg()) && !opaque) {
      values_.push_back(value);
      return true;
    }
    std::set<int64_t>& positions = positions_[i];
    positions.erase(index.extent);
    positions.insert(1);
    const bool whole = positions.size() == 1;
    if (!whole && opaque && !MayBeCut(old_, static_cast<int>(i))) return false;
    int64_t outer = index.extent, part = 0;
    for (auto position = positions.rbegin(); position != positions.rend(); ++position) {
      if (outer % *position != 0) return false;  // no chain
      const int fresh = AddIndex(fresh_, whole ? index.name : absl::StrCat(index.name, ".", part++),
                                 outer / *position, index.reduction);
      value = value + IndexAffine(fresh) * *position;
      ranges_.push_back({0, outer / *position});
      outer = *position;
    }
    values_.push_back(value);
    return true;
  }

  bool IsArg() const { return IsArgReducer(old_.reducer); }

  static TensorType Type(const TensorType& type, const std::vector<Factors>& factors) {
    YUBA_CHECK(factors.size() == type.dims.size());
    TensorType fresh;
    fresh.type = type.type;
    for (size_t d = 0; d < factors.size(); ++d) {
      YUBA_CHECK(Product(factors[d]) == type.dims[d]) << "factors of dimension " << d;
      const Factors real = WithoutOnes(factors[d]);
      fresh.dims.insert(fresh.dims.end(), real.begin(), real.end());
    }
    return fresh;
  }

  Affine Substitute(const Affine& affine) const {
    Affine fresh = ConstantAffine(affine.constant);
    for (const auto& [index, coefficient] : affine.terms) {
      fresh = fresh + values_[index] * coefficient;
    }
    return fresh;
  }

  // The table over the fresh indices: those of an old index are its digits, so the order stays.
  ValueTablePtr Split(const ValueTablePtr& table) const {
    if (table == nullptr) return nullptr;
    ValueTable fresh;
    fresh.values = table->values;
    for (int index : table->indices) {
      for (const auto& term : values_[index].terms) {
        fresh.indices.push_back(term.first);
        fresh.extents.push_back(fresh_.indices[term.first].extent);
      }
    }
    return std::make_shared<const ValueTable>(std::move(fresh));
  }

  std::vector<Affine> Position(const std::vector<Affine>& position,
                               const std::vector<Factors>& factors) {
    std::vector<Affine> fresh;
    for (size_t d = 0; d < position.size(); ++d) {
      const std::vector<Affine> digits = Digits(Substitute(position[d]), WithoutOnes(factors[d]));
      fresh.insert(fresh.end(), digits.begin(), digits.end());
    }
    return fresh;
  }

  // A position written in the mixed radix of `factors`: each inner digit stays inside its factor,
  // so that only the first can be outside the tensor.
  std::vector<Affine> Digits(Affine value, const Factors& factors) {
    std::vector<Affine> digits(factors.size());
    for (size_t f = factors.size() - 1; f > 0; --f) {
      const int64_t factor = factors[f];
      Affine outer, inner;
      for (const auto& [index, coefficient] : value.terms) {
        if (coefficient % factor == 0) {
          outer.terms.push_back({index, coefficient / factor});
        } else {
          inner.terms.push_back({index, coefficient});
        }
      }
      outer.constant = FloorDiv(value.constant + Range(inner, ranges_).begin, factor);
      inner.constant = value.constant - outer.constant * factor;
      possible_ &= Interval{0, factor}.Contains(Range(inner, ranges_));
      digits[f] = inner;
      value = outer;
    }
    digits[0] = value;
    return digits;
  }

  ExprPtr Rewrite(const ExprPtr& expr) {
    return rewritten_.Of(expr, [&] { return RewriteNew(expr); });
  }

  ExprPtr RewriteNew(const ExprPtr& expr) {
    auto fresh = std::make_shared<Expr>(*expr);
    if (expr->kind == Expr::kIndex) fresh->affine = Substitute(expr->affine);
    if (expr->kind == Expr::kRead) {
      fresh->position = Position(expr->position, refinement_.operands[expr->operand]);
    }
    if (expr->kind == Expr::kRead && IsAlwaysInside(*fresh)) fresh->args.clear();
    for (ExprPtr& arg : fresh->args) arg = Rewrite(arg);
    return fresh;
  }

  bool IsAlwaysInside(const Expr& read) const {
    const std::vector<int64_t>& dims = fresh_.operands[read.operand].dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (!Interval{0, dims[d]}.Contains(Range(read.position[d], ranges_))) return false;
    }
    return true;
  }

  // A reduction of exactly one term is a map.
  void DropEmptyReduction() {
    const bool reduces = std::any_of(fresh_.indices.begin(), fresh_.indices.end(),
                                     [](const Index& index) { return index.reduction; });
    if (!reduces && !IsOpaque(fresh_) && fresh_.where.empty() && fresh_.data_where.empty()) {
      fresh_.reducer = Reducer::kNone;
    }
  }

  const Definition& old_;
  const Refinement& refinement_;
  std::vector<std::set<int64_t>> positions_;  // [old index]
  std::vector<bool> in_window_;               // [old index] stays even if its extent is 1
  std::vector<Affine> values_;                // [old index] in terms of the fresh indices
  std::vector<Interval> ranges_;              // [fresh index]
  PerTerm<ExprPtr> rewritten_;
  Definition fresh_;
  bool possible_ = true;
};

}  // namespace

absl::optional<Definition> TryRefine(const Definition& definition, const Refinement& refinement) {
  YUBA_CHECK(refinement.operands.size() == definition.operands.size()) << definition.name;
  return Refiner(definition, refinement).Run();
}

Definition Refine(const Definition& definition, const Refinement& refinement) {
  absl::optional<Definition> refined = TryRefine(definition, refinement);
  YUBA_CHECK(refined.has_value()) << ToString(definition) << " cannot be split as asked";
  return *std::move(refined);
}

}  // namespace yuba
