#include "opsemantics/elaborate/bind_output.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

class OutputBinder {
 public:
  OutputBinder(const OpDescription& op, const Binding& binding, Evaluator& evaluator)
      : op_(op), binding_(binding), evaluator_(evaluator) {}

  absl::StatusOr<BoundTensor> Run(const Output& output) {
    BoundTensor tensor;
    YUBA_ASSIGN_OR_RETURN(tensor.type, OutputType(output));
    int64_t size = 1;
    for (const Dim& dim : output.dims) {
      YUBA_ASSIGN_OR_RETURN(BoundDim bound, OutputDim(dim));
      for (const BoundElement& element : bound.elements) {
        for (int64_t factor : element.factors) {
          // Zero extents must not hide an overflow of the others.
          if (__builtin_mul_overflow(size, std::max<int64_t>(factor, 1), &size)) {
            return Error(dim.range, absl::StrCat("the number of elements of '", output.name,
                                                 "' overflows 64 bits"));
          }
        }
      }
      tensor.dims.push_back(std::move(bound));
    }
    return tensor;
  }

 private:
  absl::Status Error(const SourceRange& range, absl::string_view message) const {
    return SourceError(*op_.source, range, message);
  }

  absl::StatusOr<ElementType> OutputType(const Output& output) const {
    if (const auto type = ElementTypeFromName(output.type)) return *type;
    if (!output.type.empty()) {
      const Term& type = binding_.names.at(output.type).elements[0];
      return type.type;
    }
    if (output.name.back() == '\'') {
      return binding_.tensors.at(output.name.substr(0, output.name.size() - 1)).type;
    }
    if (binding_.common) return *binding_.common;
    for (const Param& param : op_.params) {
      const auto found = binding_.tensors.find(param.name);
      if (!found->second.absent) return found->second.type;
    }
    return absl::StatusOr<ElementType>(
        Error(output.range, "no operand says the type of this output; write it, as y[n]: f32"));
  }

  absl::StatusOr<BoundDim> OutputDim(const Dim& dim) {
    BoundDim bound;
    bound.pack = dim.pack();
    bound.factored = dim.element().kind == Syntax::kFactors;
    std::vector<const Syntax*> factors;
    if (bound.factored) {
      for (const SyntaxPtr& factor : dim.element().args) factors.push_back(factor.get());
    } else {
      factors.push_back(&dim.element());
    }
    for (size_t f = 0; f < factors.size(); ++f) {
      YUBA_ASSIGN_OR_RETURN(const std::vector<Term> values, FactorValues(dim, *factors[f]));
      if (f == 0) bound.elements.resize(values.size());
      for (size_t i = 0; i < values.size() && i < bound.elements.size(); ++i) {
        YUBA_ASSIGN_OR_RETURN(const int64_t extent, ExtentOf(values[i], *factors[f]));
        bound.elements[i].factors.push_back(extent);
      }
    }
    return bound;
  }

  absl::StatusOr<std::vector<Term>> FactorValues(const Dim& dim, const Syntax& factor) {
    if (!dim.pack()) {
      YUBA_ASSIGN_OR_RETURN(Term value, evaluator_.Evaluate(factor, Division::kRoundDown));
      return std::vector<Term>{std::move(value)};
    }
    if (factor.kind == Syntax::kNumber) {  // a constant factor of a pack of factors
      for (const SyntaxPtr& other : dim.element().args) {
        if (other->kind != Syntax::kName) continue;
        YUBA_ASSIGN_OR_RETURN(const std::vector<Term> all,
                              evaluator_.EvaluatePack(*other, Division::kRoundDown));
        return std::vector<Term>(all.size(), IntegerTerm(factor.integer));
      }
    }
    return evaluator_.EvaluatePack(factor, Division::kRoundDown);
  }

  absl::StatusOr<int64_t> ExtentOf(const Term& value, const Syntax& written) const {
    if (value.kind != Term::kInteger) return Error(written.range, "an extent is an integer");
    if (value.integer < 0) {
      return Error(written.range, absl::StrCat("this extent would be ", value.integer,
                                               "; the operands or attributes do not fit each other",
                                               KnownText(written)));
    }
    return value.integer;
  }

  // " (h = 3, k = 5)"
  std::string KnownText(const Syntax& syntax) const {
    std::vector<std::string> parts;
    std::set<std::string> seen;
    WalkSyntax(syntax, [&](const Syntax& part) {
      const auto found = binding_.names.find(part.name);
      if (part.kind != Syntax::kName || found == binding_.names.end()) return;
      if (!seen.insert(part.name).second) return;
      std::vector<std::string> values;
      for (const Term& term : found->second.elements) {
        if (term.IsStatic()) values.push_back(absl::StrCat(term.AsNumber()));
      }
      const bool list = found->second.pack && !found->second.repeats;
      parts.push_back(absl::StrCat(part.name, " = ", list ? "[" : "", absl::StrJoin(values, ", "),
                                   list ? "]" : ""));
    });
    return parts.empty() ? "" : absl::StrCat(" (", absl::StrJoin(parts, ", "), ")");
  }

  const OpDescription& op_;
  const Binding& binding_;
  Evaluator& evaluator_;
};

}  // namespace

absl::StatusOr<BoundTensor> BindOutput(const OpDescription& op, const Output& output,
                                       const Binding& binding, Evaluator& evaluator) {
  return OutputBinder(op, binding, evaluator).Run(output);
}

}  // namespace yuba
