#include "opsemantics/elaborate/elaborate.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/elaborate/bind.h"
#include "opsemantics/elaborate/body.h"
#include "opsemantics/elaborate/infer_tensor.h"
#include "opsemantics/elaborate/instance_builder.h"
#include "opsemantics/elaborate/opaque.h"
#include "opsemantics/elaborate/prune.h"
#include "opsemantics/language/gradient_items.h"

namespace yuba {
namespace {

// One factor of one element of a left side: an index, or a constant.
struct LeftFactor {
  std::string name;  // of the index; empty: a constant
  bool pack = false;
  int64_t constant = 0;
  int64_t extent = 1;
  int group = 0;  // the dimension of the tensor
};

bool ReadsAny(const std::vector<const Item*>& items, const std::set<std::string>& names) {
  bool found = false;
  for (const Item* item : items) {
    WalkSyntax(*item->value, [&](const Syntax& syntax) {
      found = found || (syntax.kind == Syntax::kRead && names.count(syntax.name) != 0);
    });
  }
  return found;
}

// The definitions of each name, in an order in which each comes after the names that it reads.
// Well-formed descriptions have such an order.
// Those of `left_out` are left out; nothing else reads them.
std::vector<std::vector<const Item*>> InOrder(const OpDescription& op,
                                              const std::set<std::string>& left_out) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<const Item*>> items;
  for (const Item& item : op.items) {
    if (item.kind != Item::kDefinition || left_out.count(item.name) != 0) continue;
    std::vector<const Item*>& same = items[item.name];
    if (same.empty()) names.push_back(item.name);
    same.push_back(&item);
  }
  std::vector<std::vector<const Item*>> order;
  std::set<std::string> waiting(names.begin(), names.end());
  while (!waiting.empty()) {
    const size_t before = waiting.size();
    for (const std::string& name : names) {
      if (waiting.count(name) == 0 || ReadsAny(items[name], waiting)) continue;
      order.push_back(items[name]);
      waiting.erase(name);
    }
    YUBA_CHECK(waiting.size() < before) << "definitions of " << op.name << " go in a circle";
  }
  return order;
}

class Elaborator {
 public:
  Elaborator(const OpDescription& op, Binding binding)
      : op_(op),
        binding_(std::move(binding)),
        builder_(op.name),
        body_(op, binding_, slots_, builder_) {}

  absl::StatusOr<Instance> Run(Gradients gradients) {
    AddOperands();
    AddOutputs();
    std::set<std::string> left_out;
    if (gradients == Gradients::kWithout) left_out = ReadersOfGradients(op_);
    if (gradients == Gradients::kWith) AddOutputGradients();
    for (const std::vector<const Item*>& items : InOrder(op_, left_out)) {
      builder_.ClearVariables();
      YUBA_RETURN_IF_ERROR(Define(items));
    }
    if (gradients == Gradients::kWith) YUBA_RETURN_IF_ERROR(DefineGradients());
    Instance instance = builder_.Take();
    Prune(instance);
    return instance;
  }

 private:
  absl::Status Error(const SourceRange& range, absl::string_view message) const {
    return SourceError(*op_.source, range, message);
  }

  // --- Slots.

  void AddOperands() {
    for (size_t i = 0; i < op_.params.size(); ++i) {
      const Param& param = op_.params[i];
      if (binding_.tensors[param.name].absent) continue;
      AddSlot(param.name, SlotRole::kOperand, static_cast<int>(i), param.role == Param::kState);
    }
  }

  void AddOutputs() {
    for (size_t i = 0; i < op_.outputs.size(); ++i) {
      const std::string& name = op_.outputs[i].name;
      AddSlot(name, SlotRole::kOutput, static_cast<int>(i), name.back() == '\'');
    }
  }

  void AddOutputGradients() {
    for (size_t i = 0; i < op_.outputs.size(); ++i) {
      if (IsNextValue(op_.outputs[i])) continue;
      const std::string name = GradientName(op_.outputs[i]);
      binding_.tensors[name] = binding_.tensors[op_.outputs[i].name];
      AddSlot(name, SlotRole::kOutputGradient, static_cast<int>(i), false);
    }
  }

  void AddSlot(const std::string& name, SlotRole role, int position, bool state) {
    Slot slot = SlotOf(binding_, name, role, position);
    slot.state = state;
    slots_[name] = builder_.AddSlot(std::move(slot));
  }

  // --- Definitions.

