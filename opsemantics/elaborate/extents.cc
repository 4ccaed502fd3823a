#include "opsemantics/elaborate/extents.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

class Solver {
 public:
  Solver(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
         const std::map<std::string, std::vector<int64_t>>& given)
      : op_(op), operands_(operands), given_(given) {}

  absl::StatusOr<SolvedExtents> Run() {
    Declare();
    YUBA_RETURN_IF_ERROR(TakeGiven());
    YUBA_RETURN_IF_ERROR(SolveRanks(op_, operands_, extents_));
    YUBA_RETURN_IF_ERROR(Align());
    for (bool progress = true; progress;) {
      progress = false;
      for (const Equation& equation : equations_) {
        if (equation.dim->broadcast) continue;
        YUBA_ASSIGN_OR_RETURN(const bool changed, Solve(equation));
        progress = progress || changed;
      }
      if (!progress) {
        YUBA_ASSIGN_OR_RETURN(progress, SolveBroadcast());
      }
    }
    YUBA_RETURN_IF_ERROR(CheckEquations());
    return Result();
  }

 private:
  // One dimension of an operand's shape, and the dimension of the description that it stands for.
  struct Equation {
    size_t operand = 0;
    const Dim* dim = nullptr;
    size_t dim_number = 0;  // of `dim` among those of the operand's description
    int element = 0;        // of the pack, where `dim` is one
    int64_t extent = 0;     // of the shape
    bool missing = false;   // a `~` pack's leading dimension that the shape does not have
  };

  absl::Status Error(const SourceRange& range, absl::string_view message) const {
    return SourceError(*op_.source, range, message);
  }

  void Declare() {
    for (const Param& param : op_.params) {
      for (const Dim& dim : param.dims) {
        ForEachName(dim, [&](const Syntax& name) {
          Extent& extent = extents_[name.name];
          extent.pack = dim.pack();
          extent.rank = extent.pack ? -1 : 1;
          if (!extent.pack) Resize(extent, 1);
        });
      }
    }
    for (const Attribute& attribute : op_.attributes) {
      const auto found = extents_.find(attribute.name);
      if (found != extents_.end()) found->second.attribute = true;
    }
  }

  absl::Status TakeGiven() {
    for (const auto& [name, values] : given_) {
      const auto found = extents_.find(name);
      if (found == extents_.end()) continue;
      Extent& extent = found->second;
      if (!extent.pack && values.size() != 1) {
        return Error(op_.name_range, absl::StrCat("the attribute '", name, "' is a list of ",
                                                  values.size(), ", but one extent is needed"));
      }
      Resize(extent, static_cast<int>(values.size()));
      for (size_t i = 0; i < values.size(); ++i) {
        extent.elements[i] = values[i];
        extent.from[i] = absl::StrCat("attribute '", name, "'");
      }
    }
    return absl::OkStatus();
  }

  // --- Extents.

