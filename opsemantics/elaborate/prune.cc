#include "opsemantics/elaborate/prune.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace yuba {
namespace {

// The slot that the definition copies element by element; -1 where it does something else.
int CopiedSlot(const SlotDefinition& copy) {
  const Definition& definition = copy.definition;
  if (definition.reducer != Reducer::kNone || definition.body->kind != Expr::kRead ||
      !definition.body->args.empty()) {
    return -1;
  }
  if (definition.body->position != definition.left) return -1;
  const TensorType& operand = definition.operands[definition.body->operand];
  return operand == definition.result ? copy.operands[0] : -1;
}

bool Reads(const SlotDefinition& definition, int slot) {
  const std::vector<int>& operands = definition.operands;
  return std::find(operands.begin(), operands.end(), slot) != operands.end();
}

// Whether the slot is what the instance computes for others.
bool IsWanted(const Slot& slot) {
  return slot.role == SlotRole::kOutput || slot.role == SlotRole::kOperandGradient;
}

// Where definition number `copy` copies an internal slot into a wanted one, lets that take the
// slot's place and removes the definition. Says whether it did.
bool Forward(Instance& instance, size_t copy) {
  const int to = instance.definitions[copy].result;
  const int from = CopiedSlot(instance.definitions[copy]);
  if (from < 0 || instance.slots[from].role != SlotRole::kInternal || !IsWanted(instance.slots[to]))
    return false;
  for (const SlotDefinition& other : instance.definitions) {
    if (Reads(other, from) && Reads(other, to)) return false;
  }
  const bool nograd = instance.definitions[copy].definition.nograd;
  for (SlotDefinition& other : instance.definitions) {
    std::replace(other.operands.begin(), other.operands.end(), from, to);
    if (other.result != from) continue;
    other.result = to;
    other.definition.name = instance.slots[to].name;
    other.definition.nograd = other.definition.nograd || nograd;
  }
  instance.definitions.erase(instance.definitions.begin() + static_cast<std::ptrdiff_t>(copy));
  return true;
}

void DropUnread(Instance& instance) {
  std::set<int> read;
  std::vector<SlotDefinition> remaining;
  for (auto definition = instance.definitions.rbegin(); definition != instance.definitions.rend();
       ++definition) {
    const bool wanted = IsWanted(instance.slots[definition->result]);
    if (!wanted && read.count(definition->result) == 0) continue;
    read.insert(definition->operands.begin(), definition->operands.end());
    remaining.push_back(std::move(*definition));
  }
  std::reverse(remaining.begin(), remaining.end());
  instance.definitions = std::move(remaining);
  // Internal slots without a definition go, and scalars that nothing reads; operands and outputs
  // stay, and gradients of outputs where there is a gradient of an operand.
  const bool gradients =
      std::any_of(instance.slots.begin(), instance.slots.end(),
                  [](const Slot& slot) { return slot.role == SlotRole::kOperandGradient; });
  std::vector<int> renumbered(instance.slots.size(), -1);
  std::vector<Slot> slots;
  for (size_t i = 0; i < instance.slots.size(); ++i) {
    const Slot& slot = instance.slots[i];
    const bool stays = slot.role == SlotRole::kOperand || slot.role == SlotRole::kOutput ||
                       (gradients && IsGradient(slot));
    if (!stays && read.count(static_cast<int>(i)) == 0) continue;
    renumbered[i] = static_cast<int>(slots.size());
    slots.push_back(std::move(instance.slots[i]));
  }
  instance.slots = std::move(slots);
  for (SlotDefinition& definition : instance.definitions) {
    definition.result = renumbered[definition.result];
    for (int& operand : definition.operands) operand = renumbered[operand];
  }
}

}  // namespace

void Prune(Instance& instance) {
  for (size_t i = instance.definitions.size(); i-- > 0;) Forward(instance, i);
  DropUnread(instance);
}

}  // namespace yuba
