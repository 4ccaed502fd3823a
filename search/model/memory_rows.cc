#include "search/model/memory_rows.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "opsemantics/base/arithmetic.h"
#include "opsemantics/base/slot.h"
#include "opsemantics/definition/short_sums.h"
#include "opsemantics/sharding/sharding.h"
#include "search/plan/price_scale.h"
#include "search/rewrite/canonical.h"

namespace yuba::search {
namespace {

using ChoiceList = std::shared_ptr<const std::vector<Choice>>;

int64_t ShardBytes(const Mesh& mesh, const TensorType& type, const Choice& choice) {
  int64_t elements = 1;
  for (size_t d = 0; d < type.dims.size(); ++d) {
    const int64_t parts = PartCount(mesh, choice.axes[d]);
    elements = CheckedMultiply(elements, (type.dims[d] + parts - 1) / parts);
  }
  return CheckedMultiply(elements, ByteSize(type.type));
}

class RowsBuilder {
 public:
  RowsBuilder(const Graph& graph, const Mesh& mesh, const Problem& problem, const Budget& budget)
      : graph_(graph),
        mesh_(mesh),
        budget_(budget),
        problem_(problem),
        tensors_(static_cast<int>(graph.tensors.size())),
        definitions_(DefinitionNumbers(graph)),
        added_behind_(AddedBehind(graph)) {}

  MemoryRows Run(int64_t limit) {
    for (int t = 0; t < tensors_; ++t) AddTensor(t);
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) AddNode(n);
    rows_.limit = limit;
    return std::move(rows_);
  }

 private:
  // Whether the tensor is in memory all the time.
  bool Always(TensorId id) const {
    const Tensor& tensor = graph_.tensors[id];
    return IsStored(tensor.kind) || tensor.output;
  }

  // The time from which the tensor is gone: after the last gather from it.
  int64_t EndOf(TensorId id) const {
    const Tensor& tensor = graph_.tensors[id];
    if (Always(id)) return 3 * static_cast<int64_t>(graph_.nodes.size());
    if (tensor.consumers.empty()) return 3 * int64_t{tensor.producer} + 3;
    if (added_behind_[id] >= 0) return 3 * int64_t{added_behind_[id]} + 3;
    return 3 * int64_t{tensor.consumers.back()} + 1;
  }

  void AddTensor(TensorId id) {
    const Tensor& tensor = graph_.tensors[id];
    int64_t begin = Always(id) ? 0 : 3 * int64_t{tensor.producer} + 2;
    if (tensor.kind == TensorKind::kCopy) begin = std::max(begin, EndOf(SourceOf(graph_, id)));
    rows_.uses.push_back({problem_.variable[id], begin, EndOf(id), Shards(id)});
  }

  // [choice]: the bytes of the largest shard.
  const Cells& Shards(TensorId id) {
    const TensorType& type = graph_.tensors[id].type;
    const ChoiceList& choices = problem_.choices[id];
    Cells& known = shards_[std::make_tuple(choices, type.dims, type.type)];
    if (known != nullptr) return known;
    std::vector<int64_t> bytes;
    for (const Choice& choice : *choices)
      bytes.push_back(SlotBytes(ShardBytes(mesh_, type, choice)));
    known = std::make_shared<const std::vector<int64_t>>(std::move(bytes));
    return known;
  }

  void AddBuffer(int n, size_t use, int64_t begin, int64_t end, const Cells& usage,
                 bool of_tensor = false) {
    const int factor = problem_.factors[n][use];
    if (factor < 0 || begin >= end) return;
    rows_.buffers.push_back({factor, begin, end, usage, of_tensor});
  }

