#include "compiler/import/factors/relations.h"

#include "absl/container/flat_hash_set.h"
#include "opsemantics/definition/opaque.h"

namespace yuba::onnx {
namespace {

// Classes by union-find over variables: the leaves of all slots, then the indices of the definition
// at hand.
class Relations {
 public:
  explicit Relations(const Instance& instance) : instance_(instance) {
    for (const Slot& slot : instance.slots) {
      first_.push_back(static_cast<int>(extents_.size()));
      for (const auto& dim : slot.dims)
        for (const int64_t extent : dim) AddVariable(extent);
    }
    first_.push_back(static_cast<int>(extents_.size()));
    for (size_t s = 0; s < instance.slots.size(); ++s) {
      if (instance.slots[s].role == SlotRole::kOutputGradient) JoinLeaves(s, SlotRole::kOutput);
      if (instance.slots[s].role == SlotRole::kOperandGradient) JoinLeaves(s, SlotRole::kOperand);
    }
  }

  LeafRelations Relate() {
    for (const SlotDefinition& step : instance_.definitions) {
      step_ = &step;
      first_index_ = static_cast<int>(extents_.size());
      for (const Index& index : step.definition.indices) AddVariable(index.extent);
      RelateDefinition(step.definition);
    }
    LeafRelations result;
    std::vector<int> class_of(extents_.size(), -1);
    size_t leaf = 0;
    for (const Slot& slot : instance_.slots) {
      result.classes.emplace_back();
      for (const auto& dim : slot.dims) {
        for (size_t i = 0; i < dim.size(); ++i, ++leaf) {
          const int root = Root(static_cast<int>(leaf));
          if (class_of[root] < 0) {
            class_of[root] = static_cast<int>(result.extents.size());
            result.extents.push_back(extents_[root]);
            result.whole.push_back(whole_[root]);
          }
          result.classes.back().push_back(class_of[root]);
        }
      }
    }
    return result;
  }

 private:
  void AddVariable(int64_t extent) {
    parent_.push_back(static_cast<int>(parent_.size()));
    extents_.push_back(extent);
    whole_.push_back(false);
  }

  int Root(int variable) {
    while (parent_[variable] != variable) variable = parent_[variable] = parent_[parent_[variable]];
    return variable;
  }

  void Join(int a, int b) {
    a = Root(a);
    b = Root(b);
    parent_[b] = a;
    whole_[a] = whole_[a] || whole_[b];
  }

  // A gradient has the factors of what it is the gradient of, a slot with the role `of`.
  void JoinLeaves(size_t gradient, SlotRole of) {
    const int position = instance_.slots[gradient].position;
    for (size_t s = 0; s < instance_.slots.size(); ++s) {
      if (instance_.slots[s].role != of || instance_.slots[s].position != position) continue;
      for (int leaf = first_[s]; leaf < first_[s + 1]; ++leaf)
        Join(leaf, first_[gradient] + leaf - first_[s]);
    }
  }

  void KeepWhole(int variable) { whole_[Root(variable)] = true; }
  void KeepWhole(const Affine& affine) {
    for (const auto& [index, coefficient] : affine.terms) KeepWhole(first_index_ + index);
  }

  void RelateDefinition(const Definition& definition) {
    for (auto& related : related_) related.clear();
    RelatePosition(step_->result, definition.left);
    RelateBody(definition.body, false);
    for (size_t i = 0; IsOpaque(definition) && i < definition.indices.size(); ++i) {
      const int index = static_cast<int>(i);
      if (!MayBeCut(definition, index)) KeepWhole(first_index_ + index);
    }
    for (const DataCondition& condition : definition.data_where) {
      KeepWhole(condition.index);
      RelateBody(condition.value, false);
    }
  }

  void RelateBody(const ExprPtr& expr, bool compared) {
    if (expr.use_count() > 1 && !related_[compared ? 1 : 0].insert(expr.get()).second) return;
    if (expr->kind == Expr::kRead) RelatePosition(step_->operands[expr->operand], expr->position);
    if (expr->kind == Expr::kIndex && compared) KeepWhole(expr->affine);
    if (expr->kind == Expr::kCall) {
      compared |= IsComparison(expr->function);
      compared &= expr->function != Function::kRandom;  // its index is compared with nothing
    }
    for (const ExprPtr& arg : expr->args) RelateBody(arg, compared);
  }

  void RelatePosition(int slot, const std::vector<Affine>& position) {
    for (size_t d = 0; d < position.size(); ++d) {
      const int leaf = first_[slot] + static_cast<int>(d);
      const int index = position[d].BareIndex();
      if (index >= 0 && extents_[first_index_ + index] == extents_[leaf]) {
        Join(leaf, first_index_ + index);
      } else {
        KeepWhole(leaf);
        if (index >= 0)
          KeepWhole(first_index_ + index);  // it runs along some of the dimension only
      }
    }
  }

  // The nodes of the body at hand that are related, outside and inside of comparisons.
  absl::flat_hash_set<const Expr*> related_[2];
  const Instance& instance_;
  const SlotDefinition* step_ = nullptr;
  int first_index_ = 0;
  std::vector<int> first_;  // [slot]: the variable of its first leaf
  std::vector<int> parent_;
  std::vector<int64_t> extents_;
  std::vector<bool> whole_;
};

}  // namespace

LeafRelations RelateLeaves(const Instance& instance) { return Relations(instance).Relate(); }

}  // namespace yuba::onnx
