#include "compiler/import/factors/unify.h"

#include <algorithm>
#include <deque>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/factors/relations.h"
#include "opsemantics/base/stable_hash.h"

namespace yuba::onnx {
namespace {

constexpr size_t kMaximalFactors = 4;

// The positions of one dimension of a value, or of one class of leaves: ascending, from 1 to the
// extent, each a divisor of the next.
struct Positions {
  std::vector<int64_t> at;
  bool whole = false;     // nothing may be added
  bool limited = false;   // it is a value's dimension, which has at most kMaximalFactors factors
  std::vector<int> ties;  // the active ties of which it is an end
};

// A value's dimension and the leaves of a slot that make it up.
struct Tie {
  int value = 0;  // its Positions
  std::vector<std::pair<int, int64_t>>
      leaves;  // (Positions, product of what is inside of the leaf)
};

class Unifier {
 public:
  Unifier(const OnnxGraph& graph, bool factors) : graph_(graph) {
    for (const OnnxValue& value : graph.values) {
      value_positions_.emplace_back();
      for (const int64_t extent : value.dims)
        value_positions_.back().push_back(AddPositions(extent, !factors, true));
    }
    // A state and its next value are one tensor in the end.
    for (const OnnxGraph::CarriedValues& pair : graph.carried)
      value_positions_[pair.next] = value_positions_[pair.state];
    for (const Use& use : graph.uses) AddUse(use);
  }

  Factors Unify() {
    bool chained = true;
    for (size_t t = 0; t < ties_.size() && chained; ++t) chained = Activate(static_cast<int>(t));
    if (!chained) {
      Reset();
      for (const int use : OrderOfUses()) {
        for (int t = first_tie_[use]; t < first_tie_[use + 1]; ++t) {
          if (!Activate(t)) RollBack(t);
        }
      }
    }
    return Result();
  }

 private:
  int AddPositions(int64_t extent, bool whole, bool limited) {
    Positions positions;
    positions.at = {1};
    if (extent != 1) positions.at.push_back(extent);
    positions.whole = whole;
    positions.limited = limited;
    positions_.push_back(std::move(positions));
    return static_cast<int>(positions_.size()) - 1;
  }

  void AddUse(const Use& use) {
    first_tie_.pop_back();
    first_tie_.push_back(static_cast<int>(ties_.size()));
    const LeafRelations relations = RelateLeaves(use.instance);
    const int first = static_cast<int>(positions_.size());
    for (size_t c = 0; c < relations.extents.size(); ++c)
      AddPositions(relations.extents[c], relations.whole[c], false);
    leaves_.emplace_back();
    for (const auto& classes : relations.classes) {
      leaves_.back().emplace_back();
      for (const int c : classes) leaves_.back().back().push_back(first + c);
    }
    for (size_t s = 0; s < use.values.size(); ++s) {
      if (use.values[s] >= 0) AddTies(use.instance.slots[s], use.values[s], leaves_.back()[s]);
    }
    first_tie_.push_back(static_cast<int>(ties_.size()));
  }

  void AddTies(const Slot& slot, int value, const std::vector<int>& leaves) {
    size_t leaf = 0;
    for (size_t d = 0; d < slot.dims.size(); leaf += slot.dims[d].size(), ++d) {
      if (graph_.values[value].dims[d] < 2) continue;
      Tie tie;
      tie.value = value_positions_[value][d];
      int64_t inner = 1;
      for (size_t f = slot.dims[d].size(); f-- > 0;) {
        if (slot.dims[d][f] > 1) tie.leaves.push_back({leaves[leaf + f], inner});
        inner *= slot.dims[d][f];
      }
      ties_.push_back(std::move(tie));
    }
  }

  // Makes a tie active and adds positions until all active ties hold. False where two positions do
  // not nest; the caller then rolls back.
  bool Activate(int tie) {
    log_.clear();
    positions_[ties_[tie].value].ties.push_back(tie);
    for (const auto& [leaf, inner] : ties_[tie].leaves) positions_[leaf].ties.push_back(tie);
    std::deque<int> pending = {tie};
    while (!pending.empty()) {
      const int next = pending.front();
      pending.pop_front();
      if (!Propagate(ties_[next], pending)) return false;
    }
    return true;
  }

