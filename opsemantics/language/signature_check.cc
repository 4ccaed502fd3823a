#include "opsemantics/language/signature_check.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/element_type.h"
#include "opsemantics/base/status.h"
#include "opsemantics/language/expression_check.h"
#include "opsemantics/language/opaque_check.h"

namespace yuba {
namespace {

class SignatureChecker {
 public:
  SignatureChecker(const OpDescription& op, SymbolTable& symbols)
      : op_(op), symbols_(symbols), expressions_(symbols) {}

  absl::Status Run() {
    YUBA_RETURN_IF_ERROR(Signature());
    YUBA_RETURN_IF_ERROR(Lets());
    YUBA_RETURN_IF_ERROR(Outputs());
    YUBA_RETURN_IF_ERROR(States());
    if (!op_.opaque) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(CheckOpaque(op_, symbols_));
    return expressions_.Static(*op_.flops, false);
  }

 private:
  absl::Status Signature() {
    // Attributes first: a dimension may name one.
    for (const Attribute& attribute : op_.attributes) {
      YUBA_RETURN_IF_ERROR(AttributeType(attribute));
      YUBA_RETURN_IF_ERROR(symbols_.Declare(attribute.name, attribute.range,
                                            {Symbol::kAttribute, attribute.pack, {}}));
    }
    for (const Param& param : op_.params) YUBA_RETURN_IF_ERROR(Operand(param));
    for (const Attribute& attribute : op_.attributes) {
      if (attribute.value != nullptr)
        YUBA_RETURN_IF_ERROR(expressions_.Static(*attribute.value, attribute.pack));
    }
    return absl::OkStatus();
  }

  absl::Status AttributeType(const Attribute& attribute) const {
    const std::string& type = attribute.type;
    if (type.empty() || type == "int" || type == "float" || type == "fraction" || type == "bool" ||
        type == "type" || ElementTypeFromName(type)) {
      return absl::OkStatus();
    }
    return symbols_.Error(
        attribute.range, absl::StrCat("there is no type '", type,
                                      "' of attributes; write int, float, fraction, bool or type"));
  }

  absl::Status Operand(const Param& param) {
    if (!param.type.empty() && param.type != "int" && param.type != "float" &&
        !ElementTypeFromName(param.type)) {
      return symbols_.Error(param.range,
                            absl::StrCat("there is no type '", param.type,
                                         "' of operands; write int, float or one like f32"));
    }
    if (param.absent != nullptr && param.role != Param::kOptional) {
      return symbols_.Error(param.range,
                            "only an 'opt' operand has a value that it reads as when absent");
    }
    std::vector<DimForm> dims;
    for (const Dim& dim : param.dims) {
      YUBA_RETURN_IF_ERROR(OperandDim(dim));
      dims.push_back(FormOf(dim.pack(), dim.element()));
    }
    YUBA_RETURN_IF_ERROR(symbols_.Declare(param.name, param.range, {Symbol::kTensor, false, dims}));
    if (param.absent != nullptr) YUBA_RETURN_IF_ERROR(expressions_.Static(*param.absent, false));
    return absl::OkStatus();
  }

  absl::Status OperandDim(const Dim& dim) {
    const Syntax& element = dim.element();
    if (dim.broadcast && element.kind != Syntax::kName) {
      return symbols_.Error(dim.range, "only a name or a pack of a name can be broadcast with '~'");
    }
    switch (element.kind) {
      case Syntax::kName: return DeclareExtent(element, dim.pack());
      case Syntax::kFactors:
        for (const SyntaxPtr& factor : element.args) {
          if (factor->kind == Syntax::kName) {
            YUBA_RETURN_IF_ERROR(DeclareExtent(*factor, dim.pack()));
          }
        }
        return absl::OkStatus();
      case Syntax::kNumber:
        if (element.is_integer && !dim.pack()) return absl::OkStatus();
        [[fallthrough]];
      default:
        return symbols_.Error(dim.range,
                              "a dimension of an operand is a name, factors like (g c), or an "
                              "integer; extents are found from it, not computed for it");
    }
  }

  absl::Status DeclareExtent(const Syntax& name, bool pack) {
    const Symbol* found = symbols_.Find(name.name);
    if (found == nullptr)
      return symbols_.Declare(name.name, name.range, {Symbol::kExtent, pack, {}});
    if (found->kind == Symbol::kTensor) {
      return symbols_.Error(name.range,
                            absl::StrCat("'", name.name, "' is a tensor, not an extent"));
    }
    if (found->pack != pack) {
      return symbols_.Error(name.range,
                            absl::StrCat("'", name.name, "' is ", pack ? "not a pack" : "a pack",
                                         " elsewhere in the signature"));
    }
    return absl::OkStatus();
  }

  absl::Status Lets() {
    for (const Item& item : op_.items) {
      if (item.kind != Item::kLet) continue;
      YUBA_RETURN_IF_ERROR(expressions_.Static(*item.value, item.pack));
      YUBA_RETURN_IF_ERROR(
          symbols_.Declare(item.name, item.name_range, {Symbol::kLet, item.pack, {}}));
    }
    return absl::OkStatus();
  }

  absl::Status Outputs() {
    for (const Output& output : op_.outputs) {
      std::vector<DimForm> dims;
      for (const Dim& dim : output.dims) {
        if (dim.broadcast)
          return symbols_.Error(dim.range, "an output's dimension cannot be broadcast");
        YUBA_RETURN_IF_ERROR(expressions_.Static(*dim.extent, false, /*pack_allowed=*/true));
        dims.push_back(FormOf(dim.pack(), dim.element()));
      }
      if (!output.type.empty() && !ElementTypeFromName(output.type) &&
          !IsTypeAttribute(output.type)) {
        return symbols_.Error(output.range, absl::StrCat("'", output.type,
                                                         "' is neither an element type nor "
                                                         "an attribute of type 'type'"));
      }
      YUBA_RETURN_IF_ERROR(
          symbols_.Declare(output.name, output.range, {Symbol::kTensor, false, dims}));
      outputs_.insert(output.name);
    }
    return absl::OkStatus();
  }

  bool IsTypeAttribute(const std::string& name) const {
    for (const Attribute& attribute : op_.attributes) {
      if (attribute.name == name) return attribute.type == "type";
    }
    return false;
  }

  absl::Status States() const {
    for (const Output& output : op_.outputs) {
      if (output.name.back() != '\'') continue;
      const std::string state = output.name.substr(0, output.name.size() - 1);
      bool found = false;
      for (const Param& param : op_.params) {
        found = found || (param.name == state && param.role == Param::kState);
      }
      if (!found) {
        return symbols_.Error(output.range, absl::StrCat("there is no operand 'state ", state,
                                                         "' that this could be the next value of"));
      }
    }
    for (const Param& param : op_.params) {
      if (param.role == Param::kState && outputs_.count(param.name + "'") == 0) {
        return symbols_.Error(param.range,
                              absl::StrCat("the state '", param.name, "' has no next value; add ",
                                           param.name, "'[...] to the outputs"));
      }
    }
    return absl::OkStatus();
  }

  const OpDescription& op_;
  SymbolTable& symbols_;
  ExpressionChecker expressions_;
  std::set<std::string> outputs_;
};

}  // namespace

absl::Status CheckSignature(const OpDescription& op, SymbolTable& symbols) {
  return SignatureChecker(op, symbols).Run();
}

}  // namespace yuba
