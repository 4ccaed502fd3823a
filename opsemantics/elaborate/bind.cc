#include "opsemantics/elaborate/bind.h"

#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "opsemantics/elaborate/bind_output.h"
#include "opsemantics/elaborate/extents.h"

namespace yuba {
namespace {

class Binder {
 public:
  Binder(const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
         const Attributes& attributes)
      : op_(op), operands_(operands), attributes_(attributes), evaluator_(op, binding_.names) {}

  absl::StatusOr<Binding> Run() {
    YUBA_RETURN_IF_ERROR(CheckCall());
    YUBA_RETURN_IF_ERROR(Types());
    YUBA_RETURN_IF_ERROR(GivenAttributes());
    YUBA_RETURN_IF_ERROR(DefaultsOfDimensions());
    YUBA_RETURN_IF_ERROR(Extents());
    YUBA_RETURN_IF_ERROR(DefaultsAndLets());
    YUBA_RETURN_IF_ERROR(AbsentOperands());
    for (const Output& output : op_.outputs) {
      YUBA_ASSIGN_OR_RETURN(binding_.tensors[output.name],
                            BindOutput(op_, output, binding_, evaluator_));
    }
    return std::move(binding_);
  }

 private:
  absl::Status Error(const SourceRange& range, absl::string_view message) const {
    return SourceError(*op_.source, range, message);
  }

  // --- The caller's operands and attributes.

  absl::Status CheckCall() {
    if (operands_.size() != op_.params.size()) {
      return Error(op_.name_range, absl::StrCat("'", op_.name, "' takes ", op_.params.size(),
                                                " operands, not ", operands_.size()));
    }
    for (size_t i = 0; i < operands_.size(); ++i) {
      const Param& param = op_.params[i];
      if (!operands_[i] && param.role != Param::kOptional) {
        return Error(param.range, absl::StrCat("the operand '", param.name,
                                               "' is missing; only "
                                               "'opt' operands may be"));
      }
      if (!operands_[i]) continue;
      for (int64_t extent : operands_[i]->dims) {
        if (extent < 0) {
          return Error(param.range, absl::StrCat("the operand '", param.name, "' has the extent ",
                                                 extent, "; no extent is below 0"));
        }
      }
    }
    return KnownAttributes();
  }

  // Extents can be given as attributes, too.
  absl::Status KnownAttributes() const {
    std::set<std::string> known, extents;
    for (const Attribute& attribute : op_.attributes) known.insert(attribute.name);
    for (const Param& param : op_.params) {
      for (const Dim& dim : param.dims) {
        WalkSyntax(*dim.extent, [&](const Syntax& syntax) {
          if (syntax.kind == Syntax::kName) extents.insert(syntax.name);
        });
      }
    }
    for (const auto& [name, value] : attributes_) {
      if (known.count(name) != 0 || extents.count(name) != 0) continue;
      return Error(op_.name_range,
                   absl::StrCat("'", op_.name, "' has no attribute '", name, "'; it has ",
                                known.empty() ? "none" : absl::StrJoin(known, ", "),
                                ", besides the extents ", absl::StrJoin(extents, ", "),
                                ". Attributes stand behind the operands: '; ", name, "'"));
    }
    return absl::OkStatus();
  }

  // --- Types.

  absl::Status Types() {
    std::string shared_by;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (!operands_[i]) continue;
      const Param& param = op_.params[i];
      const ElementType type = operands_[i]->type;
      const auto wrong = [&](absl::string_view needed) {
        return Error(param.range, absl::StrCat("the operand '", param.name, "' is ", Name(type),
                                               ", but ", needed, " is needed"));
      };
      if (param.type == "int") {
        if (IsFloat(type) || type == ElementType::kBool) return wrong("an integer type");
      } else if (param.type == "float") {
        if (!IsFloat(type)) return wrong("a float type");
      } else if (!param.type.empty()) {
        if (type != *ElementTypeFromName(param.type)) return wrong(param.type);
      } else if (!binding_.common) {
        binding_.common = type;
        shared_by = param.name;
      } else if (type != *binding_.common) {
        return wrong(absl::StrCat(Name(*binding_.common), " as of '", shared_by, "'"));
      }
    }
    return absl::OkStatus();
  }

  // --- Attributes.