  void AddNode(int n) {
    const Node& node = graph_.nodes[n];
    const std::vector<Cells>* held = HeldBy(n);
    if (held == nullptr) return;  // the budget is spent
    const int64_t gather = 3 * int64_t{n};
    if (IsCopy(graph_, node)) {  // nothing is computed
      const int64_t both = std::min(EndOf(node.result), EndOf(SourceOf(graph_, node.result)));
      AddBuffer(n, 1, gather, both, (*held)[1]);
      // Where they are two variables: no plan cuts a copy in another way than its node.
      AddBuffer(n, 0, gather, both, Shards(node.result), true);
      return;
    }
    std::vector<size_t> computing;
    bool gone = false;  // whether a tensor that was gathered before may be gone
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const auto here = node.operands.begin() + static_cast<int64_t>(o);
      if (std::find(node.operands.begin(), here, *here) != here) continue;  // read again
      const bool ends = EndOf(*here) == gather + 1;
      const bool stays = !ends || EndOf(SourceOf(graph_, *here)) > gather + 1;
      if (!stays) computing.push_back(1 + o);
      AddBuffer(n, 1 + o, gone ? gather + 1 : gather, stays ? gather + 2 : gather + 1,
                (*held)[1 + o]);
      gone |= ends;
    }
    const bool stored = Always(node.result);
    if (!stored) computing.push_back(0);
    AddBuffer(n, 0, stored ? gather + 1 : gather + 2, gather + 3, (*held)[0]);
    if (!computing.empty()) {
      rows_.uses.push_back(
          {problem_.variable[tensors_ + n], gather + 1, gather + 2, Sum(*held, computing)});
    }
  }

  // [use][choice of the node]: the bytes that it writes (use 0) and reads of each operand (1 + o).
  // Null where the budget is spent.
  const std::vector<Cells>* HeldBy(int n) {
    const ChoiceList& choices = problem_.choices[tensors_ + n];
    std::vector<Cells>& known = held_[{definitions_[n], choices}];
    if (!known.empty()) return &known;
    const Domain& domain = *problem_.pairwise.variables[problem_.variable[tensors_ + n]];
    std::vector<std::vector<int64_t>> held(graph_.nodes[n].operands.size() + 1);
    for (std::vector<int64_t>& each : held) each.resize(choices->size());
    for (const int value : OrbitRepresentatives(domain)) {
      if (budget_.ShouldStop()) return nullptr;
      const std::vector<int64_t> bytes = Held(graph_.nodes[n], (*choices)[value]);
      for (const std::vector<int>& image : domain.images) {
        for (size_t use = 0; use < held.size(); ++use) held[use][image[value]] = bytes[use];
      }
    }
    for (std::vector<int64_t>& each : held) {
      known.push_back(std::make_shared<const std::vector<int64_t>>(std::move(each)));
    }
    return &known;
  }

  const Cells& Sum(const std::vector<Cells>& held, const std::vector<size_t>& uses) {
    Cells& known = sums_[{held, uses}];
    if (known != nullptr) return known;
    std::vector<int64_t> sum(held[0]->size(), 0);
    for (const size_t use : uses) {
      for (size_t value = 0; value < sum.size(); ++value) {
        sum[value] = CheckedAdd(sum[value], (*held[use])[value]);
      }
    }
    known = std::make_shared<const std::vector<int64_t>>(std::move(sum));
    return known;
  }

  // [use]: the bytes of one choice, each on the device that needs most for it.
  std::vector<int64_t> Held(const Node& node, const Choice& choice) const {
    const NodeBoxes boxes = AnalyzeNode(*node.definition, choice, mesh_);
    std::vector<int64_t> bytes(node.operands.size() + 1, 0);
    for (int device = 0; device < mesh_.devices(); ++device) {
      for (size_t use = 0; use < bytes.size(); ++use) {
        const Tensor& tensor = graph_.tensors[use == 0 ? node.result : node.operands[use - 1]];
        const Box& box = use == 0 ? boxes.writes[device] : boxes.reads[device][use - 1];
        bytes[use] = std::max(bytes[use],
                              SlotBytes(CheckedMultiply(Volume(box), ByteSize(tensor.type.type))));
      }
    }
    return bytes;
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const Budget& budget_;
  const Problem& problem_;
  const int tensors_;
  const std::vector<int> definitions_;
  const std::vector<NodeId> added_behind_;
  std::map<std::tuple<ChoiceList, std::vector<int64_t>, ElementType>, Cells> shards_;
  std::map<std::pair<int, ChoiceList>, std::vector<Cells>> held_;  // by definition and choices
  std::map<std::pair<std::vector<Cells>, std::vector<size_t>>, Cells> sums_;
  MemoryRows rows_;
};

}  // namespace

MemoryRows MemoryRowsOf(const Graph& graph, const Mesh& mesh, const Problem& problem, int64_t limit,
                        const Budget& budget) {
  MemoryRows rows = RowsBuilder(graph, mesh, problem, budget).Run(limit);
  rows.scale = PriceScaleOf(graph, mesh.devices());
  return rows;
}

}  // namespace yuba::search