  absl::Status DefineGradients() {
    for (const Item& item : op_.items) {
      if (item.kind != Item::kGradient) continue;
      const BoundTensor tensor = binding_.tensors[item.name];
      if (tensor.absent || IsBroadcast(tensor)) continue;
      Item gradient = item;
      gradient.name = absl::StrCat("grad ", item.name);
      binding_.tensors[gradient.name] = tensor;
      const auto param = std::find_if(op_.params.begin(), op_.params.end(),
                                      [&](const Param& p) { return p.name == item.name; });
      AddSlot(gradient.name, SlotRole::kOperandGradient,
              static_cast<int>(param - op_.params.begin()), false);
      builder_.ClearVariables();
      YUBA_RETURN_IF_ERROR(Define({&gradient}));
    }
    return absl::OkStatus();
  }

  // Whether some dimension of the operand is read as if it were longer.
  static bool IsBroadcast(const BoundTensor& tensor) {
    for (const BoundDim& dim : tensor.dims) {
      for (const BoundElement& element : dim.elements) {
        if (element.one || element.missing) return true;
      }
    }
    return false;
  }

  absl::Status Define(const std::vector<const Item*>& items) {
    const Item& first = *items[0];
    const bool output = binding_.tensors.count(first.name) != 0;
    BoundTensor tensor;
    if (output) {
      tensor = binding_.tensors[first.name];
    } else {
      YUBA_ASSIGN_OR_RETURN(tensor, InferTensor(op_, binding_, items, body_));
    }
    YUBA_ASSIGN_OR_RETURN(const std::vector<LeftFactor> left, LeftSide(first, tensor));
    body_.Enter(first.name, first.nograd);
    std::vector<int> variables;
    Reduction reduction;
    const bool constants = std::any_of(
        left.begin(), left.end(), [](const LeftFactor& factor) { return factor.name.empty(); });
    if (constants) {
      YUBA_ASSIGN_OR_RETURN(reduction, Merge(items, tensor, left, variables));
    } else {
      AddIndices(first, left, variables);
      YUBA_ASSIGN_OR_RETURN(reduction, body_.Body(*first.value));
      RemoveIndices(first);
    }
    if (!output) {
      absl::StatusOr<ElementType> type = InstanceBuilder::NaturalType(reduction, body_.Fallback());
      if (!type.ok()) return Error(first.value->range, type.status().message());
      tensor.type = *type;
      binding_.tensors[first.name] = tensor;
      AddSlot(first.name, SlotRole::kInternal, 0, false);
    }
    const absl::Status status =
        builder_.Define(slots_[first.name], variables, reduction, first.nograd);
    return status.ok() ? status : Error(first.value->range, status.message());
  }

  // The left side over the tensor's dimensions, one entry for each flat dimension.
  absl::StatusOr<std::vector<LeftFactor>> LeftSide(const Item& item,
                                                   const BoundTensor& tensor) const {
    std::vector<LeftFactor> left;
    int group = 0;
    for (size_t d = 0; d < item.left.size(); ++d) {
      const Syntax& written = item.left[d].element();
      for (const BoundElement& element : tensor.dims[d].elements) {
        for (size_t f = 0; f < element.factors.size(); ++f) {
          const Syntax& factor = written.kind == Syntax::kFactors ? *written.args[f] : written;
          LeftFactor entry;
          entry.pack = item.left[d].pack();
          entry.extent = element.factors[f];
          entry.group = group;
          if (factor.kind == Syntax::kName) {
            entry.name = factor.name;
          } else {
            entry.constant = factor.integer;
            if (entry.constant >= entry.extent) {
              return Error(factor.range, absl::StrCat("this factor has the extent ", entry.extent,
                                                      ", so no element ", entry.constant));
            }
          }
          left.push_back(std::move(entry));
        }
        ++group;
      }
    }
    return left;
  }

  // Brings the indices of a left side into scope; `variables` gets the variable of each flat
  // dimension.
  void AddIndices(const Item& item, const std::vector<LeftFactor>& left,
                  std::vector<int>& variables) {
    std::vector<int> none;  // a pack may have no elements
    ForEachIndex(item, [&](const std::string& name) { body_.AddIndex(name, true, {}, {}, none); });
    // The elements of two packs may alternate, as in (a c)..: collect those of each name first.
    std::map<std::string, std::vector<size_t>> places;
    for (size_t i = 0; i < left.size(); ++i) places[left[i].name].push_back(i);
    variables.assign(left.size(), -1);
    for (size_t i = 0; i < left.size(); ++i) {
      const std::vector<size_t>& same = places[left[i].name];
      if (same[0] != i) continue;
      std::vector<int64_t> extents;
      std::vector<int> groups, added;
      for (size_t place : same) {
        extents.push_back(left[place].extent);
        groups.push_back(left[place].group);
      }
      body_.AddIndex(left[i].name, left[i].pack, extents, groups, added);
      for (size_t k = 0; k < same.size(); ++k) variables[same[k]] = added[k];
    }
  }

