#include "search/check_memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

namespace yuba {
namespace {

using Numbers = std::shared_ptr<const std::vector<int64_t>>;

class Pricing {
 public:
  Pricing(const Graph& graph, const HeldElements& held, const std::vector<MemoryPrice>& prices,
          int64_t limit)
      : graph_(graph),
        held_(held),
        prices_(prices),
        room_(prices.size(), limit),
        most_(MostInProof(graph)) {}

  absl::StatusOr<PricedMemory> Run() {
    for (const MemoryPrice& price : prices_) {
      if (price.time < 0 || price.price < 0 || price.price > most_) {
        return absl::FailedPreconditionError("the proof's prices are negative or too large");
      }
    }
    const int tensors = static_cast<int>(graph_.tensors.size());
    for (int t = 0; t < tensors; ++t) largest_.push_back(LargestShard(t));
    for (int t = 0; t < tensors; ++t) AddTensor(t);
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) AddNode(n);
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
    return graph_.tensors[t].producer < 0 || graph_.tensors[t].output;
  }
  int64_t ElementSize(TensorId t) const { return ByteSize(graph_.tensors[t].type.type); }

  int64_t LargestShard(TensorId t) const {
    return Slot(*std::max_element(held_.shards[t]->begin(), held_.shards[t]->end()) *
                ElementSize(t));
  }

  // What is in use from `first` to `last`, both included, by cut.
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
    int64_t first = 0, last = 3 * static_cast<int64_t>(graph_.nodes.size()) - 1;
    if (!Stored(t)) {
      first = 3 * int64_t{tensor.producer} + 2;
      last = tensor.consumers.empty() ? first : 3 * int64_t{tensor.consumers.back()};
    }
    std::vector<int64_t> bytes = *held_.shards[t];
    const TensorId source = SourceOf(graph_, t);
    for (int64_t& here : bytes) {
      here = Slot(here * ElementSize(t));
      if (source != t && here <= largest_[source]) here = 0;  // it may be a shard of its source
    }
    Add(t, std::move(bytes), first, last);
  }

  // The most that may be read, or made, without being counted.
  int64_t Uncounted(const Node& node, int n, size_t operand) const {
    if (operand == node.operands.size()) return Stored(node.result) ? largest_[node.result] : 0;
    const TensorId t = node.operands[operand], source = SourceOf(graph_, t);
    const bool ends = !Stored(t) && graph_.tensors[t].consumers.back() == n;
    const int64_t of_source = source == t ? 0 : largest_[source];
    return ends ? of_source : std::max(of_source, largest_[t]);
  }

  void AddNode(int n) {
    const Node& node = graph_.nodes[n];
    if (IsCopy(graph_, node)) return;
    const int64_t time = 3 * int64_t{n} + 1;
    if (!HasPrice(prices_, time)) return;
    const int element = static_cast<int>(graph_.tensors.size()) + n;
    std::vector<int64_t> bytes(held_.sizes[element], 0);
    for (size_t o = 0; o <= node.operands.size(); ++o) {
      const bool result = o == node.operands.size();
      const TensorId t = result ? node.result : node.operands[o];
      const auto begin = node.operands.begin(), here = begin + static_cast<int64_t>(o);
      if (!result && std::find(begin, here, t) != here) continue;  // counted already
      for (size_t cut = 0; cut < bytes.size(); ++cut) {
        const int64_t held = Slot((*held_.boxes[n][o])[cut] * ElementSize(t));
        if (held > Uncounted(node, n, o)) bytes[cut] += held;
      }
    }
    Add(element, std::move(bytes), time, time);
  }

  const Graph& graph_;
  const HeldElements& held_;
  const std::vector<MemoryPrice>& prices_;
  std::vector<int64_t> room_;     // by price: what is left to what is beyond the least
  const int64_t most_;            // of one number
  bool too_large_ = false;        // room_, or its sum at the prices, to be counted
  std::vector<int64_t> largest_;  // by tensor: bytes of its largest shard in any cut
  PricedMemory memory_;
};

}  // namespace

bool HasPrice(const std::vector<MemoryPrice>& prices, int64_t time) {
  return std::any_of(prices.begin(), prices.end(),
                     [&](const MemoryPrice& price) { return price.time == time; });
}

absl::StatusOr<PricedMemory> PricedUses(const Graph& graph, const HeldElements& held,
                                        const std::vector<MemoryPrice>& prices, int64_t limit) {
  return Pricing(graph, held, prices, limit).Run();
}

std::vector<CheckTable> InUnits(const Graph& graph, std::vector<CheckTable> tables) {
  const int64_t most = MostInProof(graph) / kPriceUnits;
  std::map<Numbers, Numbers> scaled;
  for (CheckTable& table : tables) {
    Numbers& cells = scaled[table.cells];
    if (cells == nullptr) {
      std::vector<int64_t> units = *table.cells;
      for (int64_t& cell : units) cell = std::min(cell, most) * kPriceUnits;
      cells = std::make_shared<const std::vector<int64_t>>(std::move(units));
    }
    table.cells = cells;
  }
  return tables;
}

}  // namespace yuba
