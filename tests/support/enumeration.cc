#include "tests/support/enumeration.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "tests/support/marking.h"

namespace yuba {
namespace {

// The prices of one tensor: of its shardings with the partitions of each node that writes or reads
// it, and with the shardings of its copy.
struct TriedTensor {
  struct Use {
    size_t node;
    MarkedTable bytes;  // [partition of the node][sharding of the tensor, or of the copy]
  };
  // Readers that share one copy.
  struct Copy {
    std::vector<Use> uses;
    MarkedTable bytes;  // [sharding][sharding of the copy]
  };
  std::vector<Use> own;
  std::vector<Copy> copies;  // of a carried tensor one of each value at most
  int accumulator = -1;      // the node whose partition says how these partials are cut; else -1
  size_t shardings = 0;
  double plans = 1;  // combinations of its shardings and its copy's

  // The least bytes, where node n has partition choice[n].
  int64_t Least(const std::vector<int64_t>& choice) const {
    if (accumulator >= 0) return Sum(own, choice, choice[accumulator]);
    std::vector<std::vector<int64_t>> reading(copies.size());  // [copy][its sharding]
    for (size_t i = 0; i < copies.size(); ++i) {
      for (size_t c = 0; c < copies[i].bytes[0].size(); ++c)
        reading[i].push_back(Sum(copies[i].uses, choice, c));
    }
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t t = 0; t < shardings; ++t) {
      int64_t bytes = Sum(own, choice, t);
      for (size_t i = 0; i < copies.size(); ++i) {
        int64_t copied = std::numeric_limits<int64_t>::max();
        for (size_t c = 0; c < reading[i].size(); ++c)
          copied = std::min(copied, copies[i].bytes[t][c] + reading[i][c]);
        bytes += copied;
      }
      least = std::min(least, bytes);
    }
    return least;
  }

  static int64_t Sum(const std::vector<Use>& uses, const std::vector<int64_t>& choice,
                     size_t sharding) {
    int64_t sum = 0;
    for (const Use& use : uses) sum += use.bytes[choice[use.node]][sharding];
    return sum;
  }
};

// The next combination; false after the last.
bool Advance(std::vector<int64_t>& choice, const std::vector<int64_t>& counts) {
  for (size_t n = choice.size(); n-- > 0;) {
    if (++choice[n] < counts[n]) return true;
    choice[n] = 0;
  }
  return false;
}

// Those of the choices of an element that the space allows.
std::vector<Sharding> Allowed(const TriedSpace& space, size_t element,
                              std::vector<Sharding> choices) {
  const auto is_not = [&](const Sharding& choice) { return !space.allows(element, choice); };
  if (space.allows) {
    choices.erase(std::remove_if(choices.begin(), choices.end(), is_not), choices.end());
  }
  return choices;
}

// Of each entry those who read the value of a carried tensor with which it began, and those who
// read the next one; of other tensors all readers of an entry are in one of the two lists.
std::vector<std::vector<NodeId>> ReadersOfValues(const Graph& graph, const Tensor& tensor) {
  std::vector<std::vector<NodeId>> readers(2 * graph.entries.size());
  for (const NodeId n : tensor.consumers) {
    const int entry = graph.nodes[n].entry;
    bool next = false;
    for (NodeId writer = 0; writer < n && IsCarried(tensor); ++writer) {
      next = next || (graph.nodes[writer].entry == entry &&
                      &graph.tensors[graph.nodes[writer].result] == &tensor);
    }
    readers[2 * entry + (next ? 1 : 0)].push_back(n);
  }
  return readers;
}

MarkedTable Times(MarkedTable table, int64_t times) {
  for (auto& row : table) {
    for (int64_t& bytes : row) bytes *= times;
  }
  return table;
}

// [partition][sharding]: what a use costs.
MarkedTable CostsOfUse(const TriedSpace& space, const Definition& definition, const Mesh& mesh,
                       int operand, const std::vector<Sharding>& partitions,
                       const std::vector<Sharding>& shardings) {
  if (space.prices == nullptr) return MarkedBytes(definition, mesh, operand, partitions, shardings);
  MarkedTable costs;
  for (const Sharding& partition : partitions) {
    costs.emplace_back();
    for (const Sharding& sharding : shardings) {
      costs.back().push_back(
          space.prices->exchange(MarkedMoved(definition, mesh, operand, partition, sharding)));
    }
  }
  return costs;
}

// [sharding][sharding of the copy].
MarkedTable CostsOfCopy(const TriedSpace& space, const Mesh& mesh, const TensorType& type,
                        const std::vector<Sharding>& shardings,
                        const std::vector<Sharding>& copies) {
  if (space.prices == nullptr) return MarkedCopyBytes(mesh, type, shardings, copies);
  MarkedTable costs;
  for (const Sharding& sharding : shardings) {
    costs.emplace_back();
    for (const Sharding& copy : copies) {
      costs.back().push_back(space.prices->exchange(MarkedCopyMoved(mesh, type, sharding, copy)));
    }
  }
  return costs;
}

TriedTensor Price(const Graph& graph, const Mesh& mesh, const TriedSpace& space, TensorId id,
                  const std::vector<std::vector<Sharding>>& partitions) {
  const Tensor& tensor = graph.tensors[id];
  std::vector<Sharding> shardings =
      Allowed(space, id, TriedChoices(mesh, tensor.type.dims, !space.replicate));
  TriedTensor priced;
  const bool partial = tensor.kind == TensorKind::kPartial;
  if (partial && !IsAccumulator(graph.nodes[tensor.consumers[0]])) {
    shardings = TriedChoices(mesh, tensor.type.dims, /*maximal=*/false);
  } else if (partial) {
    priced.accumulator = tensor.consumers[0];
    shardings = partitions[tensor.consumers[0]];
    for (Sharding& sharding : shardings) sharding.axes.pop_back();  // the last are the groups
    const NodeId producer = tensor.producer;
    priced.own.push_back(
        {static_cast<size_t>(producer), MarkedBytes(*graph.nodes[producer].definition, mesh, -1,
                                                    partitions[producer], shardings)});
    return priced;
  }
  priced.shardings = shardings.size();
  priced.plans = static_cast<double>(shardings.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].result != id) continue;
    priced.own.push_back(
        {n, Times(CostsOfUse(space, *graph.nodes[n].definition, mesh, -1, partitions[n], shardings),
                  graph.entries[graph.nodes[n].entry].times)});
  }
  for (const std::vector<NodeId>& readers : ReadersOfValues(graph, tensor)) {
    if (readers.empty()) continue;
    const int64_t times = graph.entries[graph.nodes[readers[0]].entry].times;
    const bool copied = space.copies && readers.size() > 1;
    std::vector<Sharding> read = shardings;
    if (copied) {
      read = TriedChoices(mesh, tensor.type.dims, /*maximal=*/false);
      priced.copies.push_back(
          {{}, Times(CostsOfCopy(space, mesh, tensor.type, shardings, read), times)});
      priced.plans *= static_cast<double>(read.size());
    }
    std::vector<TriedTensor::Use>& uses = copied ? priced.copies.back().uses : priced.own;
    for (const NodeId n : readers) {
      const Node& node = graph.nodes[n];
      for (size_t o = 0; o < node.operands.size(); ++o) {
        if (node.operands[o] != id) continue;
        uses.push_back(
            {static_cast<size_t>(n), Times(CostsOfUse(space, *node.definition, mesh,
                                                      static_cast<int>(o), partitions[n], read),
                                           times)});
      }
    }
  }
  return priced;
}

}  // namespace

