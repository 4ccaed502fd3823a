#include "tests/opsemantics/support/custom_gradients.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "opsemantics/elaborate/elaborate.h"
#include "opsemantics/elaborate/sample_uses.h"
#include "tests/opsemantics/support/differences.h"
#include "tests/opsemantics/support/strategies.h"

namespace yuba {
namespace {

// An instance with gradients, in f64, at made-up values. The gradients of its outputs are weights:
// it is differentiated as the weighted sum of its outputs.
struct Point {
  Point(Instance of, Signs signs) : instance(std::move(of)) {
    Definition types;  // [operand]: the type of the slot
    for (const Slot& slot : instance.slots) types.operands.push_back(TypeOf(slot));
    values = MadeUpOperands(types, Arithmetic::kFloat, 5);
    for (size_t s = 0; s < values.size(); ++s) {
      if (instance.slots[s].role != SlotRole::kOperand) continue;
      slots.push_back(static_cast<int>(s));
      operands.push_back(values[s]);
    }
    MakeSigned(signs, operands);
  }

  static TensorType TypeOf(const Slot& slot) {
    TensorType type{InDouble(slot.type), {}};
    for (const auto& dim : slot.dims) type.dims.insert(type.dims.end(), dim.begin(), dim.end());
    return type;
  }

  void Run() {
    for (size_t k = 0; k < slots.size(); ++k) values[slots[k]] = operands[k];
    for (const SlotDefinition& step : instance.definitions) {
      std::vector<TensorValue> read;
      for (const int slot : step.operands) read.push_back(values[slot]);
      values[step.result] = RunWhole(InDouble(step.definition), Arithmetic::kFloat, read);
    }
  }

  double Value() {
    Run();
    double sum = 0;
    for (size_t s = 0; s < values.size(); ++s) {
      if (instance.slots[s].role != SlotRole::kOutputGradient) continue;
      sum +=
          WeightedSum(values[SlotWith(SlotRole::kOutput, instance.slots[s].position)], values[s]);
    }
    return sum;
  }

  int SlotWith(SlotRole role, int position) const {
    for (size_t s = 0; s < instance.slots.size(); ++s) {
      if (instance.slots[s].role == role && instance.slots[s].position == position)
        return static_cast<int>(s);
    }
    return -1;
  }

  // [operand][element]: what the description says; the differences where it says nothing.
  std::vector<std::vector<double>> Custom(const Differences& differences) {
    Run();
    std::vector<std::vector<double>> gradients;
    for (size_t k = 0; k < slots.size(); ++k) {
      const int custom = SlotWith(SlotRole::kOperandGradient, instance.slots[slots[k]].position);
      gradients.emplace_back();
      for (size_t e = 0; e < operands[k].elements.size(); ++e) {
        const double difference = differences.values[k][e].value_or(0);
        gradients.back().push_back(custom < 0 ? difference : values[custom].elements[e].number);
      }
    }
    return gradients;
  }

  Instance instance;
  std::vector<int> slots;             // [operand]: its slot
  std::vector<TensorValue> operands;  // by operand
  std::vector<TensorValue> values;    // by slot
};

}  // namespace

CustomGradients CompareCustomGradients(const OpDescription& op) {
  CustomGradients result;
  int strange = 0;
  for (const SampleUse& use : SampleUses(op)) {
    auto instance = Elaborate(op, use.operands, use.attributes, Gradients::kWith);
    if (!instance.ok()) return {0, false};
    const auto is_gradient = [](const Slot& slot) { return IsGradient(slot); };
    if (std::none_of(instance->slots.begin(), instance->slots.end(), is_gradient)) continue;
    for (const Signs signs : {Signs::kPositive, Signs::kMixed}) {
      Point point(*instance, signs);
      const Differences differences =
          CentralDifferences(point.operands, [&] { return point.Value(); });
      result.equal &= AreEqual(point.Custom(differences), differences, 1e-6, strange);
      result.elements += differences.elements;
    }
  }
  result.equal &= strange * 100 <= result.elements;
  return result;
}

}  // namespace yuba
