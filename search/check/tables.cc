#include "search/check/tables.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check/device_boxes.h"
#include "search/check/legal.h"
#include "search/check/reads.h"
#include "search/check/relaxed.h"
#include "search/plan/sharding_space.h"

namespace yuba::search {
namespace {

constexpr size_t kMostCells = size_t{1} << 26;  // of the costs of one use

// What a tensor's cuts give each device, or a node's cuts need of a tensor or make of it: box `cut
// * devices + device`.
BoxSet ShardsOf(const Mesh& mesh, const std::vector<int64_t>& dims, const std::vector<Cut>& cuts) {
  BoxSet shards(dims.size());
  for (const Cut& cut : cuts) {
    for (int device = 0; device < mesh.devices(); ++device) {
      shards.Add(ShardBox(mesh, cut, dims, device));
    }
  }
  return shards;
}

// By cut: elements of the largest box.
std::vector<int64_t> Largest(const BoxSet& boxes, size_t devices) {
  std::vector<int64_t> largest;
  for (size_t first = 0; first < boxes.size(); first += devices) {
    int64_t most = 0;
    for (size_t d = 0; d < devices; ++d) most = std::max(most, boxes.Elements(first + d));
    largest.push_back(most);
  }
  return largest;
}

// What is known of all tensors of equal dimensions that may be replicated, or may not.
struct TensorFacts {
  explicit TensorFacts(BoxSet boxes) : shards(std::move(boxes)) {}

  BoxSet shards;
  std::vector<bool> homes;  // by shard: its device is the first of those that own this
  std::shared_ptr<const std::vector<int64_t>> largest;
  const CutList* cuts = nullptr;
};

TensorFacts FactsOf(const Mesh& mesh, const std::vector<int64_t>& dims, const CutList& cuts) {
  TensorFacts facts(ShardsOf(mesh, dims, cuts.cuts));
  const size_t devices = mesh.devices();
  for (size_t shard = 0; shard < facts.shards.size(); ++shard) {
    bool home = true;
    for (size_t other = shard - shard % devices; other < shard && home; ++other) {
      home = !facts.shards.Equal(shard, other);
    }
    facts.homes.push_back(home);
  }
  facts.largest = std::make_shared<const std::vector<int64_t>>(Largest(facts.shards, devices));
  facts.cuts = &cuts;
  return facts;
}

// What the cuts of a node move of one of its tensors: `boxes` are what they need or make of it.
class UseCosts {
 public:
  UseCosts(const TensorFacts& tensor, const BoxSet& boxes, size_t devices)
      : tensor_(tensor), boxes_(boxes), devices_(devices), common_(tensor.shards, boxes) {}

  // Elements that reach devices that need them and do not have them.
  int64_t Fetched(size_t node, size_t cut) const {
    const size_t need = node * devices_, own = cut * devices_;
    return boxes_.Elements(need, devices_) - common_.Sum(own, need, devices_);
  }

  // Each home takes each part of each of its elements that it has not made; with one part every
  // owner is a home, with more the owners that are none copy from one. `makers` are the first of
  // each box; `all`: each part is made everywhere.
  int64_t Delivered(size_t node, size_t cut, int parts, const std::vector<size_t>& makers,
                    bool all) const {
    int64_t moved = 0;
    for (size_t d = 0; d < devices_; ++d) {
      const size_t own = cut * devices_ + d;
      if (parts > 1 && !tensor_.homes[own]) {
        moved += tensor_.shards.Elements(own);
        continue;
      }
      if (all) {
        moved += parts * tensor_.shards.Elements(own);
      } else {
        for (size_t maker : makers) moved += common_(own, maker);
      }
      moved -= common_(own, node * devices_ + d);
    }
    return moved;
  }

  // An addend is fetched within its groups, which are those of its reader or the plan is none.
  int64_t FetchedAddend(size_t node, size_t cut, const Cut& reader) const {
    return KeepsGroups(tensor_.cuts->cuts[cut], reader) ? Fetched(node, cut) : -1;
  }

  // Into an addend each device's box moves where it is not at home already. An accumulator would
  // have to fetch its addend again where that is cut in another way: each element that devices
  // hold.
  int64_t MovedAddends(size_t node, size_t cut, bool makes) const {
    const size_t box = node * devices_, own = cut * devices_;
    const int64_t all =
        makes ? boxes_.Elements(box, devices_) : tensor_.shards.Elements(own, devices_);
    return all - common_.Sum(own, box, devices_);
  }