  template <typename Visit>
  static void ForEachIndex(const Item& item, const Visit& visit) {
    for (const LeftDim& left : item.left) {
      if (left.element().kind == Syntax::kName) visit(left.element().name);
      for (const SyntaxPtr& factor : left.element().args) {
        if (factor->kind == Syntax::kName) visit(factor->name);
      }
    }
  }

  void RemoveIndices(const Item& item) {
    ForEachIndex(item, [&](const std::string& name) { body_.RemoveIndex(name); });
  }

  // --- Several definitions of one name, with constants on the left.

  // One map that selects among the bodies by new indices for the constants.
  absl::StatusOr<Reduction> Merge(const std::vector<const Item*>& items, const BoundTensor& tensor,
                                  const std::vector<LeftFactor>& first,
                                  std::vector<int>& variables) {
    std::set<std::vector<int64_t>> covered;
    int64_t parts = 1;
    int part = 0;
    for (const LeftFactor& factor : first) {
      Variable variable{factor.name, factor.extent, factor.group};
      if (factor.name.empty()) {
        parts *= factor.extent;
        do {
          variable.name = part == 0 ? "part" : absl::StrCat("part", part);
          ++part;
        } while (std::any_of(first.begin(), first.end(),
                             [&](const LeftFactor& other) { return other.name == variable.name; }));
      } else if (factor.pack) {
        return Error(items[0]->range, "a left side with constants cannot have packs");
      }
      variables.push_back(builder_.AddVariable(std::move(variable)));
    }
    Term merged;
    // From the last to the first: each `if` has the rest as its else.
    for (size_t i = items.size(); i-- > 0;) {
      const Item& item = *items[i];
      YUBA_ASSIGN_OR_RETURN(const std::vector<LeftFactor> left, LeftSide(item, tensor));
      Term condition = IntegerTerm(1);
      std::vector<int64_t> constants;
      for (size_t f = 0; f < left.size(); ++f) {
        if (left[f].name.empty() != first[f].name.empty()) {
          return Error(item.name_range,
                       "all definitions of this name need their constants at the "
                       "same factors");
        }
        if (!left[f].name.empty()) {
          body_.Bind(left[f].name, variables[f]);
          continue;
        }
        constants.push_back(left[f].constant);
        YUBA_ASSIGN_OR_RETURN(const Term here, Apply(Function::kEq,
                                                     {AffineTerm(IndexAffine(variables[f])),
                                                      IntegerTerm(left[f].constant)},
                                                     Division::kExact));
        if (condition.IsStatic()) {
          condition = here;
        } else {
          YUBA_ASSIGN_OR_RETURN(condition,
                                Apply(Function::kAnd, {condition, here}, Division::kExact));
        }
      }
      if (!covered.insert(constants).second) {
        return Error(item.name_range, "another definition has the same constants on its left side");
      }
      YUBA_ASSIGN_OR_RETURN(Term value, body_.Evaluate(*item.value, Division::kExact));
      RemoveIndices(item);
      if (i + 1 == items.size()) {
        merged = std::move(value);
        continue;
      }
      absl::StatusOr<Term> selected =
          Apply(Function::kSelect, {condition, value, merged}, Division::kExact);
      if (!selected.ok()) return Error(item.value->range, selected.status().message());
      merged = *std::move(selected);
    }
    if (static_cast<int64_t>(covered.size()) != parts) {
      return Error(items[0]->name_range,
                   absl::StrCat("the left sides of '", items[0]->name, "' cover ", covered.size(),
                                " of ", parts, " constants; define the others, too"));
    }
    Reduction reduction;
    reduction.body = std::move(merged);
    return reduction;
  }

  const OpDescription& op_;
  Binding binding_;
  std::map<std::string, int> slots_;
  InstanceBuilder builder_;
  BodyEvaluator body_;
};

}  // namespace

absl::StatusOr<Instance> Elaborate(const OpDescription& op,
                                   const std::vector<absl::optional<Shape>>& operands,
                                   const Attributes& attributes, Gradients gradients) {
  std::vector<absl::optional<Shape>> all = operands;
  while (all.size() < op.params.size() && op.params[all.size()].role == Param::kOptional) {
    all.push_back(absl::nullopt);
  }
  YUBA_ASSIGN_OR_RETURN(Binding binding, Bind(op, all, attributes));
  if (op.opaque) return ElaborateOpaque(op, binding);
  return Elaborator(op, std::move(binding)).Run(gradients);
}

}  // namespace yuba
