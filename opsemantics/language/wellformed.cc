#include "opsemantics/language/wellformed.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/language/expression_check.h"
#include "opsemantics/language/gradient_items.h"
#include "opsemantics/language/signature_check.h"
#include "opsemantics/language/symbols.h"

namespace yuba {
namespace {

class Checker {
 public:
  explicit Checker(const OpDescription& op) : op_(op), symbols_(op), expressions_(symbols_) {}

  absl::Status Run() {
    YUBA_RETURN_IF_ERROR(CheckSignature(op_, symbols_));
    if (op_.opaque) return absl::OkStatus();
    for (const Output& output : op_.outputs) outputs_.insert(output.name);
    YUBA_RETURN_IF_ERROR(DeclareDefinitions());
    YUBA_RETURN_IF_ERROR(DeclareOutputGradients());
    for (const Item& item : op_.items) {
      if (item.kind == Item::kDefinition) YUBA_RETURN_IF_ERROR(Definition(item));
      if (item.kind == Item::kGradient) YUBA_RETURN_IF_ERROR(Gradient(item));
    }
    YUBA_RETURN_IF_ERROR(AllDefinedAndRead());
    return NoCycles();
  }

 private:
  absl::Status DeclareDefinitions() {
    for (const Item& item : op_.items) {
      if (item.kind != Item::kDefinition) continue;
      std::vector<DimForm> dims;
      for (const LeftDim& left : item.left) dims.push_back(FormOf(left.pack(), left.element()));
      const Symbol* found = symbols_.Find(item.name);
      const bool again = defined_.count(item.name) != 0;
      if (outputs_.count(item.name) != 0 || again) {
        YUBA_RETURN_IF_ERROR(SameForm(item, found->dims));
        if (again && (!HasConstant(item) || !defined_[item.name])) {
          return symbols_.Error(
              item.name_range,
              absl::StrCat("'", item.name,
                           "' is defined twice; several definitions of one "
                           "name need different constants on the left, as (0 c) and (1 c)"));
        }
      } else {
        YUBA_RETURN_IF_ERROR(
            symbols_.Declare(item.name, item.name_range, {Symbol::kTensor, false, dims}));
      }
      defined_[item.name] = HasConstant(item);
    }
    return absl::OkStatus();
  }

  // With a `grad`, dNAME is the gradient of the output NAME. Only gradients may need it.
  absl::Status DeclareOutputGradients() {
    const auto gradient = std::find_if(op_.items.begin(), op_.items.end(), [](const Item& item) {
      return item.kind == Item::kGradient;
    });
    if (gradient == op_.items.end()) return absl::OkStatus();
    for (const Output& output : op_.outputs) {
      if (IsNextValue(output)) continue;
      YUBA_RETURN_IF_ERROR(
          symbols_.Declare(GradientName(output), gradient->name_range,
                           {Symbol::kTensor, false, symbols_.Find(output.name)->dims}));
    }
    const std::set<std::string> backward = ReadersOfGradients(op_);
    for (const Item& item : op_.items) {
      if (item.kind != Item::kDefinition || outputs_.count(item.name) == 0) continue;
      if (backward.count(item.name) == 0) continue;
      return symbols_.Error(item.name_range, absl::StrCat("the output '", item.name,
                                                          "' needs the gradient of an output, "
                                                          "which is known only after it"));
    }
    return absl::OkStatus();
  }

  static bool HasConstant(const Item& item) {
    for (const LeftDim& left : item.left) {
      if (left.element().kind != Syntax::kFactors) continue;
      for (const SyntaxPtr& factor : left.element().args) {
        if (factor->kind == Syntax::kNumber) return true;
      }
    }
    return false;
  }