 private:
  const TensorFacts& tensor_;
  const BoxSet& boxes_;
  const size_t devices_;
  const CommonElements common_;
};

// The boxes that are made first, of those from `box` on, one for each device: that of the first
// device of all that differ only on axes that the cut does not use.
std::vector<size_t> FirstMakers(const Mesh& mesh, const Cut& cut, size_t box) {
  std::vector<size_t> makers;
  for (int device = 0; device < mesh.devices(); ++device) {
    if (GroupNumber(mesh, cut, device) == 0) makers.push_back(box + device);
  }
  return makers;
}

// What a node fetches of operand `operand`, or delivers (operand -1). `boxes` are those of its
// least cuts; the others cost what those cost that they are renamed to.
std::vector<int64_t> EveryCost(const Mesh& mesh, const Definition& definition,
                               const TensorType& type, const TensorFacts& tensor,
                               const CutList& cuts, const BoxSet& boxes, int operand) {
  const bool reads_addend = operand >= 0 && ReadsAddend(definition, operand);
  const bool moves_all = operand < 0 ? definition.addend : IsSumOfAddends(definition);
  const size_t columns = tensor.cuts->cuts.size();
  const size_t devices = mesh.devices();
  const UseCosts costs(tensor, boxes, devices);
  std::vector<int64_t> cost(cuts.cuts.size() * columns);
  for (size_t i = 0; i < cuts.least.size(); ++i) {
    const Cut& node = cuts.cuts[cuts.least[i]];
    const int parts = ReductionParts(mesh, definition, node);
    std::vector<size_t> makers;
    if (operand < 0) makers = FirstMakers(mesh, node, i * devices);
    int64_t made = 0;
    for (const size_t maker : makers) made += boxes.Elements(maker);
    const bool all = made == parts * ElementCount(type);
    ElementType moved = operand < 0 && parts > 1 ? AccumulatorType(type.type) : type.type;
    for (size_t t = 0; t < columns; ++t) {
      const int64_t elements = moves_all      ? costs.MovedAddends(i, t, operand < 0)
                               : operand < 0  ? costs.Delivered(i, t, parts, makers, all)
                               : reads_addend ? costs.FetchedAddend(i, t, node)
                                              : costs.Fetched(i, t);
      const int64_t bytes = elements < 0 ? kNever : elements * ByteSize(moved);
      for (size_t g = 0; g < cuts.renamed->size(); ++g) {
        cost[(*cuts.renamed)[g][cuts.least[i]] * columns + (*tensor.cuts->renamed)[g][t]] = bytes;
      }
    }
  }
  return cost;
}

// Whether axes of its cuts may be left out at will.
bool MayReplicate(const Tensor& tensor, const Space& space) {
  return IsTransient(tensor) || space.replicate == "auto";
}

class TableMaker {
 public:
  TableMaker(const Graph& graph, const Mesh& mesh, const Space& space, const GridsToKeep* keep)
      : graph_(graph),
        mesh_(mesh),
        space_(space),
        keep_(keep),
        lists_(mesh, space.nesting == "level") {}

  absl::StatusOr<CostTables> Make() {
    if (keep_ != nullptr) YUBA_RETURN_IF_ERROR(DropGrids());
    for (const Tensor& tensor : graph_.tensors) YUBA_RETURN_IF_ERROR(AddTensor(tensor));
    std::vector<size_t> alike = FirstAlike(graph_);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      first_use_.push_back(tables_.uses.size());
      if (alike[n] == n) {
        YUBA_RETURN_IF_ERROR(AddNode(graph_.nodes[n]));
      } else {
        AddAlike(graph_.nodes[n], alike[n]);
      }
    }
    return std::move(tables_);
  }

 private:
  // What may be cut of an element: elements of equal ones have equal cuts.
  struct Extents {
    std::vector<int64_t> sizes;
    bool partial = false;
    bool operator<(const Extents& other) const {
      return std::tie(sizes, partial) < std::tie(other.sizes, other.partial);
    }
  };

  Extents ExtentsOf(const Tensor& tensor) const {
    return {tensor.type.dims, MayReplicate(tensor, space_)};
  }

  Extents ExtentsOf(const Node& node) const {
    Extents extents = {std::vector<int64_t>(node.definition->indices.size(), 1),
                       IsCopy(graph_, node)};
    for (int index : CuttableIndices(*node.definition)) {
      extents.sizes[index] = node.definition->indices[index].extent;
    }
    return extents;
  }

  absl::StatusOr<const CutList*> CutsOf(const std::string& name, const Extents& extents) {
    const auto kept = kept_.find(extents);
    if (kept != kept_.end()) return &kept->second;
    return lists_.Of(name, extents.sizes, extents.partial);
  }

  absl::Status DropGrids() {
    std::map<Extents, std::vector<bool>> keep;
    std::map<Extents, std::string> name;
    size_t element = 0;
    const auto add = [&](const Extents& extents, const std::string& of) {
      const std::vector<bool>& here = (*keep_)[element++];
      std::vector<bool>& grids = keep[extents];
      grids.resize(here.size());
      for (size_t g = 0; g < here.size(); ++g) grids[g] = grids[g] || here[g];
      name.emplace(extents, of);
    };
    for (const Tensor& tensor : graph_.tensors) add(ExtentsOf(tensor), tensor.name);
    for (const Node& node : graph_.nodes) add(ExtentsOf(node), node.name);
    for (const auto& [extents, grids] : keep) {
      YUBA_ASSIGN_OR_RETURN(const CutList* all, CutsOf(name[extents], extents));
      kept_.emplace(extents, Kept(*all, grids));
    }
    return absl::OkStatus();
  }

