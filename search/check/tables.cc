#include "search/check/tables.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "opsemantics/base/status.h"
#include "search/check/alike.h"
#include "search/check/device_boxes.h"
#include "search/check/legal.h"
#include "search/check/pins.h"
#include "search/check/reads.h"
#include "search/plan/go_together.h"
#include "search/plan/kernel_time.h"
#include "search/plan/use_boxes.h"

namespace yuba::search {
namespace {

constexpr size_t kMostCells = size_t{1} << 26;  // of the costs of one use

// The shards of a tensor: box `choice * devices + device`.
BoxSet ShardsOf(const Mesh& mesh, const std::vector<int64_t>& dims,
                const std::vector<Choice>& choices) {
  BoxSet shards(dims.size());
  for (const Choice& choice : choices) {
    for (int device = 0; device < mesh.devices(); ++device) {
      shards.Add(ShardBox(mesh, choice, dims, device));
    }
  }
  return shards;
}

// By choice: elements of the largest box.
std::vector<int64_t> Largest(const BoxSet& boxes, size_t devices) {
  std::vector<int64_t> largest;
  for (size_t first = 0; first < boxes.size(); first += devices) {
    int64_t most = 0;
    for (size_t d = 0; d < devices; ++d) most = std::max(most, boxes.Elements(first + d));
    largest.push_back(most);
  }
  return largest;
}

// What all tensors of equal dimensions and pins share, of which all may be replicated, or none.
struct TensorFacts {
  TensorFacts(const Mesh& mesh, const std::vector<int64_t>& dims, const ChoiceList& list)
      : shards(ShardsOf(mesh, dims, list.choices)),
        largest(std::make_shared<const std::vector<int64_t>>(Largest(shards, mesh.devices()))),
        choices(&list) {
    for (const Choice& choice : list.choices) {
      int64_t parts = 0;
      for (int device = 0; device < mesh.devices(); ++device) {
        first_owners.push_back(GroupNumber(mesh, choice, device) == 0);
        parts += first_owners.back() ? 1 : 0;
      }
      owners.push_back(mesh.devices() / parts);
    }
  }

  const BoxSet shards;
  std::vector<bool> first_owners;  // by shard: whether its device is its first owner
  std::vector<int64_t> owners;     // by choice: how many devices have each element
  std::shared_ptr<const std::vector<int64_t>> largest;
  const ChoiceList* choices;
};

// The elements of the boxes of all devices; with `first_producers`, of one of the devices that
// differ only on axes that the choice does not use: they write the same.
int64_t AllBoxes(const Mesh& mesh, const Choice& choice, const BoxSet& boxes, size_t box,
                 bool first_producers) {
  int64_t elements = 0;
  for (int device = 0; device < mesh.devices(); ++device) {
    if (first_producers && GroupNumber(mesh, choice, device) > 0) continue;
    elements += boxes.Elements(box + device);
  }
  return elements;
}

// The bytes, [node choice][tensor choice], that a node gathers of operand `operand`, or reduces
// (operand -1), in so many runs; kNever or more where no plan has both choices. `boxes` are those
// of its choices `least`; every other choice costs what the least one costs that it can be renamed
// to. Of what arrives devices have some themselves (MovedBytes of reads.h); of a sum of partials
// first owners alone.
std::vector<int64_t> EveryCost(const Mesh& mesh, const Objective& objective,
                               const Definition& definition, bool is_copy, const TensorType& type,
                               const TensorFacts& tensor, const ChoiceList& choices,
                               const BoxSet& boxes, int operand, int64_t times) {
  const bool reduces = operand < 0 && !definition.partial;
  const size_t columns = tensor.choices->choices.size();
  const size_t devices = mesh.devices();
  const CommonElements common(tensor.shards, boxes);
  std::vector<int64_t> cost(choices.choices.size() * columns);
  for (size_t i = 0; i < choices.least.size(); ++i) {
    const Choice& node = choices.choices[choices.least[i]];
    const bool sums = reduces && ReductionParts(mesh, definition, node) > 1;
    const size_t box = i * devices;
    const int64_t held = AllBoxes(mesh, node, boxes, box, reduces);
    NodeBoxes of_devices;
    if (objective.IsTime()) of_devices = AnalyzeNode(definition, node, mesh);
    for (size_t t = 0; t < columns; ++t) {
      const size_t own = t * devices;
      int64_t kept = sums ? 0 : common.Sum(own, box, devices);
      for (size_t d = 0; sums && d < devices; ++d) {
        if (tensor.first_owners[own + d]) kept += common(own + d, box + d);
      }
      int64_t bytes = times * static_cast<int64_t>(MovedBytes(definition, operand, sums, held, kept,
                                                              type, tensor.owners[t]));
      if (objective.IsTime()) {
        bytes = times * objective.Exchange(MovedByUse(definition, operand, mesh,
                                                      tensor.choices->choices[t], of_devices));
      }
      if (!GoTogether(definition, operand, is_copy, node, tensor.choices->choices[t])) {
        bytes = std::max(bytes, kNever);
      }
      for (size_t g = 0; g < choices.renamed->size(); ++g) {
        cost[(*choices.renamed)[g][choices.least[i]] * columns + (*tensor.choices->renamed)[g][t]] =
            bytes;
      }
    }
  }
  return cost;
}

// Whether axes of its choices may be left out at will.
bool MayReplicate(const Tensor& tensor, const Space& space) {
  return IsTransient(tensor) || space.replicate == Replicate::kAuto;
}

class TableMaker {
 public:
  TableMaker(const Graph& graph, const Mesh& mesh, const Space& space, const PinsOfElements& pins)
      : graph_(graph),
        mesh_(mesh),
        space_(space),
        pins_(pins),
        lists_(mesh, space.nesting == Nesting::kLevel, ClassesUnder(mesh, pins)) {}