  absl::Status SameForm(const Item& item, const std::vector<DimForm>& dims) const {
    if (item.left.size() != dims.size()) {
      return symbols_.Error(item.name_range, absl::StrCat("'", item.name, "' has ", dims.size(),
                                                          " dimensions (a pack counts once), but ",
                                                          item.left.size(), " here"));
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      const DimForm form = FormOf(item.left[d].pack(), item.left[d].element());
      if (form.pack != dims[d].pack || form.factors != dims[d].factors) {
        return symbols_.Error(item.left[d].range,
                              absl::StrCat("this is ", ToString(form), ", but '", item.name,
                                           "' is declared with ", ToString(dims[d]), " here"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Definition(const Item& item) {
    std::vector<std::string> added;
    for (const LeftDim& left : item.left) {
      YUBA_RETURN_IF_ERROR(LeftIndex(left, added));
    }
    YUBA_RETURN_IF_ERROR(expressions_.Expression(*item.value, /*zip=*/false));
    symbols_.Remove(added);
    return absl::OkStatus();
  }

  absl::Status LeftIndex(const LeftDim& left, std::vector<std::string>& added) {
    if (left.extent != nullptr) {
      YUBA_RETURN_IF_ERROR(expressions_.Static(*left.extent, false, /*pack_allowed=*/true));
      if (left.element().kind == Syntax::kFactors) {
        return symbols_.Error(left.range, "give extents to a definition's plain indices only");
      }
      if ((left.extent->kind == Syntax::kPack) != left.pack()) {
        return symbols_.Error(
            left.range, "a pack of indices needs a pack of extents, and one index one extent");
      }
    }
    if (left.element().kind == Syntax::kName) {
      return symbols_.AddIndex(left.element().name, left.pack(), left.range, added);
    }
    for (const SyntaxPtr& factor : left.element().args) {
      if (factor->kind == Syntax::kName) {
        YUBA_RETURN_IF_ERROR(symbols_.AddIndex(factor->name, left.pack(), factor->range, added));
      } else if (left.pack()) {
        return symbols_.Error(factor->range, "a constant cannot be a factor of a pack on the left");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Gradient(const Item& item) {
    const auto param = std::find_if(op_.params.begin(), op_.params.end(),
                                    [&](const Param& p) { return p.name == item.name; });
    if (param == op_.params.end()) {
      return symbols_.Error(item.name_range, absl::StrCat("'", item.name,
                                                          "' is no operand, so it has no "
                                                          "gradient here"));
    }
    if (!differentiated_.insert(item.name).second) {
      return symbols_.Error(item.name_range,
                            absl::StrCat("'", item.name, "' has two gradients here"));
    }
    YUBA_RETURN_IF_ERROR(SameForm(item, symbols_.Find(item.name)->dims));
    return Definition(item);
  }

  // --- The whole.

  absl::Status AllDefinedAndRead() const {
    for (const Output& output : op_.outputs) {
      if (defined_.count(output.name) == 0) {
        return symbols_.Error(output.range,
                              absl::StrCat("the output '", output.name, "' is never defined"));
      }
    }
    std::set<std::string> read;
    for (const Item& item : op_.items) {
      WalkSyntax(*item.value, [&](const Syntax& syntax) {
        if (syntax.kind == Syntax::kRead) read.insert(syntax.name);
      });
    }
    for (const Item& item : op_.items) {
      if (item.kind == Item::kDefinition && outputs_.count(item.name) == 0 &&
          read.count(item.name) == 0) {
        return symbols_.Error(item.name_range,
                              absl::StrCat("'", item.name, "' is neither an output nor read"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status NoCycles() const {
    std::set<std::string> done;
    for (const Param& param : op_.params) done.insert(param.name);
    for (const Output& output : op_.outputs) done.insert(GradientName(output));
    std::map<std::string, std::set<std::string>> waits;
    for (const Item& item : op_.items) {
      if (item.kind != Item::kDefinition) continue;
      std::set<std::string>& reads = waits[item.name];
      WalkSyntax(*item.value, [&](const Syntax& syntax) {
        if (syntax.kind == Syntax::kRead) reads.insert(syntax.name);
      });
    }
    for (bool progress = true; progress;) {
      progress = false;
      for (const auto& [name, reads] : waits) {
        if (done.count(name) != 0) continue;
        bool ready = true;
        for (const std::string& read : reads) ready = ready && done.count(read) != 0;
        if (ready) progress = done.insert(name).second;
      }
    }
    for (const Item& item : op_.items) {
      if (item.kind == Item::kDefinition && done.count(item.name) == 0) {
        return symbols_.Error(item.name_range,
                              absl::StrCat("'", item.name, "' is defined by way of itself"));
      }
    }
    return absl::OkStatus();
  }

  const OpDescription& op_;
  SymbolTable symbols_;
  ExpressionChecker expressions_;
  std::set<std::string> outputs_;
  std::set<std::string> differentiated_;  // operands with a `grad`
  std::map<std::string, bool> defined_;   // [name]: whether it has constants on its left side
};

}  // namespace

absl::Status CheckWellFormed(const OpDescription& op) { return Checker(op).Run(); }

}  // namespace yuba