  void AddElement(const CutList& cuts) {
    tables_.sizes.push_back(static_cast<int>(cuts.cuts.size()));
    tables_.grids.push_back(cuts.grids);
    tables_.listed.push_back(cuts.listed);
    tables_.renamed.push_back(cuts.renamed);
  }

  absl::Status AddTensor(const Tensor& tensor) {
    const bool replicate = MayReplicate(tensor, space_);
    YUBA_ASSIGN_OR_RETURN(const CutList* cuts, CutsOf(tensor.name, ExtentsOf(tensor)));
    auto found = facts_.find({tensor.type.dims, replicate});
    if (found == facts_.end()) {
      found = facts_
                  .emplace(std::pair(tensor.type.dims, replicate),
                           FactsOf(mesh_, tensor.type.dims, *cuts))
                  .first;
    }
    tensors_.push_back(&found->second);
    tables_.shards.push_back(found->second.largest);
    AddElement(*cuts);
    return absl::OkStatus();
  }

  absl::Status AddNode(const Node& node) {
    const Definition& definition = *node.definition;
    YUBA_ASSIGN_OR_RETURN(const CutList* cuts, CutsOf(node.name, ExtentsOf(node)));
    AddElement(*cuts);
    tables_.boxes.emplace_back(node.operands.size() + 1);
    for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
      const TensorId tensor = o < 0 ? node.result : node.operands[o];
      const TensorType& type = graph_.tensors[tensor].type;
      if (cuts->cuts.size() > kMostCells / tensors_[tensor]->cuts->cuts.size()) {
        return absl::FailedPreconditionError(
            absl::StrCat("the proof is too large to replay: ", node.name, " has too many costs"));
      }
      const BoxSet boxes = BoxesUnder(mesh_, definition, o, cuts->cuts, cuts->least);
      tables_.boxes.back()[o < 0 ? node.operands.size() : o] = LargestBoxes(*cuts, boxes);
      AddUse(tensor, std::make_shared<const std::vector<int64_t>>(
                         EveryCost(mesh_, definition, type, *tensors_[tensor], *cuts, boxes, o)));
    }
    return absl::OkStatus();
  }

  // A node with the cuts and the costs of node `first`.
  void AddAlike(const Node& node, size_t first) {
    const size_t element = graph_.tensors.size() + first;
    tables_.boxes.push_back(tables_.boxes[first]);
    tables_.sizes.push_back(tables_.sizes[element]);
    tables_.renamed.push_back(tables_.renamed[element]);
    tables_.grids.push_back(tables_.grids[element]);
    tables_.listed.push_back(tables_.listed[element]);
    for (size_t o = 0; o <= node.operands.size(); ++o) {
      AddUse(o == 0 ? node.result : node.operands[o - 1], tables_.uses[first_use_[first] + o].cost);
    }
  }

  void AddUse(TensorId tensor, std::shared_ptr<const std::vector<int64_t>> cost) {
    const int node = static_cast<int>(graph_.tensors.size() + first_use_.size()) - 1;
    tables_.uses.push_back({node, tensor, std::move(cost)});
  }

  // By cut of a node: elements of the largest of its boxes.
  std::shared_ptr<const std::vector<int64_t>> LargestBoxes(const CutList& cuts,
                                                           const BoxSet& boxes) const {
    const std::vector<int64_t> of_least = Largest(boxes, mesh_.devices());
    std::vector<int64_t> largest(cuts.cuts.size());
    for (size_t i = 0; i < cuts.least.size(); ++i) {
      for (const std::vector<int>& renamed : *cuts.renamed) {
        largest[renamed[cuts.least[i]]] = of_least[i];
      }
    }
    return std::make_shared<const std::vector<int64_t>>(std::move(largest));
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const Space& space_;
  const GridsToKeep* keep_;
  CutLists lists_;
  std::map<Extents, CutList> kept_;  // where grids are dropped
  std::map<std::pair<std::vector<int64_t>, bool>, TensorFacts> facts_;
  std::vector<const TensorFacts*> tensors_;  // by id
  std::vector<size_t> first_use_;            // by node
  CostTables tables_;
};

}  // namespace

absl::StatusOr<CostTables> MakeCostTables(const Graph& graph, const Mesh& mesh, const Space& space,
                                          const GridsToKeep* keep) {
  return TableMaker(graph, mesh, space, keep).Make();
}

}  // namespace yuba::search