  absl::StatusOr<CostTables> Make(const Stop& stop) {
    for (size_t t = 0; t < graph_.tensors.size(); ++t) YUBA_RETURN_IF_ERROR(AddTensor(t));
    std::vector<size_t> alike = FirstAlike(graph_, pins_);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      YUBA_RETURN_IF_ERROR(GoOn(stop));
      first_use_.push_back(tables_.uses.size());
      if (alike[n] == n) {
        YUBA_RETURN_IF_ERROR(AddNode(n));
      } else {
        AddAlike(graph_.nodes[n], alike[n]);
      }
    }
    return std::move(tables_);
  }

 private:
  // What decides which choices an element has: equal ones have one list.
  struct Extents {
    std::vector<int64_t> sizes;
    bool partial = false;
    Demands demands;
    bool operator<(const Extents& other) const {
      return std::tie(sizes, partial, demands) <
             std::tie(other.sizes, other.partial, other.demands);
    }
  };

  Extents ExtentsOfTensor(size_t id) const {
    const Tensor& tensor = graph_.tensors[id];
    return {tensor.type.dims, MayReplicate(tensor, space_), pins_[id]};
  }

  Extents ExtentsOfNode(size_t id) const {
    const Node& node = graph_.nodes[id];
    Extents extents = {std::vector<int64_t>(node.definition->indices.size(), 1),
                       IsCopy(graph_, node), pins_[graph_.tensors.size() + id]};
    for (int index : CuttableIndices(*node.definition)) {
      extents.sizes[index] = node.definition->indices[index].extent;
    }
    return extents;
  }

  absl::StatusOr<const ChoiceList*> ChoicesOf(const std::string& name, const Extents& extents) {
    const auto some = some_.find(extents);
    if (some != some_.end()) return &some->second;
    YUBA_ASSIGN_OR_RETURN(const ChoiceList* all, lists_.Of(name, extents.sizes, extents.partial));
    if (extents.demands.empty()) return all;
    std::vector<bool> marked;
    for (const Choice& choice : all->choices) marked.push_back(Meets(choice, extents.demands));
    if (std::count(marked.begin(), marked.end(), true) == 0) {
      return ProofError("the proof leaves ", name, " no choice that meets its pin");
    }
    return &some_.emplace(extents, MarkedOf(*all, marked)).first->second;
  }

  void AddElement(const ChoiceList& choices) {
    tables_.sizes.push_back(static_cast<int>(choices.choices.size()));
    tables_.listed.push_back(choices.listed);
    tables_.renamed.push_back(choices.renamed);
  }

  absl::Status AddTensor(size_t id) {
    const Tensor& tensor = graph_.tensors[id];
    const Extents extents = ExtentsOfTensor(id);
    YUBA_ASSIGN_OR_RETURN(const ChoiceList* choices, ChoicesOf(tensor.name, extents));
    auto found = facts_.find(extents);
    if (found == facts_.end()) {
      found = facts_.emplace(extents, TensorFacts(mesh_, tensor.type.dims, *choices)).first;
    }
    tensors_.push_back(&found->second);
    tables_.shards.push_back(found->second.largest);
    AddElement(*choices);
    return absl::OkStatus();
  }