  // Makes the equations: pairs each dimension of each shape with one of the description.
  absl::Status Align() {
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (!operands_[i]) continue;
      const std::vector<int64_t>& dims = operands_[i]->dims;
      const Param& param = op_.params[i];
      int written = 0, missing = 0;
      for (const Dim& dim : param.dims) written += RankOf(extents_, dim);
      missing = written - static_cast<int>(dims.size());
      const bool may_miss = std::any_of(param.dims.begin(), param.dims.end(),
                                        [](const Dim& dim) { return dim.pack() && dim.broadcast; });
      if (missing < 0 || (missing > 0 && !may_miss)) return RankError(op_, operands_, i);
      size_t at = 0;
      for (size_t d = 0; d < param.dims.size(); ++d) {
        const Dim& dim = param.dims[d];
        const int rank = RankOf(extents_, dim);
        for (int element = 0; element < rank; ++element) {
          Equation equation{i, &dim, d, element, 1, false};
          if (missing > 0 && dim.pack() && dim.broadcast) {
            equation.missing = true;
            --missing;
          } else if (at < dims.size()) {
            equation.extent = dims[at++];
          } else {
            return RankError(op_, operands_, i);
          }
          equations_.push_back(equation);
        }
      }
      if (missing > 0) return RankError(op_, operands_, i);
    }
    return absl::OkStatus();
  }

  const absl::optional<int64_t>& Known(const std::string& name, int element) const {
    const Extent& extent = extents_.at(name);
    return extent.elements[extent.pack ? std::min<int>(element, extent.rank - 1) : 0];
  }

  void Set(const std::string& name, int element, int64_t value, const Equation& equation) {
    Extent& extent = extents_.at(name);
    const int at = extent.pack ? element : 0;
    extent.elements[at] = value;
    extent.from[at] = OperandText(op_, operands_, equation.operand);
  }

  // Solves the equation where one name in it is open; says whether it was.
  absl::StatusOr<bool> Solve(const Equation& equation) {
    const Syntax& written = equation.dim->element();
    if (written.kind == Syntax::kName) {
      if (Known(written.name, equation.element)) return false;
      Set(written.name, equation.element, equation.extent, equation);
      return true;
    }
    if (written.kind != Syntax::kFactors) return false;
    const Syntax* unknown = nullptr;
    int64_t product = 1;
    for (const SyntaxPtr& factor : written.args) {
      const absl::optional<int64_t> value =
          factor->kind == Syntax::kName ? Known(factor->name, equation.element) : factor->integer;
      if (!value) {
        if (unknown != nullptr) return false;  // two unknown factors, or one that is squared
        unknown = factor.get();
      } else if (__builtin_mul_overflow(product, *value, &product)) {
        return Error(equation.dim->range, "the product of these factors overflows");
      }
    }
    if (unknown == nullptr) return false;
    if (product == 0 || equation.extent % product != 0) {
      return absl::StatusOr<bool>(Error(
          equation.dim->range, absl::StrCat(OperandText(op_, operands_, equation.operand),
                                            " has extent ", equation.extent,
                                            " here, which is "
                                            "no multiple of ",
                                            product, ": '", unknown->name, "' has no value")));
    }
    Set(unknown->name, equation.element, equation.extent / product, equation);
    return true;
  }

  // A name that only broadcast dimensions have is the first extent of them that is not 1.
  absl::StatusOr<bool> SolveBroadcast() {
    for (const bool ones : {false, true}) {
      for (const Equation& equation : equations_) {
        if (!equation.dim->broadcast || equation.missing) continue;
        const std::string& name = equation.dim->element().name;
        if (Known(name, equation.element) || (equation.extent == 1) != ones) continue;
        Set(name, equation.element, equation.extent, equation);
        return true;
      }
    }
    return false;
  }

  absl::Status CheckEquations() const {
    for (const Equation& equation : equations_) {
      if (equation.missing) continue;
      int64_t product = 1;
      std::string names;
      absl::Status unknown;
      const auto multiply = [&](const Syntax& factor) {
        if (factor.kind == Syntax::kNumber) {
          if (__builtin_mul_overflow(product, factor.integer, &product)) product = -1;
          return;
        }
        const absl::optional<int64_t> value = Known(factor.name, equation.element);
        if (!value) {
          if (!unknown.ok()) return;
          unknown = Error(factor.range, absl::StrCat("the extent '", factor.name,
                                                     "' cannot be told from the "
                                                     "operands; give it as the attribute '",
                                                     factor.name, "'"));
          return;
        }
        const Extent& extent = extents_.at(factor.name);
        absl::StrAppend(&names, names.empty() ? "" : ", ", factor.name, " = ", *value, " by ",
                        extent.from[extent.pack ? equation.element : 0]);
        if (__builtin_mul_overflow(product, *value, &product)) product = -1;
      };
      const Syntax& written = equation.dim->element();
      if (written.kind == Syntax::kFactors) {
        for (const SyntaxPtr& factor : written.args) multiply(*factor);
      } else {
        multiply(written);
      }
      YUBA_RETURN_IF_ERROR(unknown);
      if (product == equation.extent || (equation.dim->broadcast && equation.extent == 1)) continue;
      return Error(equation.dim->range,
                   absl::StrCat(OperandText(op_, operands_, equation.operand), " has extent ",
                                equation.extent, " here, not ", product, names.empty() ? "" : ": ",
                                names, equation.dim->broadcast ? " (1 would be broadcast)" : ""));
    }
    return absl::OkStatus();
  }

  SolvedExtents Result() const {
    SolvedExtents result;
    result.extents = extents_;
    result.operands.resize(operands_.size());
    for (const Equation& equation : equations_) {
      std::vector<BoundDim>& dims = result.operands[equation.operand];
      dims.resize(op_.params[equation.operand].dims.size());
      BoundElement element;
      const Syntax& written = equation.dim->element();
      if (written.kind == Syntax::kFactors) {
        for (const SyntaxPtr& factor : written.args) {
          element.factors.push_back(factor->kind == Syntax::kName
                                        ? *Known(factor->name, equation.element)
                                        : factor->integer);
        }
      } else {
        element.factors = {written.kind == Syntax::kName
                               ? Known(written.name, equation.element).value_or(1)
                               : written.integer};
      }
      element.missing = equation.missing;
      element.one = equation.dim->broadcast && !equation.missing && equation.extent == 1 &&
                    element.factors[0] != 1;
      dims[equation.dim_number].elements.push_back(std::move(element));
    }
    for (size_t i = 0; i < operands_.size(); ++i) {
      result.operands[i].resize(op_.params[i].dims.size());
      for (size_t d = 0; d < op_.params[i].dims.size(); ++d) {
        const Dim& dim = op_.params[i].dims[d];
        result.operands[i][d].pack = dim.pack();
        result.operands[i][d].factored = dim.element().kind == Syntax::kFactors;
      }
    }
    return result;
  }

  const OpDescription& op_;
  const std::vector<absl::optional<Shape>>& operands_;
  const std::map<std::string, std::vector<int64_t>>& given_;
  Extents extents_;
  std::vector<Equation> equations_;
};

}  // namespace

absl::StatusOr<SolvedExtents> SolveExtents(
    const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
    const std::map<std::string, std::vector<int64_t>>& given) {
  return Solver(op, operands, given).Run();
}

}  // namespace yuba
