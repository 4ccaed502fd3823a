#include "search/check/memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "opsemantics/base/slot.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/short_sums.h"
#include "search/plan/price_scale.h"

namespace yuba::search {
namespace {

using Numbers = std::shared_ptr<const std::vector<int64_t>>;

class Pricing {
 public:
  Pricing(const Graph& graph, const HeldElements& held, const std::vector<Numbers>& costs,
          const std::vector<MemoryPrice>& prices, int64_t limit)
      : graph_(graph),
        held_(held),
        costs_(costs),
        prices_(prices),
        room_(prices.size(), limit),
        most_(MostInProof(graph)),
        added_behind_(AddedBehind(graph)) {}

  absl::StatusOr<PricedMemory> Run() {
    for (const MemoryPrice& price : prices_) {
      if (price.time < 0 || price.price < 0 || price.price > most_) {
        return ProofError("the proof's prices are negative or too large");
      }
    }
    const int tensors = static_cast<int>(graph_.tensors.size());
    for (int t = 0; t < tensors; ++t) AddTensor(t);
    size_t first_use = 0;
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) {
      if (ReadBoxes(graph_, n, prices_)) AddNode(n, first_use);
      first_use += 1 + graph_.nodes[n].operands.size();
    }
    for (size_t p = 0; p < prices_.size(); ++p) {
      int64_t units = 0;
      too_large_ |= __builtin_mul_overflow(room_[p], prices_[p].price, &units);
      too_large_ |= __builtin_add_overflow(units, memory_.room, &memory_.room);
    }
    if (too_large_) memory_.room = std::numeric_limits<int64_t>::max();
    return std::move(memory_);
  }

 private:
  bool Stored(TensorId t) const {
    return IsStored(graph_.tensors[t].kind) || graph_.tensors[t].output;
  }
  int64_t ElementSize(TensorId t) const { return ByteSize(graph_.tensors[t].type.type); }

  // The last time at which the tensor is there (node i gathers at 3i, computes at 3i+1, reduces at
  // 3i+2).
  int64_t LastOf(TensorId t) const {
    const Tensor& tensor = graph_.tensors[t];
    if (Stored(t)) return 3 * static_cast<int64_t>(graph_.nodes.size()) - 1;
    if (tensor.consumers.empty()) return 3 * int64_t{tensor.producer} + 2;
    if (added_behind_[t] >= 0) return 3 * int64_t{added_behind_[t]} + 2;
    return 3 * int64_t{tensor.consumers.back()};
  }

  // Adds what the element has in use from `first` to `last`, both included: `bytes` by choice.
  void Add(int element, std::vector<int64_t> bytes, int64_t first, int64_t last) {
    const int64_t least = *std::min_element(bytes.begin(), bytes.end());
    int64_t price = 0;
    for (size_t p = 0; p < prices_.size(); ++p) {
      if (prices_[p].time < first || prices_[p].time > last) continue;
      price = std::min(price + prices_[p].price, most_);
      too_large_ |= __builtin_sub_overflow(room_[p], least, &room_[p]);
    }
    if (price == 0) return;
    for (int64_t& here : bytes) here = PricedUse(here - least, price, most_);
    memory_.tables.push_back(
        {{element}, std::make_shared<const std::vector<int64_t>>(std::move(bytes))});
  }

  void AddTensor(TensorId t) {
    const Tensor& tensor = graph_.tensors[t];
    int64_t first = Stored(t) ? 0 : 3 * int64_t{tensor.producer} + 2;
    // Until its source is gone, a copy may be the source's own shard.
    if (tensor.kind == TensorKind::kCopy) first = std::max(first, LastOf(SourceOf(graph_, t)) + 1);
    std::vector<int64_t> bytes = *held_.shards[t];
    for (int64_t& here : bytes) here = SlotBytes(here * ElementSize(t));
    Add(t, std::move(bytes), first, LastOf(t));
  }

  // By choice of node n: the bytes that it reads of the operand; operand number operands.size() is
  // the result, which it writes.
  std::vector<int64_t> BytesOf(int n, size_t operand) const {
    const Node& node = graph_.nodes[n];
    const TensorId t = operand == node.operands.size() ? node.result : node.operands[operand];
    std::vector<int64_t> bytes = *held_.boxes[n][operand];
    for (int64_t& here : bytes) here = SlotBytes(here * ElementSize(t));
    return bytes;
  }

