#include "opsemantics/elaborate/opaque.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/elaborate/instance_builder.h"

namespace yuba {
namespace {

class OpaqueElaborator {
 public:
  OpaqueElaborator(const OpDescription& op, const Binding& binding) : op_(op), binding_(binding) {
    instance_.op = op.name;
  }

  absl::StatusOr<Instance> Run() {
    SlotDefinition step;
    Definition& definition = step.definition;
    const Output& output = op_.outputs[0];
    definition.name = output.name;
    definition.reducer = Reducer::kOpaque;
    definition.opaque.function = op_.name;
    YUBA_RETURN_IF_ERROR(Attributes(definition.opaque));
    YUBA_ASSIGN_OR_RETURN(definition.opaque.flops, FlopsOfCall());
    definition.left = Indices(output.dims, output.name, false, definition);
    std::vector<ExprPtr> reads;
    for (size_t p = 0; p < op_.params.size(); ++p) {
      const Param& param = op_.params[p];
      const ElementType type = binding_.tensors.at(param.name).type;
      reads.push_back(
          ReadExpr(static_cast<int>(p), Indices(param.dims, param.name, true, definition), type));
      step.operands.push_back(static_cast<int>(p));
      definition.operands.push_back(AddSlot(param.name, SlotRole::kOperand, static_cast<int>(p)));
    }
    step.result = static_cast<int>(op_.params.size());
    definition.result = AddSlot(output.name, SlotRole::kOutput, 0);
    definition.body = CallExpr(Function::kOpaque, std::move(reads), definition.result.type);
    const std::string why_not = WhyOpaqueIllegal(definition);
    if (!why_not.empty()) return SourceError(*op_.source, op_.name_range, why_not);
    instance_.definitions.push_back(std::move(step));
    return std::move(instance_);
  }

 private:
  TensorType AddSlot(const std::string& name, SlotRole role, int position) {
    Slot slot = SlotOf(binding_, name, role, position);
    TensorType type;
    type.type = slot.type;
    for (const std::vector<int64_t>& dim : slot.dims) type.dims.push_back(dim[0]);
    instance_.slots.push_back(std::move(slot));
    return type;
  }

  // The indices that run along a tensor's dimensions, as its position; new ones are added to the
  // definition. Those that may be cut are new in the output, which comes first.
  std::vector<Affine> Indices(const std::vector<Dim>& dims, const std::string& tensor,
                              bool reduction, Definition& definition) {
    std::vector<Affine> position;
    const std::vector<BoundDim>& bound = binding_.tensors.at(tensor).dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      const Syntax& written = dims[d].element();
      const std::string name = written.kind == Syntax::kName ? written.name : "i";
      const bool cut = written.kind == Syntax::kName &&
                       std::count(op_.cuttable.begin(), op_.cuttable.end(), name) > 0;
      for (size_t e = 0; e < bound[d].elements.size(); ++e) {
        const std::string element = dims[d].pack() ? absl::StrCat(name, e) : name;
        const int next = static_cast<int>(definition.indices.size());
        const int index = cut ? cut_.emplace(element, next).first->second : next;
        if (index == next) {
          definition.indices.push_back(
              {Unused(element), bound[d].elements[e].factors[0], reduction});
        }
        position.push_back(IndexAffine(index));
      }
    }
    return position;
  }

  std::string Unused(const std::string& name) {
    std::string unused = name;
    for (int i = 1; !names_.insert(unused).second; ++i) unused = absl::StrCat(name, ".", i);
    return unused;
  }

  // What is no number, as an element type, has done its part in the binding.
  absl::Status Attributes(Opaque& opaque) const {
    for (const Attribute& attribute : op_.attributes) {
      const Term& value = binding_.names.at(attribute.name).elements[0];
      if (value.kind == Term::kType) continue;
      const double number = value.AsNumber();
      constexpr double kMostInteger = 9007199254740992;  // 2^53: beyond it a double skips some
      if (value.kind == Term::kInteger && std::abs(number) >= kMostInteger) {
        return SourceError(*op_.source, attribute.range,
                           "an opaque function takes integers below 2^53");
      }
      opaque.attributes.push_back(number);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> FlopsOfCall() const {
    Evaluator evaluator(op_, binding_.names);
    YUBA_ASSIGN_OR_RETURN(const Term flops, evaluator.Evaluate(*op_.flops, Division::kExact));
    if (!flops.IsStatic()) return evaluator.Error(op_.flops->range, "flops are a number");
    constexpr double kMost = 9e18;
    const double number = std::ceil(flops.AsNumber());
    return number > 0 ? static_cast<int64_t>(std::min(number, kMost)) : int64_t{0};  // NaN: 0
  }

  const OpDescription& op_;
  const Binding& binding_;
  Instance instance_;
  std::map<std::string, int> cut_;  // element of an extent that may be cut -> its index
  std::set<std::string> names_;
};

}  // namespace

absl::StatusOr<Instance> ElaborateOpaque(const OpDescription& op, const Binding& binding) {
  return OpaqueElaborator(op, binding).Run();
}

}  // namespace yuba
