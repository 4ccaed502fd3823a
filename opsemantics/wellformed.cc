#include "opsemantics/wellformed.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/element_type.h"
#include "opsemantics/base/status.h"
#include "opsemantics/functions.h"

namespace yuba {
namespace {

// What is known of one dimension of a tensor before its extent is.
struct DimForm {
  bool pack = false;
  int factors = 0;  // 0: not written as factors
};

struct Symbol {
  enum Kind { kExtent, kAttribute, kLet, kTensor, kIndex };
  Kind kind = kExtent;
  bool pack = false;
  std::vector<DimForm> dims;  // of a tensor
};

const char* KindName(Symbol::Kind kind) {
  switch (kind) {
    case Symbol::kExtent: return "an extent";
    case Symbol::kAttribute: return "an attribute";
    case Symbol::kLet: return "a let";
    case Symbol::kTensor: return "a tensor";
    case Symbol::kIndex: return "an index";
  }
  return "";
}

DimForm FormOf(bool pack, const Syntax& element) {
  const bool factors = element.kind == Syntax::kFactors;
  return {pack, factors ? static_cast<int>(element.args.size()) : 0};
}

std::string Shown(const DimForm& form) {
  std::string shown = "one dimension";
  if (form.factors > 0) shown = absl::StrCat(form.factors, " factors");
  return form.pack ? absl::StrCat("a pack of ", form.factors > 0 ? shown : "dimensions") : shown;
}

class Checker {
 public:
  explicit Checker(const OpDescription& op) : op_(op) {}

  absl::Status Run() {
    YUBA_RETURN_IF_ERROR(Signature());
    YUBA_RETURN_IF_ERROR(Lets());
    YUBA_RETURN_IF_ERROR(Outputs());
    YUBA_RETURN_IF_ERROR(States());
    if (op_.opaque) return Opaque();
    YUBA_RETURN_IF_ERROR(DeclareDefinitions());
    for (const Item& item : op_.items) {
      if (item.kind == Item::kDefinition) YUBA_RETURN_IF_ERROR(Definition(item));
      if (item.kind == Item::kGradient) YUBA_RETURN_IF_ERROR(Gradient(item));
    }
    YUBA_RETURN_IF_ERROR(AllDefinedAndRead());
    return NoCycles();
  }

 private:
  absl::Status Error(const SourceRange& range, absl::string_view message) const {
    return SourceError(*op_.source, range, message);
  }

  absl::Status Declare(const std::string& name, const SourceRange& range, Symbol symbol) {
    const auto found = symbols_.find(name);
    if (found != symbols_.end()) {
      return Error(range, absl::StrCat("'", name, "' is already ", KindName(found->second.kind),
                                       " here; choose another name"));
    }
    if (name == "inf" || ElementTypeFromName(name)) {
      return Error(range, absl::StrCat("'", name, "' has a meaning of its own; choose another name"));
    }
    symbols_.emplace(name, std::move(symbol));
    return absl::OkStatus();
  }

  // --- The signature.

  absl::Status Signature() {
    // Attributes first: a dimension may name one.
    for (const Attribute& attribute : op_.attributes) {
      YUBA_RETURN_IF_ERROR(AttributeType(attribute));
      YUBA_RETURN_IF_ERROR(
          Declare(attribute.name, attribute.range, {Symbol::kAttribute, attribute.pack, {}}));
    }
    for (const Param& param : op_.params) YUBA_RETURN_IF_ERROR(Operand(param));
    for (const Attribute& attribute : op_.attributes) {
      if (attribute.value != nullptr) YUBA_RETURN_IF_ERROR(Static(*attribute.value, attribute.pack));
    }
    return absl::OkStatus();
  }

  absl::Status AttributeType(const Attribute& attribute) const {
    const std::string& type = attribute.type;
    if (type.empty() || type == "int" || type == "float" || type == "bool" || type == "type" ||
        ElementTypeFromName(type)) {
      return absl::OkStatus();
    }
    return Error(attribute.range, absl::StrCat("there is no type '", type,
                                               "' of attributes; write int, float, bool or type"));
  }