  absl::Status GivenAttributes() {
    for (const Attribute& attribute : op_.attributes) {
      const auto given = attributes_.find(attribute.name);
      if (given == attributes_.end()) continue;
      Value value;
      value.pack = attribute.pack;
      if (const auto* list = absl::get_if<std::vector<int64_t>>(&given->second)) {
        if (!attribute.pack) return Wrong(attribute, "one value, not a list");
        for (int64_t element : *list) value.elements.push_back(IntegerTerm(element));
      } else {
        value.repeats = attribute.pack;
        value.elements.push_back(TermOf(given->second));
      }
      YUBA_RETURN_IF_ERROR(Coerce(attribute, value));
      binding_.names[attribute.name] = std::move(value);
    }
    return absl::OkStatus();
  }

  static Term TermOf(const AttributeValue& value) {
    if (const auto* integer = absl::get_if<int64_t>(&value)) return IntegerTerm(*integer);
    if (const auto* number = absl::get_if<double>(&value)) return NumberTerm(*number);
    return TypeTerm(absl::get<ElementType>(value));
  }

  absl::Status Wrong(const Attribute& attribute, absl::string_view needed) const {
    return Error(attribute.range,
                 absl::StrCat("the attribute '", attribute.name, "' needs ", needed));
  }

  // Converts the elements to the attribute's type; an error where they are of another kind.
  absl::Status Coerce(const Attribute& attribute, Value& value) const {
    const absl::optional<ElementType> element = ElementTypeFromName(attribute.type);
    const bool is_float =
        attribute.type == "float" || attribute.type == "fraction" || (element && IsFloat(*element));
    const bool is_int = attribute.type == "int" || (element && !IsFloat(*element));
    for (Term& term : value.elements) {
      if ((attribute.type == "type") != (term.kind == Term::kType)) {
        return Wrong(attribute, attribute.type == "type" ? "a type" : "a number, not a type");
      }
      if (attribute.type == "type") continue;
      if (!term.IsStatic()) return Wrong(attribute, "a value that is known");
      if (attribute.type == "bool") term = IntegerTerm(term.AsNumber() != 0 ? 1 : 0);
      if (attribute.type == "fraction" && !(term.AsNumber() >= 0 && term.AsNumber() <= 1))
        return Wrong(attribute, absl::StrCat("a number from 0 to 1, not ", term.AsNumber()));
      if (is_float) term = NumberTerm(term.AsNumber());
      if (is_int && term.kind == Term::kNumber) {
        if (term.number != std::floor(term.number) || std::abs(term.number) > 9e15) {
          return Wrong(attribute, "an integer");
        }
        term = IntegerTerm(static_cast<int64_t>(term.number));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Default(const Attribute& attribute) {
    Value value;
    value.pack = value.repeats = attribute.pack;
    if (attribute.pack && HasPack(*attribute.value)) {
      YUBA_ASSIGN_OR_RETURN(value.elements,
                            evaluator_.EvaluatePack(*attribute.value, Division::kRoundDown));
      value.repeats = false;
    } else {
      YUBA_ASSIGN_OR_RETURN(Term term, evaluator_.Evaluate(*attribute.value, Division::kRoundDown));
      value.elements.push_back(std::move(term));
    }
    YUBA_RETURN_IF_ERROR(Coerce(attribute, value));
    binding_.names[attribute.name] = std::move(value);
    return absl::OkStatus();
  }

  bool HasPack(const Syntax& syntax) const {
    bool found = false;
    WalkSyntax(syntax, [&](const Syntax& part) {
      const auto name = binding_.names.find(part.name);
      found = found || (part.kind == Syntax::kName && name != binding_.names.end() &&
                        name->second.pack && !name->second.repeats);
    });
    return found;
  }

  // Attributes that dimensions name must be known before the extents.
  absl::Status DefaultsOfDimensions() {
    std::set<std::string> needed;
    for (const Param& param : op_.params) {
      for (const Dim& dim : param.dims) {
        WalkSyntax(*dim.extent, [&](const Syntax& syntax) { needed.insert(syntax.name); });
      }
    }
    for (const Attribute& attribute : op_.attributes) {
      if (needed.count(attribute.name) == 0 || binding_.names.count(attribute.name) != 0) continue;
      if (attribute.value == nullptr) continue;  // perhaps the shapes settle it
      YUBA_RETURN_IF_ERROR(Default(attribute));
    }
    return absl::OkStatus();
  }

  // --- Extents.

  absl::Status Extents() {
    std::map<std::string, std::vector<int64_t>> given;
    for (const auto& [name, value] : binding_.names) {
      if (value.pack && value.repeats) continue;
      std::vector<int64_t>& integers = given[name];
      for (const Term& term : value.elements) {
        if (term.kind == Term::kInteger) integers.push_back(term.integer);
      }
      if (integers.size() != value.elements.size()) given.erase(name);
    }
    for (const auto& [name, value] : attributes_) {
      if (binding_.names.count(name) != 0) continue;
      if (const auto* list = absl::get_if<std::vector<int64_t>>(&value)) given[name] = *list;
      if (const auto* integer = absl::get_if<int64_t>(&value)) given[name] = {*integer};
    }
    YUBA_ASSIGN_OR_RETURN(SolvedExtents solved, SolveExtents(op_, operands_, given));
    for (const auto& [name, extent] : solved.extents) {
      Value value;
      value.pack = extent.pack;
      bool known = extent.rank >= 0;
      for (const absl::optional<int64_t>& element : extent.elements) {
        known = known && element.has_value();
        value.elements.push_back(IntegerTerm(element.value_or(0)));
      }
      if (known) binding_.names[name] = std::move(value);
    }
    for (size_t i = 0; i < operands_.size(); ++i) {
      BoundTensor& tensor = binding_.tensors[op_.params[i].name];
      tensor.absent = !operands_[i];
      tensor.dims = std::move(solved.operands[i]);
      if (operands_[i]) tensor.type = operands_[i]->type;
    }
    return absl::OkStatus();
  }

  absl::Status DefaultsAndLets() {
    for (const Attribute& attribute : op_.attributes) {
      if (binding_.names.count(attribute.name) != 0) continue;
      if (attribute.value == nullptr) {
        return Error(attribute.range,
                     absl::StrCat("the attribute '", attribute.name, "' must be given"));
      }
      YUBA_RETURN_IF_ERROR(Default(attribute));
    }
    for (const Item& item : op_.items) {
      if (item.kind != Item::kLet) continue;
      Value value;
      value.pack = item.pack;
      if (item.pack) {
        const Syntax& written = *item.value;
        const Syntax& element = written.kind == Syntax::kPack ? *written.args[0] : written;
        YUBA_ASSIGN_OR_RETURN(value.elements,
                              evaluator_.EvaluatePack(element, Division::kRoundDown));
      } else {
        YUBA_ASSIGN_OR_RETURN(Term term, evaluator_.Evaluate(*item.value, Division::kRoundDown));
        value.elements.push_back(std::move(term));
      }
      binding_.names[item.name] = std::move(value);
    }
    return absl::OkStatus();
  }

  absl::Status AbsentOperands() {
    for (const Param& param : op_.params) {
      if (param.absent == nullptr || !binding_.tensors[param.name].absent) continue;
      YUBA_ASSIGN_OR_RETURN(binding_.tensors[param.name].absent_value,
                            evaluator_.Evaluate(*param.absent, Division::kExact));
    }
    return absl::OkStatus();
  }

  const OpDescription& op_;
  const std::vector<absl::optional<Shape>>& operands_;
  const Attributes& attributes_;
  Binding binding_;
  Evaluator evaluator_;
};

}  // namespace

absl::StatusOr<Binding> Bind(const OpDescription& op,
                             const std::vector<absl::optional<Shape>>& operands,
                             const Attributes& attributes) {
  return Binder(op, operands, attributes).Run();
}

Slot SlotOf(const Binding& binding, const std::string& name, SlotRole role, int position) {
  const BoundTensor& tensor = binding.tensors.at(name);
  Slot slot;
  slot.name = name;
  slot.role = role;
  slot.position = position;
  slot.type = tensor.type;
  for (const BoundDim& dim : tensor.dims) {
    for (const BoundElement& element : dim.elements) {
      if (element.missing) continue;
      slot.dims.push_back(element.one ? std::vector<int64_t>{1} : element.factors);
    }
  }
  return slot;
}

}  // namespace yuba
