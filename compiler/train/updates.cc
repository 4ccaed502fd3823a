#include "compiler/train/updates.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/simplify/constants.h"
#include "compiler/train/weightless.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/names.h"

namespace yuba::compiler {
namespace {

class Updater {
 public:
  Updater(Model& model, const Optimizer& optimizer, TensorId weight)
      : model_(model),
        graph_(model.graph),
        names_(model.graph),
        optimizer_(optimizer),
        op_(optimizer.description),
        weight_(weight) {
    for (const Node& node : graph_.nodes) instance_ = std::max(instance_, node.instance + 1);
    entry_ = static_cast<int>(graph_.entries.size()) - 1;
  }

  // The user's error where a tensor of the model has a name that updates add.
  absl::Status CheckNames(const std::vector<TensorId>& trained) const {
    std::set<std::string> taken;
    for (const Tensor& tensor : graph_.tensors) taken.insert(tensor.name);
    for (size_t p = 2; p < op_.params.size(); ++p) {
      const std::string& name = op_.params[p].name;
      std::vector<std::string> added = {name};
      if (!op_.params[p].dims.empty()) {
        added.clear();
        for (const TensorId tensor : trained) added.push_back(OwnName(tensor, name));
      }
      for (const std::string& one : added) {
        if (taken.count(one) == 0) continue;
        return UserError("the model has a tensor '", one, "', which is the name of what the ",
                         "optimizer ", op_.name, " adds: rename the tensor");
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddShared(ElementType type) {
    for (size_t p = 2; p < op_.params.size(); ++p) {
      const Param& param = op_.params[p];
      if (!param.dims.empty()) continue;
      const bool state = param.role == Param::kState;
      const auto number = optimizer_.numbers.find(param.name);
      if (!state && number == optimizer_.numbers.end()) {
        return UserError("the optimizer ", op_.name, " needs a value of ", param.name);
      }
      const TensorId added = AddTensor(param.name, {type, {}}, {});
      graph_.tensors[added].kind = state ? TensorKind::kState : TensorKind::kParameter;
      SetNumber(added, state ? 0 : number->second);
      shared_[param.name] = added;
    }
    return absl::OkStatus();
  }

  absl::Status Update(TensorId trained, TensorId gradient) {
    const Tensor weight = graph_.tensors[trained];
    std::vector<absl::optional<Shape>> shapes;
    std::vector<TensorId> operands;
    for (size_t p = 0; p < op_.params.size(); ++p) {
      const Param& param = op_.params[p];
      const auto shared = shared_.find(param.name);
      operands.push_back(p == 0                    ? trained
                         : p == 1                  ? gradient
                         : shared != shared_.end() ? shared->second
                                                   : AddOwnState(trained, param.name));
      const TensorType& type = graph_.tensors[operands.back()].type;
      shapes.push_back(Shape{type.type, type.dims});
    }
    absl::StatusOr<Instance> instance = Elaborate(op_, shapes, optimizer_.attributes);
    if (!instance.ok() && weight.type.type != ElementType::kF32) {
      return UserError(weight.name, " is ", Name(weight.type.type), ", and the optimizer ",
                       op_.name,
                       " trains tensors of f32: export the model in f32, and use --precision bf16 ",
                       "for products in bf16");
    }
    if (!instance.ok()) {
      return Annotate(instance.status(), absl::StrCat("the update of ", weight.name));
    }
    for (const Slot& slot : instance->slots) {
      if (slot.role == SlotRole::kOperand || slot.role == SlotRole::kOutput) continue;
      if (slot.role == SlotRole::kInternal) continue;
      return UserError("the optimizer ", op_.name, " draws random numbers, which updates cannot");
    }
    Add(*instance, operands, weight);
    return absl::OkStatus();
  }

  std::vector<UpdatedState> updated() const { return updated_; }

 private:
  // States and numbers get the name that they are known by: CheckNames.
  TensorId AddTensor(const std::string& name, const TensorType& type,
                     const std::vector<std::vector<int64_t>>& dims) {
    Tensor tensor;
    tensor.name = names_.Fresh(name);
    tensor.type = type;
    tensor.dims = dims;
    graph_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }

  void SetNumber(TensorId tensor, double number) {
    TensorValue value;
    value.type = {graph_.tensors[tensor].type.type, {}};
    value.elements.resize(1);
    if (IsFloat(value.type.type)) {
      value.elements[0].number = number;
    } else {
      value.elements[0].integer = static_cast<int64_t>(number);
    }
    InitialValue initial;
    initial.kind = InitialValue::kFill;
    initial.data = std::make_shared<const std::string>(BytesFromValue(value));
    model_.values[tensor] = std::move(initial);
  }

  std::string OwnName(TensorId trained, const std::string& state) const {
    return absl::StrCat(graph_.tensors[trained].name, ".", state);
  }

  // A state of this update alone, which begins as zeros.
  TensorId AddOwnState(TensorId trained, const std::string& name) {
    const Tensor weight = graph_.tensors[trained];
    const TensorId state = AddTensor(OwnName(trained, name), weight.type, weight.dims);
    graph_.tensors[state].kind = TensorKind::kState;
    graph_.tensors[state].dim_names = weight.dim_names;
    SetNumber(state, 0);
    return state;
  }

  // The instance's nodes; those that compute shared states stand once, in the first update.
  void Add(const Instance& instance, const std::vector<TensorId>& operands, const Tensor& weight) {
    std::vector<TensorId> tensors;
    for (const Slot& slot : instance.slots) {
      if (slot.role == SlotRole::kOperand) {
        tensors.push_back(operands[slot.position]);
        continue;
      }
      const bool next = slot.role == SlotRole::kOutput;  // of a state: CheckOptimizer
      const std::string state = next ? slot.name.substr(0, slot.name.size() - 1) : "";
      const auto known = shared_next_.find(state);
      tensors.push_back(known != shared_next_.end() ? known->second
                                                    : AddResult(slot, state, operands, weight));
    }
    for (const SlotDefinition& step : instance.definitions) {
      const TensorId result = tensors[step.result];
      if (graph_.tensors[result].producer >= 0) continue;
      std::vector<TensorId> read;
      for (const int slot : step.operands) read.push_back(tensors[slot]);
      const auto kept = state_of_.find(result);
      if (weight_ < 0 || kept == state_of_.end()) {
        AddNode(step.definition, std::move(read), result, weight);
      } else if (step.definition.reducer == Reducer::kNone) {
        AddKept(step.definition, std::move(read), kept->second, result, weight);
      } else {
        const TensorType type = graph_.tensors[result].type;
        const TensorId changed = AddTensor(absl::StrCat(graph_.tensors[result].name, ".changed"),
                                           type, graph_.tensors[result].dims);
        AddNode(step.definition, std::move(read), changed, weight);
        AddKept(IdentityOf(type, "kept"), {changed}, kept->second, result, weight);
      }
    }
    ++instance_;
  }

  void AddKept(Definition definition, std::vector<TensorId> read, TensorId state, TensorId result,
               const Tensor& weight) {
    KeepWhereWeightless(graph_, state, weight_, read, definition);
    AddNode(std::move(definition), std::move(read), result, weight);
  }

  void AddNode(Definition definition, std::vector<TensorId> read, TensorId result,
               const Tensor& weight) {
    Node node;
    node.name = graph_.tensors[result].name;
    node.op = op_.name;
    node.from = absl::StrCat(op_.name, " of ", weight.name);
    node.instance = instance_;
    node.entry = entry_;
    node.definition = std::make_shared<const Definition>(std::move(definition));
    node.operands = std::move(read);
    node.result = result;
    graph_.tensors[result].producer = static_cast<NodeId>(graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
  }

  // The tensor of an internal slot or, of a named state, its next value, which is an output.
  TensorId AddResult(const Slot& slot, const std::string& state,
                     const std::vector<TensorId>& operands, const Tensor& weight) {
    TensorType type = {slot.type, {}};
    for (const std::vector<int64_t>& dim : slot.dims)
      type.dims.insert(type.dims.end(), dim.begin(), dim.end());
    const bool like_weight = type.dims == weight.type.dims;
    const auto param = std::find_if(op_.params.begin(), op_.params.end(),
                                    [&](const Param& p) { return p.name == state; });
    const bool is_state = param != op_.params.end();
    YUBA_CHECK(is_state || state.empty()) << op_.name << ": " << state;
    const bool shared = is_state && param->dims.empty();
    const TensorId result =
        AddTensor(shared ? slot.name : absl::StrCat(weight.name, "/", slot.name), type,
                  like_weight ? weight.dims : slot.dims);
    if (!is_state) return result;
    if (shared) shared_next_[state] = result;
    graph_.outputs.push_back(result);
    const TensorId of = operands[param - op_.params.begin()];
    state_of_[result] = of;
    updated_.push_back({graph_.tensors[of].name, graph_.tensors[result].name});
    return result;
  }

  Model& model_;
  Graph& graph_;
  GraphNames names_;
  const Optimizer& optimizer_;
  const OpDescription& op_;
  const TensorId weight_;  // of the loss: where it is 0, states stay; -1: it has none
  std::map<TensorId, TensorId> state_of_;        // [next value]: the state
  std::map<std::string, TensorId> shared_;       // numbers and states of all updates, by operand
  std::map<std::string, TensorId> shared_next_;  // next values of shared states
  std::vector<UpdatedState> updated_;
  int instance_ = 0;
  int entry_ = 0;  // the last one, which trains
};

}  // namespace

absl::Status CheckOptimizer(const OpDescription& description) {
  const auto& params = description.params;
  if (params.size() >= 2 && params[0].role == Param::kState && params[1].role == Param::kPlain) {
    for (size_t p = 2; p < params.size(); ++p) {
      if (params[p].role != Param::kState && !params[p].dims.empty()) {
        return UserError("the operand ", params[p].name, " of the optimizer ", description.name,
                         " has dimensions, but is no `state`");
      }
    }
    for (const Output& output : description.outputs) {
      if (output.name.back() == '\'') continue;
      return UserError("the output ", output.name, " of the optimizer ", description.name,
                       " is no next value of a `state`");
    }
    return absl::OkStatus();
  }
  return UserError(description.name, " is no optimizer: its first operand must be a `state`, what ",
                   "is trained, and its second the gradient");
}

absl::StatusOr<std::vector<UpdatedState>> AddUpdates(Model& model, const Optimizer& optimizer,
                                                     const std::vector<TensorId>& trained,
                                                     const std::vector<TensorId>& gradients,
                                                     TensorId weight) {
  YUBA_CHECK(trained.size() == gradients.size());
  Updater updater(model, optimizer, weight);
  YUBA_RETURN_IF_ERROR(updater.CheckNames(trained));
  YUBA_RETURN_IF_ERROR(updater.AddShared(ElementType::kF32));
  for (size_t t = 0; t < trained.size(); ++t)
    YUBA_RETURN_IF_ERROR(updater.Update(trained[t], gradients[t]));
  Link(model.graph);
  CheckGraph(model.graph);
  return updater.updated();
}

}  // namespace yuba::compiler