  absl::Status Operand(const Param& param) {
    if (!param.type.empty() && param.type != "int" && param.type != "float" &&
        !ElementTypeFromName(param.type)) {
      return Error(param.range, absl::StrCat("there is no type '", param.type,
                                             "' of operands; write int, float or one like f32"));
    }
    if (param.absent != nullptr && param.role != Param::kOptional) {
      return Error(param.range, "only an 'opt' operand has a value that it reads as when absent");
    }
    std::vector<DimForm> dims;
    std::set<std::string> seen_packs;
    for (const Dim& dim : param.dims) {
      YUBA_RETURN_IF_ERROR(OperandDim(dim));
      dims.push_back(FormOf(dim.pack(), dim.element()));
    }
    YUBA_RETURN_IF_ERROR(Declare(param.name, param.range, {Symbol::kTensor, false, dims}));
    if (param.absent != nullptr) YUBA_RETURN_IF_ERROR(Static(*param.absent, false));
    return absl::OkStatus();
  }

  absl::Status OperandDim(const Dim& dim) {
    const Syntax& element = dim.element();
    if (dim.broadcast && element.kind != Syntax::kName) {
      return Error(dim.range, "only a name or a pack of a name can be broadcast with '~'");
    }
    switch (element.kind) {
      case Syntax::kName:
        return DeclareExtent(element, dim.pack());
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
        return Error(dim.range, "a dimension of an operand is a name, factors like (g c), or an "
                                "integer; extents are found from it, not computed for it");
    }
  }

  absl::Status DeclareExtent(const Syntax& name, bool pack) {
    const auto found = symbols_.find(name.name);
    if (found == symbols_.end()) return Declare(name.name, name.range, {Symbol::kExtent, pack, {}});
    if (found->second.kind == Symbol::kTensor) {
      return Error(name.range, absl::StrCat("'", name.name, "' is a tensor, not an extent"));
    }
    if (found->second.pack != pack) {
      return Error(name.range, absl::StrCat("'", name.name, "' is ", pack ? "not a pack" : "a pack",
                                            " elsewhere in the signature"));
    }
    return absl::OkStatus();
  }

  absl::Status Lets() {
    for (const Item& item : op_.items) {
      if (item.kind != Item::kLet) continue;
      YUBA_RETURN_IF_ERROR(Static(*item.value, item.pack));
      YUBA_RETURN_IF_ERROR(Declare(item.name, item.name_range, {Symbol::kLet, item.pack, {}}));
    }
    return absl::OkStatus();
  }