TriedPlans TryAllPlans(const Graph& graph, const Mesh& mesh, const TriedSpace& space,
                       int64_t limit) {
  TriedPlans tried;
  std::vector<std::vector<Sharding>> partitions;
  std::vector<int64_t> choice_counts;
  int64_t combinations = 1;
  for (const Node& node : graph.nodes) {
    std::vector<int64_t> extents;
    for (const Index& index : node.definition->indices) extents.push_back(index.extent);
    partitions.push_back(
        Allowed(space, graph.tensors.size() + partitions.size(), TriedChoices(mesh, extents)));
    choice_counts.push_back(static_cast<int64_t>(partitions.back().size()));
    combinations *= choice_counts.back();
    if (combinations > limit) return tried;
  }
  tried.plans = static_cast<double>(combinations);
  std::vector<TriedTensor> tensors;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    tensors.push_back(Price(graph, mesh, space, static_cast<TensorId>(t), partitions));
    tried.plans *= tensors.back().plans;
  }
  tried.least = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> choice(graph.nodes.size(), 0);
  MarkedTable kernels(graph.nodes.size());  // [node][partition]
  for (size_t n = 0; n < graph.nodes.size() && space.prices != nullptr; ++n) {
    for (const Sharding& partition : partitions[n]) {
      kernels[n].push_back(graph.entries[graph.nodes[n].entry].times *
                           space.prices->kernel(static_cast<NodeId>(n), partition));
    }
  }
  do {
    int64_t bytes = 0;
    for (size_t n = 0; n < choice.size() && space.prices != nullptr; ++n) {
      bytes += kernels[n][choice[n]];
    }
    for (size_t t = 0; t < tensors.size() && bytes < tried.least; ++t) {
      bytes += tensors[t].Least(choice);
    }
    tried.least = std::min(tried.least, bytes);
  } while (Advance(choice, choice_counts));
  return tried;
}

}  // namespace yuba