  // Adds a buffer that is there from `first` to `last` where the use moves anything: of the size of
  // the node's box of that operand, or with `shard` of the tensor's shard.
  void AddMoved(int n, size_t operand, const Numbers& cost, int64_t first, int64_t last,
                bool shard = false) {
    int64_t price = 0;
    for (const MemoryPrice& each : prices_) {
      if (first <= each.time && each.time <= last) price = std::min(price + each.price, most_);
    }
    if (price == 0) return;
    const Node& node = graph_.nodes[n];
    const TensorId t = operand == node.operands.size() ? node.result : node.operands[operand];
    const Numbers& elements = shard ? held_.shards[t] : held_.boxes[n][operand];
    Numbers& units = moved_[{cost, elements, ElementSize(t), price, shard}];
    if (units == nullptr) {
      std::vector<int64_t> cells(cost->size(), 0);
      const size_t columns = shard ? 1 : cells.size() / elements->size();
      for (size_t i = 0; i < cells.size(); ++i) {
        if (!IsMoved((*cost)[i])) continue;
        const int64_t bytes =
            SlotBytes((*elements)[i / columns % elements->size()] * ElementSize(t));
        cells[i] = PricedUse(bytes, price, most_);
      }
      units = std::make_shared<const std::vector<int64_t>>(std::move(cells));
    }
    memory_.tables.push_back({{static_cast<int>(graph_.tensors.size()) + n, t}, units});
  }

  void AddNode(int n, size_t first_use) {
    const Node& node = graph_.nodes[n];
    const int64_t gather = 3 * int64_t{n}, compute = gather + 1, reduce = gather + 2;
    const size_t operands = node.operands.size();
    if (IsCopy(graph_, node)) {
      const int64_t last =
          std::min(LastOf(node.result), LastOf(SourceOf(graph_, node.operands[0])));
      AddMoved(n, 0, costs_[first_use + 1], gather, last);
      AddMoved(n, operands, costs_[first_use], gather, last, true);
      return;
    }
    std::vector<int64_t> computing(held_.sizes[graph_.tensors.size() + n], 0);
    const auto add = [&](size_t operand) {
      const std::vector<int64_t> bytes = BytesOf(n, operand);
      for (size_t choice = 0; choice < bytes.size(); ++choice) computing[choice] += bytes[choice];
    };
    bool some_gone = false;
    for (size_t o = 0; o < operands; ++o) {
      const TensorId t = node.operands[o];
      if (std::count(node.operands.begin(), node.operands.begin() + o, t) > 0) continue;
      const bool last_read = LastOf(t) == gather;
      const bool source_gone = last_read && LastOf(SourceOf(graph_, t)) <= gather;
      if (source_gone) add(o);
      AddMoved(n, o, costs_[first_use + 1 + o], some_gone ? compute : gather,
               source_gone ? gather : compute);
      some_gone = some_gone || last_read;
    }
    if (!Stored(node.result)) add(operands);
    AddMoved(n, operands, costs_[first_use], Stored(node.result) ? compute : reduce, reduce);
    Add(static_cast<int>(graph_.tensors.size()) + n, std::move(computing), compute, compute);
  }

  const Graph& graph_;
  const HeldElements& held_;
  const std::vector<Numbers>& costs_;
  const std::vector<MemoryPrice>& prices_;
  std::vector<int64_t> room_;  // by price: bytes that the limit leaves beyond everyone's least
  const int64_t most_;         // no number of the proof is greater
  const std::vector<NodeId> added_behind_;
  bool too_large_ = false;  // room_, or its sum at the prices, cannot be counted
  // Tables of AddMoved by costs, boxes or shards, size of elements, price and `shard`.
  std::map<std::tuple<Numbers, Numbers, int64_t, int64_t, bool>, Numbers> moved_;
  PricedMemory memory_;
};

}  // namespace

bool ReadBoxes(const Graph& graph, NodeId node, const std::vector<MemoryPrice>& prices) {
  const int64_t gather = 3 * int64_t{node};
  return IsCopy(graph, graph.nodes[node]) ||
         std::any_of(prices.begin(), prices.end(), [&](const MemoryPrice& price) {
           return gather <= price.time && price.time < gather + 3;
         });
}

absl::StatusOr<PricedMemory> PricedUses(const Graph& graph, const HeldElements& held,
                                        const std::vector<Numbers>& costs,
                                        const std::vector<MemoryPrice>& prices, int64_t limit) {
  return Pricing(graph, held, costs, prices, limit).Run();
}

std::vector<CheckTable> InUnits(const PriceScale& scale, std::vector<CheckTable> tables) {
  std::map<Numbers, Numbers> scaled;
  for (CheckTable& table : tables) {
    Numbers& cells = scaled[table.cells];
    if (cells == nullptr) {
      std::vector<int64_t> units = *table.cells;
      for (int64_t& cell : units) cell = UnitsOf(scale, cell);
      cells = std::make_shared<const std::vector<int64_t>>(std::move(units));
    }
    table.cells = cells;
  }
  return tables;
}

}  // namespace yuba::search
