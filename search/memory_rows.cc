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

  MemoryUsage Run(int64_t limit) {
    for (int t = 0; t < tensors_; ++t) AddTensor(t);
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) AddNode(n);
    rows_.limit = limit;
    return {std::move(rows_), std::move(buffers_)};
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
      Cells& beyond = beyond_[{known, largest_[SourceOf(graph_, id)]}];
      if (beyond == nullptr) beyond = Beyond(known, largest_[SourceOf(graph_, id)]);
      usage = beyond;
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
    const NodeUsage& usage = UsageOf(n, least);
    if (usage.computing == nullptr) return;  // no time
    const int64_t fetch = 3 * int64_t{n};
    rows_.uses.push_back(
        {problem_.variable[tensors_ + n], fetch + 1, fetch + 2, usage.computing});
    for (size_t o = 0; o < least.size(); ++o) {
      if (least[o] == std::numeric_limits<int64_t>::max()) continue;  // read again
      const bool operand = o < node.operands.size();
      const int number = operand ? static_cast<int>(o) : -1;
      buffers_.push_back({n, number, operand ? fetch : fetch + 2, usage.moved[o]});
      buffers_.push_back({n, number, fetch + 1, usage.uncounted[o]});
    }
  }

  // By value of a node: what is there while it computes; by operand, the result last, what it needs
  // or makes, and how much of that is not counted there.
  struct NodeUsage {
    Cells computing;
    std::vector<Cells> moved, uncounted;
  };

  const NodeUsage& UsageOf(int n, const std::vector<int64_t>& least) {
    const CutList& cuts = problem_.cuts[tensors_ + n];
    NodeUsage& known = usages_[std::make_tuple(definitions_[n], cuts, least)];
    if (known.computing != nullptr) return known;
    const Domain& domain = *problem_.pairwise.variables[problem_.variable[tensors_ + n]];
    std::vector<int64_t> computing(cuts->size(), 0);
    std::vector<std::vector<int64_t>> moved(least.size(), computing), uncounted = moved;
    for (const int value : OrbitRepresentatives(domain)) {
      if (budget_.Spent()) return known;
      const std::vector<int64_t> bytes = Held(graph_.nodes[n], (*cuts)[value]);
      for (const std::vector<int>& image : domain.images) {
        for (size_t o = 0; o < least.size(); ++o) {
          moved[o][image[value]] = bytes[o];
          uncounted[o][image[value]] = bytes[o] > least[o] ? 0 : bytes[o];
        }
        computing[image[value]] = 0;
        for (size_t o = 0; o < least.size(); ++o) {
          if (bytes[o] > least[o]) {
            computing[image[value]] = CheckedAdd(computing[image[value]], bytes[o]);
          }
        }
      }
    }
    const auto shared = [](std::vector<int64_t>& cells) {
      return std::make_shared<const std::vector<int64_t>>(std::move(cells));
    };
    for (size_t o = 0; o < least.size(); ++o) {
      known.moved.push_back(shared(moved[o]));
      known.uncounted.push_back(shared(uncounted[o]));
    }
    known.computing = shared(computing);
    return known;
  }

  // What the node needs of each operand on the device that needs most, and makes.
  std::vector<int64_t> Held(const Node& node, const Cut& cut) const {
    const NodeBoxes boxes = AnalyzeNode(*node.definition, cut, mesh_);
    std::vector<int64_t> bytes(node.operands.size() + 1, 0);
    for (int device = 0; device < mesh_.devices(); ++device) {
      for (size_t o = 0; o < bytes.size(); ++o) {
        const bool operand = o < node.operands.size();
        const Tensor& tensor = graph_.tensors[operand ? node.operands[o] : node.result];
        const Box& box = operand ? boxes.needs[device][o] : boxes.made[device];
        bytes[o] =
            std::max(bytes[o], Slot(CheckedMultiply(Volume(box), ByteSize(tensor.type.type))));
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
  std::vector<int64_t> largest_;  // by tensor: its largest shard
  std::map<std::tuple<CutList, std::vector<int64_t>, ElementType>, Cells> shards_;
  std::map<std::pair<Cells, int64_t>, Cells> beyond_;  // by shards and what they may take
  std::map<std::tuple<int, CutList, std::vector<int64_t>>, NodeUsage> usages_;
  MemoryRows rows_;
  std::vector<MemoryBuffer> buffers_;
};

}  // namespace

MemoryRows MemoryRowsOf(const Graph& graph, const Mesh& mesh, const Problem& problem, int64_t limit,
                        const Budget& budget) {
  return MemoryUsageOf(graph, mesh, problem, limit, budget).rows;
}

MemoryUsage MemoryUsageOf(const Graph& graph, const Mesh& mesh, const Problem& problem,
                          int64_t limit, const Budget& budget) {
  return RowsBuilder(graph, mesh, problem, budget).Run(limit);
}

}  // namespace yuba
