#include "search/memory_rows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "opsemantics/placement.h"
#include "search/arithmetic.h"
#include "search/canonical.h"
#include "search/memory_price.h"

namespace yuba {
namespace {

using CutList = std::shared_ptr<const std::vector<Cut>>;

int64_t ShardBytes(const Mesh& mesh, const TensorType& type, const Cut& cut) {
  int64_t elements = 1;
  for (size_t d = 0; d < type.dims.size(); ++d) {
    const int64_t parts = PartCount(mesh, cut.axes[d]);
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
        definitions_(DefinitionNumbers(graph)) {}

  MemoryRows Run(int64_t limit) {
    for (int t = 0; t < tensors_; ++t) AddTensor(t);
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) AddNode(n);
    rows_.limit = limit;
    return std::move(rows_);
  }

 private:
  bool Always(TensorId id) const {
    const Tensor& tensor = graph_.tensors[id];
    return tensor.producer < 0 || tensor.output;
  }

  // Whether nothing reads the tensor after node n does.
  bool EndsAt(TensorId id, int n) const {
    return !Always(id) && graph_.tensors[id].consumers.back() == n;
  }

  void AddTensor(TensorId id) {
    const Tensor& tensor = graph_.tensors[id];
    const CutList& cuts = problem_.cuts[id];
    Cells& known = shards_[std::make_tuple(cuts, tensor.type.dims, tensor.type.type)];
    if (known == nullptr) {
      std::vector<int64_t> bytes;
      for (const Cut& cut : *cuts) bytes.push_back(Slot(ShardBytes(mesh_, tensor.type, cut)));
      known = std::make_shared<const std::vector<int64_t>>(std::move(bytes));
    }
    Cells usage = known;
    largest_.push_back(*std::max_element(usage->begin(), usage->end()));
    if (tensor.kind == TensorKind::kCopy) {
      largest_.back() = std::max(largest_.back(), largest_[SourceOf(graph_, id)]);
      usage = Beyond(usage, largest_[SourceOf(graph_, id)]);
    }
    const int64_t end = 3 * static_cast<int64_t>(graph_.nodes.size());
    const int64_t begin = Always(id) ? 0 : 3 * int64_t{tensor.producer} + 2;
    const int64_t last = tensor.consumers.empty() ? begin : 3 * int64_t{tensor.consumers.back()};
    rows_.uses.push_back({problem_.variable[id], begin, Always(id) ? end : last + 1, usage});
  }

  // A copy no larger than a shard of its tensor may be that shard, and need nothing.
  static Cells Beyond(const Cells& usage, int64_t shard) {
    std::vector<int64_t> bytes = *usage;
    for (int64_t& here : bytes) here = here > shard ? here : 0;
    return std::make_shared<const std::vector<int64_t>>(std::move(bytes));
  }

  // What is read of a tensor at its end may be larger than this only in a buffer or shard of its
  // own.
  int64_t LeastAtEnd(TensorId id) const {
    const TensorId source = SourceOf(graph_, id);
    return source == id ? 0 : largest_[source];
  }

  void AddNode(int n) {
    const Node& node = graph_.nodes[n];
    if (IsCopy(graph_, node)) return;  // nothing is computed
    // What is no larger may be met without a buffer: by each operand, then for the result.
    std::vector<int64_t> least;
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const auto here = node.operands.begin() + static_cast<int64_t>(o);
      const bool again = std::find(node.operands.begin(), here, *here) != here;
      const int64_t shard = EndsAt(*here, n) ? LeastAtEnd(*here) : largest_[*here];
      least.push_back(again ? std::numeric_limits<int64_t>::max() : shard);
    }
    least.push_back(Always(node.result) ? largest_[node.result] : 0);
    const CutList& cuts = problem_.cuts[tensors_ + n];
    Cells& usage = computing_[std::make_tuple(definitions_[n], cuts, least)];
    if (usage == nullptr) {
      const Domain& domain = *problem_.pairwise.variables[problem_.variable[tensors_ + n]];
      auto bytes = std::make_shared<std::vector<int64_t>>(cuts->size(), 0);
      for (const int value : OrbitRepresentatives(domain)) {
        if (budget_.Spent()) return;
        const int64_t here = Computing(node, (*cuts)[value], least);
        for (const std::vector<int>& image : domain.images) (*bytes)[image[value]] = here;
      }
      usage = std::move(bytes);
    }
    rows_.uses.push_back(
        {problem_.variable[tensors_ + n], 3 * int64_t{n} + 1, 3 * int64_t{n} + 2, usage});
  }

  // What is there while the node computes.
  int64_t Computing(const Node& node, const Cut& cut, const std::vector<int64_t>& least) const {
    const NodeBoxes boxes = AnalyzeNode(*node.definition, cut, mesh_);
    std::vector<int64_t> bytes(least.size(), 0);
    for (int device = 0; device < mesh_.devices(); ++device) {
      for (size_t o = 0; o < least.size(); ++o) {
        const bool operand = o < node.operands.size();
        const Tensor& tensor = graph_.tensors[operand ? node.operands[o] : node.result];
        const Box& box = operand ? boxes.needs[device][o] : boxes.made[device];
        bytes[o] =
            std::max(bytes[o], Slot(CheckedMultiply(Volume(box), ByteSize(tensor.type.type))));
      }
    }
    int64_t sum = 0;
    for (size_t o = 0; o < least.size(); ++o) {
      if (bytes[o] > least[o]) sum = CheckedAdd(sum, bytes[o]);
    }
    return sum;
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const Budget& budget_;
  const Problem& problem_;
  const int tensors_;
  const std::vector<int> definitions_;
  std::vector<int64_t> largest_;  // by tensor: its largest shard
  std::map<std::tuple<CutList, std::vector<int64_t>, ElementType>, Cells> shards_;
  std::map<std::tuple<int, CutList, std::vector<int64_t>>, Cells> computing_;
  MemoryRows rows_;
};

}  // namespace

MemoryRows MemoryRowsOf(const Graph& graph, const Mesh& mesh, const Problem& problem, int64_t limit,
                        const Budget& budget) {
  return RowsBuilder(graph, mesh, problem, budget).Run(limit);
}

}  // namespace yuba
