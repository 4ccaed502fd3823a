#include "compiler/import/translate/decided_values.h"

#include <algorithm>
#include <map>

#include "compiler/import/translate/node.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/regions/boxes.h"

namespace yuba::onnx {
namespace {

std::vector<int64_t> Flat(const std::vector<std::vector<int64_t>>& groups) {
  std::vector<int64_t> flat;
  for (const std::vector<int64_t>& group : groups)
    flat.insert(flat.end(), group.begin(), group.end());
  return flat;
}

class Decider {
 public:
  Decider(const OnnxGraph& graph, int64_t most) : graph_(graph), most_(most) {}

  // Null where it is not decided.
  const TensorValue* Of(int value) {
    const auto [at, is_new] = decided_.emplace(value, absl::nullopt);
    if (is_new) at->second = Decide(value);
    return at->second.has_value() ? &*at->second : nullptr;
  }

 private:
  absl::optional<TensorValue> Decide(int number) {
    const OnnxValue& value = graph_.values[number];
    const TensorType type{value.type, value.dims};
    if (value.one_row_fewer != nullptr || ElementCount(type) > most_) return absl::nullopt;
    if (value.known != nullptr) return *value.known;
    if (!HasInitialValue(value.kind)) return Computed(number);
    if (value.initial.data == nullptr || !IsConstant(value)) return absl::nullopt;
    if (value.initial.kind == compiler::InitialValue::kData)
      return compiler::ValueFromBytes(value.type, value.dims, *value.initial.data);
    TensorValue filled;
    filled.type = type;
    filled.elements.assign(
        ElementCount(type),
        compiler::ValueFromBytes(value.type, {}, *value.initial.data).elements[0]);
    return filled;
  }

  // Fills of zeros are no weights, though a file may write weights as fills.
  static bool IsConstant(const OnnxValue& value) {
    if (value.initial.kind == compiler::InitialValue::kFill) {
      return std::all_of(value.initial.data->begin(), value.initial.data->end(),
                         [](char byte) { return byte == 0; });
    }
    return value.initial.kind == compiler::InitialValue::kData &&
           (value.kind == TensorKind::kConstant ||
            (value.stored && value.role.word == StoredRole::Word::kOther));
  }

  absl::optional<TensorValue> Computed(int number) {
    for (auto use = graph_.uses.rbegin(); use != graph_.uses.rend(); ++use) {
      const auto& slots = use->instance.slots;
      for (size_t s = 0; s < slots.size(); ++s) {
        if (slots[s].role == SlotRole::kOutput && use->values[s] == number)
          return Output(*use, slots[s].position);
      }
    }
    return absl::nullopt;
  }

  absl::optional<TensorValue> Output(const Use& use, int position) {
    std::vector<const TensorValue*> operands;
    for (size_t s = 0; s < use.values.size(); ++s) {
      const Slot& slot = use.instance.slots[s];
      if (use.values[s] < 0 || slot.role == SlotRole::kOutput) continue;
      if (slot.role != SlotRole::kOperand) return absl::nullopt;  // a random number
      const TensorValue* operand = Of(use.values[s]);
      if (operand == nullptr) return absl::nullopt;
      operands.resize(std::max<size_t>(operands.size(), slot.position + 1), nullptr);
      operands[slot.position] = operand;
    }
    if (PointsOf(use.instance) > kFoldedPoints) return absl::nullopt;
    for (auto& [at, value] : Evaluate(use.instance, operands)) {
      if (at == position) return std::move(value);
    }
    return absl::nullopt;
  }

  const OnnxGraph& graph_;
  const int64_t most_;
  std::map<int, absl::optional<TensorValue>> decided_;  // by the numbers of values
};

}  // namespace

double PointsOf(const Instance& instance) {
  double most = 0;
  for (const SlotDefinition& step : instance.definitions) {
    double points = 1;
    for (const Index& index : step.definition.indices) points *= static_cast<double>(index.extent);
    most = std::max(most, points);
  }
  return most;
}

std::vector<std::pair<int, TensorValue>> Evaluate(const Instance& instance,
                                                  const std::vector<const TensorValue*>& operands) {
  std::vector<TensorValue> values(instance.slots.size());
  for (size_t i = 0; i < instance.slots.size(); ++i) {
    const Slot& slot = instance.slots[i];
    if (slot.role == SlotRole::kOperand) values[i] = *operands[slot.position];
    values[i].type = TensorType{slot.type, Flat(slot.dims)};
    values[i].elements.resize(ElementCount(values[i].type));
  }
  for (const SlotDefinition& step : instance.definitions) {
    std::vector<const TensorValue*> reads;
    for (const int slot : step.operands) reads.push_back(&values[slot]);
    Interpret(step.definition, WholeRanges(step.definition), reads, Arithmetic::kFloat,
              values[step.result]);
  }
  std::vector<std::pair<int, TensorValue>> outputs;
  for (size_t i = 0; i < instance.slots.size(); ++i) {
    const Slot& slot = instance.slots[i];
    if (slot.role != SlotRole::kOutput) continue;
    values[i].type.dims.clear();
    for (const std::vector<int64_t>& group : slot.dims) {
      values[i].type.dims.push_back(1);
      for (const int64_t factor : group) values[i].type.dims.back() *= factor;
    }
    outputs.emplace_back(slot.position, std::move(values[i]));
  }
  return outputs;
}

absl::optional<TensorValue> DecidedValue(const OnnxGraph& graph, int value, int64_t most) {
  Decider decider(graph, most);
  const TensorValue* decided = decider.Of(value);
  return decided == nullptr ? absl::nullopt : absl::make_optional(*decided);
}

}  // namespace yuba::onnx