  bool Propagate(const Tie& tie, std::deque<int>& pending) {
    for (const auto& [leaf, inner] : tie.leaves) {
      for (const int64_t position : std::vector<int64_t>(positions_[leaf].at)) {
        if (!Add(tie.value, position * inner, pending)) return false;
      }
    }
    for (const int64_t position : std::vector<int64_t>(positions_[tie.value].at)) {
      for (const auto& [leaf, inner] : tie.leaves) {
        const int64_t extent = positions_[leaf].at.back();
        if (position <= inner || position / inner >= extent) continue;
        if (position % inner != 0 || !Add(leaf, position / inner, pending)) return false;
      }
    }
    return true;
  }

  bool Add(int index, int64_t position, std::deque<int>& pending) {
    Positions& positions = positions_[index];
    const auto at = std::lower_bound(positions.at.begin(), positions.at.end(), position);
    if (at != positions.at.end() && *at == position) return true;
    if (positions.whole || at == positions.at.end() || at == positions.at.begin()) return false;
    if (position % *(at - 1) != 0 || *at % position != 0) return false;
    if (positions.limited && positions.at.size() > kMaximalFactors) return false;
    positions.at.insert(at, position);
    log_.push_back({index, position});
    for (const int tie : positions.ties) pending.push_back(tie);
    return true;
  }

  void RollBack(int tie) {
    for (const auto& [index, position] : log_) {
      std::vector<int64_t>& at = positions_[index].at;
      at.erase(std::find(at.begin(), at.end(), position));
    }
    positions_[ties_[tie].value].ties.pop_back();
    for (auto leaf = ties_[tie].leaves.rbegin(); leaf != ties_[tie].leaves.rend(); ++leaf)
      positions_[leaf->first].ties.pop_back();
  }

  void Reset() {
    for (Positions& positions : positions_) {
      if (positions.at.size() > 2) positions.at = {1, positions.at.back()};
      positions.ties.clear();
    }
  }

  // The uses in the order in which their ties become active: operators, reshapes, concats; of one
  // class those that touch most bytes first.
  std::vector<int> OrderOfUses() const {
    std::vector<std::tuple<TieClass, int64_t, uint64_t, int>> keys;
    for (size_t u = 0; u < graph_.uses.size(); ++u) {
      int64_t bytes = 0;
      std::string text;
      for (const Slot& slot : graph_.uses[u].instance.slots) {
        int64_t size = ByteSize(slot.type);
        for (const auto& dim : slot.dims) {
          for (const int64_t factor : dim) size *= factor;
          absl::StrAppend(&text, "(", absl::StrJoin(dim, " "), ")");
        }
        bytes += size;
      }
      for (const SlotDefinition& step : graph_.uses[u].instance.definitions)
        absl::StrAppend(&text, "\n", ToString(step.definition));
      keys.push_back({graph_.uses[u].tie_class, -bytes, StableHash(text), static_cast<int>(u)});
    }
    std::sort(keys.begin(), keys.end());
    std::vector<int> order;
    for (const auto& key : keys) order.push_back(std::get<3>(key));
    return order;
  }

  FactorList FactorsOf(int index) const {
    const std::vector<int64_t>& at = positions_[index].at;
    FactorList factors;
    for (size_t i = at.size() - 1; i > 0; --i)
      factors.push_back(at[i - 1] == 0 ? at[i] : at[i] / at[i - 1]);
    if (factors.empty()) factors.push_back(1);
    return factors;
  }

  Factors Result() const {
    Factors result;
    for (const auto& dims : value_positions_) {
      result.values.emplace_back();
      for (const int dim : dims) result.values.back().push_back(FactorsOf(dim));
    }
    for (const auto& slots : leaves_) {
      result.leaves.emplace_back();
      for (const auto& leaves : slots) {
        result.leaves.back().emplace_back();
        for (const int leaf : leaves) result.leaves.back().back().push_back(FactorsOf(leaf));
      }
    }
    return result;
  }

  const OnnxGraph& graph_;
  std::vector<Positions> positions_;
  std::vector<std::vector<int>> value_positions_;      // [value][dimension]
  std::vector<std::vector<std::vector<int>>> leaves_;  // [use][slot][flat dim]
  std::vector<Tie> ties_;
  std::vector<int> first_tie_ = {0};  // [use]: its first tie; one more entry behind the last
  std::vector<std::pair<int, int64_t>> log_;  // what the last Activate added: (Positions, position)
};

}  // namespace

Factors UnifyFactors(const OnnxGraph& graph, bool factors) {
  return Unifier(graph, factors).Unify();
}

}  // namespace yuba::onnx