  absl::Status AddNode(size_t id) {
    const Node& node = graph_.nodes[id];
    const Definition& definition = *node.definition;
    YUBA_ASSIGN_OR_RETURN(const ChoiceList* choices, ChoicesOf(node.name, ExtentsOfNode(id)));
    AddElement(*choices);
    if (space_.objective.IsTime()) tables_.kernels.push_back(KernelTimes(id, *choices));
    tables_.boxes.emplace_back(node.operands.size() + 1);
    for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
      const TensorId tensor = o < 0 ? node.result : node.operands[o];
      const TensorType& type = graph_.tensors[tensor].type;
      if (choices->choices.size() > kMostCells / tensors_[tensor]->choices->choices.size()) {
        return ProofError("the proof is too large to replay: ", node.name, " has too many costs");
      }
      const BoxSet boxes = BoxesUnder(mesh_, definition, o, choices->choices, choices->least);
      tables_.boxes.back()[o < 0 ? node.operands.size() : o] = LargestBoxes(*choices, boxes);
      AddUse(tensor,
             std::make_shared<const std::vector<int64_t>>(EveryCost(
                 mesh_, space_.objective, definition, IsCopy(graph_, node), type, *tensors_[tensor],
                 *choices, boxes, o, TimesOf(graph_, static_cast<NodeId>(id)))));
    }
    return absl::OkStatus();
  }

  // Adds a node that has the choices and the costs of node `first`.
  void AddAlike(const Node& node, size_t first) {
    const size_t element = graph_.tensors.size() + first;
    if (space_.objective.IsTime()) tables_.kernels.push_back(tables_.kernels[first]);
    tables_.boxes.push_back(tables_.boxes[first]);
    tables_.sizes.push_back(tables_.sizes[element]);
    tables_.renamed.push_back(tables_.renamed[element]);
    tables_.listed.push_back(tables_.listed[element]);
    for (size_t o = 0; o <= node.operands.size(); ++o) {
      AddUse(o == 0 ? node.result : node.operands[o - 1], tables_.uses[first_use_[first] + o].cost);
    }
  }

  // By choice: what the node's kernel costs.
  std::shared_ptr<const std::vector<int64_t>> KernelTimes(size_t id,
                                                          const ChoiceList& choices) const {
    const auto n = static_cast<NodeId>(id);
    std::map<Grid, int64_t> known;
    std::vector<int64_t> times;
    for (const Choice& choice : choices.choices) {
      const auto [place, is_new] = known.emplace(GridOf(choice, mesh_), 0);
      if (is_new) {
        place->second = TimesOf(graph_, n) * KernelTime(graph_, n, place->first, space_.objective);
      }
      times.push_back(place->second);
    }
    return std::make_shared<const std::vector<int64_t>>(std::move(times));
  }

  void AddUse(TensorId tensor, std::shared_ptr<const std::vector<int64_t>> cost) {
    const int node = static_cast<int>(graph_.tensors.size() + first_use_.size()) - 1;
    tables_.uses.push_back({node, tensor, std::move(cost)});
  }

  // By choice of a node: the elements of the largest box on any device.
  std::shared_ptr<const std::vector<int64_t>> LargestBoxes(const ChoiceList& choices,
                                                           const BoxSet& boxes) const {
    const std::vector<int64_t> of_least = Largest(boxes, mesh_.devices());
    std::vector<int64_t> largest(choices.choices.size());
    for (size_t i = 0; i < choices.least.size(); ++i) {
      for (const std::vector<int>& renamed : *choices.renamed) {
        largest[renamed[choices.least[i]]] = of_least[i];
      }
    }
    return std::make_shared<const std::vector<int64_t>>(std::move(largest));
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const Space& space_;
  const PinsOfElements& pins_;
  ChoiceLists lists_;
  std::map<Extents, ChoiceList> some_;  // where pins demand something
  std::map<Extents, TensorFacts> facts_;
  std::vector<const TensorFacts*> tensors_;  // by id
  std::vector<size_t> first_use_;            // by node
  CostTables tables_;
};

}  // namespace

absl::StatusOr<CostTables> MakeCostTables(const Graph& graph, const Mesh& mesh, const Space& space,
                                          const Stop& stop) {
  YUBA_ASSIGN_OR_RETURN(const PinsOfElements pins, PinsOf(graph, mesh, space));
  return TableMaker(graph, mesh, space, pins).Make(stop);
}

}  // namespace yuba::search