  absl::Status Outputs() {
    for (const Output& output : op_.outputs) {
      std::vector<DimForm> dims;
      for (const Dim& dim : output.dims) {
        if (dim.broadcast) return Error(dim.range, "an output's dimension cannot be broadcast");
        YUBA_RETURN_IF_ERROR(Static(*dim.extent, false, /*pack_allowed=*/true));
        dims.push_back(FormOf(dim.pack(), dim.element()));
      }
      if (!output.type.empty() && !ElementTypeFromName(output.type) && !IsTypeAttribute(output.type)) {
        return Error(output.range, absl::StrCat("'", output.type, "' is neither an element type nor "
                                                "an attribute of type 'type'"));
      }
      YUBA_RETURN_IF_ERROR(Declare(output.name, output.range, {Symbol::kTensor, false, dims}));
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
        return Error(output.range, absl::StrCat("there is no operand 'state ", state,
                                                "' that this could be the next value of"));
      }
    }
    for (const Param& param : op_.params) {
      if (param.role == Param::kState && outputs_.count(param.name + "'") == 0) {
        return Error(param.range, absl::StrCat("the state '", param.name, "' has no next value; add ",
                                               param.name, "'[...] to the outputs"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Opaque() {
    for (const std::string& cut : op_.cuts) {
      const auto found = symbols_.find(cut);
      if (found == symbols_.end() || found->second.kind != Symbol::kExtent) {
        return Error(op_.name_range, absl::StrCat("'", cut, "', which may be cut, is no extent"));
      }
    }
    return Static(*op_.flops, false);
  }

  // --- Definitions.

  absl::Status DeclareDefinitions() {
    for (const Item& item : op_.items) {
      if (item.kind != Item::kDefinition) continue;
      std::vector<DimForm> dims;
      for (const LeftDim& left : item.left) dims.push_back(FormOf(left.pack(), left.element()));
      const auto found = symbols_.find(item.name);
      const bool again = defined_.count(item.name) != 0;
      if (outputs_.count(item.name) != 0 || again) {
        YUBA_RETURN_IF_ERROR(SameForm(item, found->second.dims));
        if (again && (!HasConstant(item) || !defined_[item.name])) {
          return Error(item.name_range,
                       absl::StrCat("'", item.name, "' is defined twice; several definitions of one "
                                    "name need different constants on the left, as (0 c) and (1 c)"));
        }
      } else {
        YUBA_RETURN_IF_ERROR(Declare(item.name, item.name_range, {Symbol::kTensor, false, dims}));
      }
      defined_[item.name] = HasConstant(item);
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
      return Error(item.name_range, absl::StrCat("'", item.name, "' has ", dims.size(),
                                                 " dimensions (a pack counts once), but ",
                                                 item.left.size(), " here"));
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      const DimForm form = FormOf(item.left[d].pack(), item.left[d].element());
      if (form.pack != dims[d].pack || form.factors != dims[d].factors) {
        return Error(item.left[d].range, absl::StrCat("this is ", Shown(form), ", but '", item.name,
                                                      "' is declared with ", Shown(dims[d]), " here"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Definition(const Item& item) {
    std::vector<std::string> added;
    for (const LeftDim& left : item.left) {
      YUBA_RETURN_IF_ERROR(LeftIndex(left, added));
    }
    YUBA_RETURN_IF_ERROR(Expression(*item.value, /*zip=*/false));
    for (const std::string& name : added) symbols_.erase(name);
    return absl::OkStatus();
  }

  absl::Status LeftIndex(const LeftDim& left, std::vector<std::string>& added) {
    if (left.extent != nullptr) {
      YUBA_RETURN_IF_ERROR(Static(*left.extent, false, /*pack_allowed=*/true));
      if (left.element().kind == Syntax::kFactors) {
        return Error(left.range, "give extents to a definition's plain indices only");
      }
      if ((left.extent->kind == Syntax::kPack) != left.pack()) {
        return Error(left.range, "a pack of indices needs a pack of extents, and one index one extent");
      }
    }
    if (left.element().kind == Syntax::kName) {
      return AddIndex(left.element().name, left.pack(), left.range, added);
    }
    for (const SyntaxPtr& factor : left.element().args) {
      if (factor->kind == Syntax::kName) {
        YUBA_RETURN_IF_ERROR(AddIndex(factor->name, left.pack(), factor->range, added));
      } else if (left.pack()) {
        return Error(factor->range, "a constant cannot be a factor of a pack on the left");
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddIndex(const std::string& name, bool pack, const SourceRange& range,
                        std::vector<std::string>& added) {
    YUBA_RETURN_IF_ERROR(Declare(name, range, {Symbol::kIndex, pack, {}}));
    added.push_back(name);
    // The elements of the pack p are p0, p1, ...
    for (const auto& [other, symbol] : symbols_) {
      if (symbol.kind != Symbol::kIndex || other == name) continue;
      if ((pack && IsElementOf(other, name)) || (symbol.pack && IsElementOf(name, other))) {
        return Error(range, absl::StrCat("'", name, "' and '", other, "' are too alike: the elements "
                                         "of a pack p are called p0, p1, ...; rename one"));
      }
    }
    return absl::OkStatus();
  }

  static bool IsElementOf(absl::string_view name, absl::string_view pack) {
    if (name.size() <= pack.size() || name.substr(0, pack.size()) != pack) return false;
    for (char c : name.substr(pack.size())) {
      if (!absl::ascii_isdigit(c)) return false;
    }
    return true;
  }

  absl::Status Gradient(const Item& item) {
    std::vector<std::string> added;
    const auto target = symbols_.find(item.name);
    bool operand = false;
    for (const Param& param : op_.params) operand = operand || param.name == item.name;
    if (!operand) {
      return Error(item.name_range, absl::StrCat("'", item.name, "' is no operand, so it has no "
                                                 "gradient here"));
    }
    YUBA_RETURN_IF_ERROR(SameForm(item, target->second.dims));
    for (const Output& output : op_.outputs) {
      if (output.name.back() == '\'') continue;
      const std::string name = "d" + output.name;
      const std::vector<DimForm> dims = symbols_[output.name].dims;
      YUBA_RETURN_IF_ERROR(Declare(name, item.name_range, {Symbol::kTensor, false, dims}));
      added.push_back(name);
    }
    for (const LeftDim& left : item.left) YUBA_RETURN_IF_ERROR(LeftIndex(left, added));
    YUBA_RETURN_IF_ERROR(Expression(*item.value, false));
    for (const std::string& name : added) symbols_.erase(name);
    return absl::OkStatus();
  }

  // --- Expressions. `zip`: inside ( ).., where a pack's name stands for one of its elements.

  // An expression of extents, attributes and lets only.
  absl::Status Static(const Syntax& syntax, bool zip, bool pack_allowed = false) {
    if (syntax.kind == Syntax::kPack && (pack_allowed || zip)) return Pack(syntax, /*is_static=*/true);
    return Expression(syntax, zip, /*is_static=*/true);
  }

  absl::Status Expression(const Syntax& syntax, bool zip, bool is_static = false) {
    switch (syntax.kind) {
      case Syntax::kNumber:
        return absl::OkStatus();
      case Syntax::kName:
        return Name(syntax, zip, is_static);
      case Syntax::kPack:
        return Error(syntax.range, "a pack cannot stand here; a value is one number: reduce over the "
                                   "pack, or take its size(...)");
      case Syntax::kFactors:
        for (const SyntaxPtr& factor : syntax.args) {
          YUBA_RETURN_IF_ERROR(Expression(*factor, zip, is_static));
        }
        return absl::OkStatus();
      case Syntax::kRead:
        return Read(syntax, zip, is_static);
      case Syntax::kReduce:
        if (is_static) return NotStatic(syntax);
        return Reduce(syntax, zip);
      case Syntax::kCall:
        return Call(syntax, zip, is_static);
      case Syntax::kElse:
      case Syntax::kNegate:
      case Syntax::kBinary:
      case Syntax::kIf:
        for (const SyntaxPtr& arg : syntax.args) {
          YUBA_RETURN_IF_ERROR(Expression(*arg, zip, is_static));
        }
        return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  absl::Status NotStatic(const Syntax& syntax) const {
    return Error(syntax.range, "only extents, attributes and lets can stand here: it must be known "
                               "before any tensor is");
  }

  absl::Status Name(const Syntax& syntax, bool zip, bool is_static) const {
    if (syntax.name == "inf" || ElementTypeFromName(syntax.name)) return absl::OkStatus();
    const auto found = symbols_.find(syntax.name);
    if (found == symbols_.end()) {
      return Error(syntax.range, absl::StrCat("there is no index, extent or attribute named '",
                                              syntax.name, "' here"));
    }
    const Symbol& symbol = found->second;
    if (symbol.kind == Symbol::kTensor) {
      return Error(syntax.range, absl::StrCat("'", syntax.name, "' is a tensor: read an element, as ",
                                              syntax.name, "[...]"));
    }
    if (is_static && symbol.kind == Symbol::kIndex) return NotStatic(syntax);
    if (symbol.pack && !zip) {
      return Error(syntax.range, absl::StrCat("'", syntax.name, "' is a pack; write ", syntax.name,
                                              ".., or put the expression into ( ).."));
    }
    return absl::OkStatus();
  }

  // h.. or (expression)..
  absl::Status Pack(const Syntax& syntax, bool is_static) {
    const Syntax& element = *syntax.args[0];
    YUBA_RETURN_IF_ERROR(Expression(element, /*zip=*/true, is_static));
    bool has_pack = false;
    WalkSyntax(element, [&](const Syntax& part) {
      if (part.kind != Syntax::kName) return;
      const auto found = symbols_.find(part.name);
      has_pack = has_pack || (found != symbols_.end() && found->second.pack);
    });
    if (has_pack) return absl::OkStatus();
    return Error(syntax.range, "'..' follows a pack or an expression with one; there is none in this");
  }

  absl::Status Read(const Syntax& syntax, bool zip, bool is_static) {
    if (is_static) return NotStatic(syntax);
    const auto found = symbols_.find(syntax.name);
    if (found == symbols_.end() || found->second.kind != Symbol::kTensor) {
      return Error(syntax.range, absl::StrCat("there is no tensor named '", syntax.name, "'"));
    }
    if (zip) {
      return Error(syntax.range, "a tensor cannot be read inside ( )..");
    }
    const std::vector<DimForm> dims = found->second.dims;
    if (dims.size() != syntax.args.size()) {
      return Error(syntax.range, absl::StrCat("'", syntax.name, "' has ", dims.size(),
                                              " dimensions (a pack counts once), but is read with ",
                                              syntax.args.size()));
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      const Syntax& index = *syntax.args[d];
      const bool pack = index.kind == Syntax::kPack;
      const DimForm form = FormOf(pack, pack ? *index.args[0] : index);
      if (pack != dims[d].pack || (dims[d].factors > 0 && form.factors != dims[d].factors)) {
        return Error(index.range, absl::StrCat("this is ", Shown(form), ", but '", syntax.name,
                                               "' has ", Shown(dims[d]), " here"));
      }
      YUBA_RETURN_IF_ERROR(pack ? Pack(index, false) : Expression(index, false));
    }
    return absl::OkStatus();
  }

  absl::Status Reduce(const Syntax& syntax, bool zip) {
    if (zip) return Error(syntax.range, "a reduction cannot stand inside ( )..");
    std::vector<std::string> added;
    for (const IndexRange& range : syntax.ranges) {
      YUBA_RETURN_IF_ERROR(Static(*range.extent, false, /*pack_allowed=*/true));
      if ((range.extent->kind == Syntax::kPack) != range.pack) {
        return Error(range.range, "a pack of indices runs over a pack of extents, one index over one");
      }
      if (range.extent->kind == Syntax::kFactors) {
        return Error(range.range, "an index runs over one extent; give each factor an index");
      }
    }
    for (const IndexRange& range : syntax.ranges) {
      YUBA_RETURN_IF_ERROR(AddIndex(range.name, range.pack, range.range, added));
    }
    for (const SyntaxPtr& condition : syntax.where) {
      for (const SyntaxPtr& side : condition->args) {
        YUBA_RETURN_IF_ERROR(side->kind == Syntax::kPack ? Pack(*side, false)
                                                         : Expression(*side, false));
      }
    }
    YUBA_RETURN_IF_ERROR(Expression(*syntax.args[0], false));
    for (const std::string& name : added) symbols_.erase(name);
    return absl::OkStatus();
  }

  absl::Status Call(const Syntax& syntax, bool zip, bool is_static) {
    if (syntax.name == "size" || syntax.name == "flat") {
      if (syntax.args.size() != 1 || syntax.args[0]->kind != Syntax::kPack) {
        return Error(syntax.range, absl::StrCat(syntax.name, " takes one pack, as ", syntax.name,
                                                "(h..)"));
      }
      return Pack(*syntax.args[0], is_static);
    }
    if (syntax.name == "rand") {
      return Error(syntax.range, "random numbers are not supported in definitions that are planned; "
                                 "leave the operator out or make the numbers an operand");
    }
    const FunctionInfo* info = FindFunction(syntax.name);
    if (info == nullptr) {
      return Error(syntax.range, absl::StrCat("there is no function '", syntax.name, "'"));
    }
    const int given = static_cast<int>(syntax.args.size());
    const bool many = info->function == Function::kMin || info->function == Function::kMax;
    if (given != info->arity && !(many && given > info->arity)) {
      return Error(syntax.range, absl::StrCat(syntax.name, " takes ", info->arity, " arguments, not ",
                                              given));
    }
    for (const SyntaxPtr& arg : syntax.args) {
      YUBA_RETURN_IF_ERROR(Expression(*arg, zip, is_static));
    }
    return absl::OkStatus();
  }

  // --- The whole.

  absl::Status AllDefinedAndRead() const {
    for (const Output& output : op_.outputs) {
      if (defined_.count(output.name) == 0) {
        return Error(output.range, absl::StrCat("the output '", output.name, "' is never defined"));
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
        return Error(item.name_range, absl::StrCat("'", item.name, "' is neither an output nor read"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status NoCycles() const {
    std::set<std::string> done;
    for (const Param& param : op_.params) done.insert(param.name);
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
        return Error(item.name_range, absl::StrCat("'", item.name, "' is defined by way of itself"));
      }
    }
    return absl::OkStatus();
  }

  const OpDescription& op_;
  std::map<std::string, Symbol> symbols_;
  std::set<std::string> outputs_;
  std::map<std::string, bool> defined_;  // whether with constants on the left
};

}  // namespace

absl::Status CheckWellFormed(const OpDescription& op) { return Checker(op).Run(); }

}  // namespace yuba
