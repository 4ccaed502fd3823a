#include "search/check_tables.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check_relaxed.h"

namespace yuba {
namespace {

constexpr int64_t kMostCuts = int64_t{1} << 14;  // of one tensor or node

struct CutLister {
  const Mesh& mesh;
  const std::vector<int64_t>& extents;
  const std::vector<bool>& whole;
  const bool level;
  const bool copy;  // axes may be left out
  std::vector<Cut> found;

  int64_t Parts(const AxisList& list) const { return PartCount(mesh, list); }

  bool Full(const Cut& cut, const std::vector<int>& unused) const {
    for (int axis : unused) {
      for (size_t e = 0; e < extents.size(); ++e) {
        if (!whole[e] && Parts(cut.axes[e]) * mesh.axes[axis].size <= extents[e]) return false;
      }
    }
    return true;
  }

  // Gives axis `axis` and those after it to some extent each, or to none.
  void Assign(size_t axis, const Cut& cut, const std::vector<int>& unused) {
    if (axis == mesh.axes.size()) {
      if (copy || Full(cut, unused)) Permute(0, cut);
      return;
    }
    for (size_t e = 0; e < extents.size(); ++e) {
      Cut next = cut;
      next.axes[e].push_back(static_cast<uint8_t>(axis));
      if (!whole[e] && Parts(next.axes[e]) <= extents[e]) Assign(axis + 1, next, unused);
    }
    std::vector<int> more = unused;
    more.push_back(static_cast<int>(axis));
    Assign(axis + 1, cut, more);
  }

  // All orders of the axes of extent `e` and those after it.
  void Permute(size_t e, Cut cut) {
    if (e == extents.size()) {
      found.push_back(cut);
      return;
    }
    do {
      Permute(e + 1, cut);
    } while (!level && std::next_permutation(cut.axes[e].begin(), cut.axes[e].end()));
  }
};

int64_t Common(const Box& a, const Box& b) {
  int64_t volume = 1;
  for (size_t d = 0; d < a.size(); ++d) {
    int64_t size = std::min(a[d].end, b[d].end) - std::max(a[d].begin, b[d].begin);
    if (size <= 0) return 0;
    volume *= size;
  }
  return volume;
}

// Elements that reach devices that need them and do not have them.
int64_t Fetched(const std::vector<Box>& have, const NodeBoxes& node, int operand) {
  int64_t moved = 0;
  for (size_t device = 0; device < have.size(); ++device) {
    const Box& need = node.needs[device][operand];
    moved += Volume(need) - Common(need, have[device]);
  }
  return moved;
}

// Each home takes each part of each of its elements that it has not made; with one part every owner
// is a home, with more the owners that are none copy from one. `all`: each part is made everywhere.
int64_t Delivered(const std::vector<Box>& own, const std::vector<bool>& home, const NodeBoxes& node,
                  bool all) {
  int64_t moved = 0;
  for (size_t device = 0; device < own.size(); ++device) {
    if (node.parts > 1 && !home[device]) {
      moved += Volume(own[device]);
      continue;
    }
    if (all) {
      moved += node.parts * Volume(own[device]);
    } else {
      for (size_t maker = 0; maker < own.size(); ++maker) {
        if (node.first[maker]) moved += Common(own[device], node.made[maker]);
      }
    }
    moved -= Common(own[device], node.made[device]);
  }
  return moved;
}

// Into an addend each device's box moves where it is not at home already. An accumulator would have
// to fetch its addend again where that is cut in another way: each element that devices hold.
int64_t MovedAddends(const std::vector<Box>& own, const NodeBoxes& node, int operand) {
  int64_t moved = 0;
  for (size_t device = 0; device < own.size(); ++device) {
    const Box& box = operand < 0 ? node.made[device] : node.needs[device][operand];
    moved += Volume(operand < 0 ? box : own[device]) - Common(box, own[device]);
  }
  return moved;
}

std::vector<Cut> EveryCut(const Mesh& mesh, const std::vector<int64_t>& extents,
                          const std::vector<bool>& whole, bool level, bool copy) {
  CutLister lister{mesh, extents, whole, level, copy, {}};
  Cut none;
  none.axes.resize(extents.size());
  lister.Assign(0, none, {});
  return std::move(lister.found);
}

std::vector<Cut> EveryNodeCut(const Mesh& mesh, const Definition& definition, bool level,
                              bool copy) {
  std::vector<int64_t> extents;
  for (const Index& index : definition.indices) extents.push_back(index.extent);
  std::vector<bool> whole(extents.size(), true);
  for (int index : CuttableIndices(definition)) whole[index] = false;
  return EveryCut(mesh, extents, whole, level, copy);
}

// What a tensor's cuts give each device, and who of equal owners is the home.
struct Storage {
  std::vector<std::vector<Box>> shards;  // [cut][device]
  std::vector<std::vector<bool>> homes;
};

Storage StorageOf(const Mesh& mesh, const std::vector<int64_t>& dims, const std::vector<Cut>& cuts) {
  Storage storage;
  for (const Cut& cut : cuts) {
    std::vector<Box> shards;
    std::vector<bool> homes;
    for (int device = 0; device < mesh.devices(); ++device) {
      Box shard = ShardBox(mesh, cut, dims, device);
      homes.push_back(std::find(shards.begin(), shards.end(), shard) == shards.end());
      shards.push_back(shard);
    }
    storage.shards.push_back(std::move(shards));
    storage.homes.push_back(std::move(homes));
  }
  return storage;
}

std::shared_ptr<const std::vector<int>> GridsOf(const Mesh& mesh, const std::vector<Cut>& cuts) {
  std::vector<std::vector<int>> parts;
  for (const Cut& cut : cuts) {
    parts.emplace_back();
    for (const AxisList& axes : cut.axes) parts.back().push_back(PartCount(mesh, axes));
  }
  std::vector<std::vector<int>> grids = parts;
  std::sort(grids.begin(), grids.end());
  grids.erase(std::unique(grids.begin(), grids.end()), grids.end());
  std::vector<int> numbers;
  for (const std::vector<int>& grid : parts) {
    auto place = std::lower_bound(grids.begin(), grids.end(), grid);
    numbers.push_back(static_cast<int>(place - grids.begin()));
  }
  return std::make_shared<const std::vector<int>>(std::move(numbers));
}

using Renamed = std::vector<std::vector<int>>;

// All ways to permute axes of equal size; with `level` the order of the axes counts and none may move.
std::vector<std::vector<uint8_t>> AxisRenamings(const Mesh& mesh, bool level) {
  std::vector<uint8_t> axes(mesh.axes.size());
  for (size_t axis = 0; axis < axes.size(); ++axis) axes[axis] = static_cast<uint8_t>(axis);
  std::vector<std::vector<uint8_t>> renamings;
  do {
    bool equal = true;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      equal = equal && mesh.axes[axes[axis]].size == mesh.axes[axis].size;
    }
    if (equal) renamings.push_back(axes);
  } while (!level && axes.size() <= 6 && std::next_permutation(axes.begin(), axes.end()));
  return renamings;
}

std::shared_ptr<const Renamed> RenamedCuts(const std::vector<Cut>& cuts,
                                           const std::vector<std::vector<uint8_t>>& renamings) {
  std::map<std::vector<AxisList>, int> numbers;
  for (size_t i = 0; i < cuts.size(); ++i) numbers[cuts[i].axes] = static_cast<int>(i);
  Renamed renamed;
  for (const std::vector<uint8_t>& renaming : renamings) {
    renamed.emplace_back();
    for (Cut cut : cuts) {
      for (AxisList& list : cut.axes) {
        for (uint8_t& axis : list) axis = renaming[axis];
      }
      renamed.back().push_back(numbers.at(cut.axes));
    }
  }
  return std::make_shared<const Renamed>(std::move(renamed));
}

// The cuts that are the least of all that they can be renamed to.
std::vector<int> LeastOfRenamed(const Renamed& renamed) {
  std::vector<int> least;
  for (int cut = 0; cut < static_cast<int>(renamed[0].size()); ++cut) {
    bool is_least = true;
    for (const std::vector<int>& to : renamed) is_least = is_least && cut <= to[cut];
    if (is_least) least.push_back(cut);
  }
  return least;
}

// What a node fetches of operand `operand`, or delivers (operand -1). `boxes` are those of the cuts in
// `least`; the others cost what those cost that they are renamed to.
std::vector<int64_t> EveryCost(Accumulation accumulation, const TensorType& type,
                               const Storage& storage, const std::vector<int>& least,
                               const std::vector<NodeBoxes>& boxes, int operand,
                               const Renamed& node_cuts, const Renamed& tensor_cuts) {
  const bool addend = accumulation == (operand < 0 ? Accumulation::kAddend : Accumulation::kSum);
  const size_t columns = storage.shards.size();
  std::vector<int64_t> cost(node_cuts[0].size() * columns);
  for (size_t i = 0; i < least.size(); ++i) {
    const NodeBoxes& node = boxes[i];
    int64_t made = 0;
    for (size_t device = 0; device < node.made.size(); ++device) {
      if (node.first[device]) made += Volume(node.made[device]);
    }
    bool all = made == node.parts * ElementCount(type);
    ElementType moved = operand < 0 && node.parts > 1 ? AccumulatorType(type.type) : type.type;
    for (size_t t = 0; t < columns; ++t) {
      int64_t elements = addend        ? MovedAddends(storage.shards[t], node, operand)
                         : operand < 0 ? Delivered(storage.shards[t], storage.homes[t], node, all)
                                       : Fetched(storage.shards[t], node, operand);
      for (size_t g = 0; g < node_cuts.size(); ++g) {
        cost[node_cuts[g][least[i]] * columns + tensor_cuts[g][t]] = elements * ByteSize(moved);
      }
    }
  }
  return cost;
}

// Each axis takes a place in one of the lists, or of a copy in none: at most so many cuts.
absl::Status CheckCount(const std::string& name, const Mesh& mesh, size_t extents, bool copy) {
  int64_t count = 1;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    count *= static_cast<int64_t>(std::max<size_t>(extents, 1) + axis + (copy ? 1 : 0));
    if (count <= kMostCuts) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the proof is too large to replay: ", name, " has too many cuts"));
  }
  return absl::OkStatus();
}

// Whether axes of its cuts may be left out at will.
bool MayReplicate(const Tensor& tensor, const Space& space) {
  return IsTransient(tensor) || space.replicate == "auto";
}

absl::Status CheckCounts(const Graph& graph, const Mesh& mesh, const Space& space) {
  for (const Tensor& tensor : graph.tensors) {
    YUBA_RETURN_IF_ERROR(CheckCount(tensor.name, mesh, tensor.type.dims.size(),
                                    MayReplicate(tensor, space)));
  }
  for (const Node& node : graph.nodes) {
    YUBA_RETURN_IF_ERROR(CheckCount(node.name, mesh, CuttableIndices(*node.definition).size(),
                                    IsCopy(graph, node)));
  }
  return absl::OkStatus();
}

// What is known of all tensors of equal dimensions that may be replicated, or may not.
struct TensorFacts {
  Storage storage;
  std::shared_ptr<const std::vector<int64_t>> largest;  // by cut: elements of the largest shard
  std::shared_ptr<const Renamed> renamed;
  std::shared_ptr<const std::vector<int>> grids;
};
using FactsByDims = std::map<std::pair<std::vector<int64_t>, bool>, TensorFacts>;

std::shared_ptr<const std::vector<int64_t>> Largest(const std::vector<std::vector<Box>>& shards) {
  std::vector<int64_t> largest;
  for (const std::vector<Box>& boxes : shards) {
    largest.push_back(0);
    for (const Box& box : boxes) largest.back() = std::max(largest.back(), Volume(box));
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(largest));
}

const TensorFacts& FactsOf(const Mesh& mesh, const Tensor& tensor, const Space& space,
                           const std::vector<std::vector<uint8_t>>& renamings, FactsByDims* known) {
  const std::vector<int64_t>& dims = tensor.type.dims;
  const bool replicate = MayReplicate(tensor, space);
  TensorFacts& facts = (*known)[{dims, replicate}];
  if (facts.grids == nullptr) {
    std::vector<Cut> cuts = EveryCut(mesh, dims, std::vector<bool>(dims.size(), false),
                                     space.nesting == "level", replicate);
    facts.storage = StorageOf(mesh, dims, cuts);
    facts.largest = Largest(facts.storage.shards);
    facts.renamed = RenamedCuts(cuts, renamings);
    facts.grids = GridsOf(mesh, cuts);
  }
  return facts;
}

// What the cuts of a node need of operand `operand`, or make (operand -1), as in EveryCost.
std::shared_ptr<const std::vector<int64_t>> LargestBoxes(const std::vector<int>& least,
                                                         const std::vector<NodeBoxes>& boxes, int operand,
                                                         const Renamed& node_cuts) {
  std::vector<int64_t> largest(node_cuts[0].size(), 0);
  for (size_t i = 0; i < least.size(); ++i) {
    int64_t most = 0;
    for (size_t device = 0; device < boxes[i].made.size(); ++device) {
      most = std::max(most, Volume(operand < 0 ? boxes[i].made[device] : boxes[i].needs[device][operand]));
    }
    for (const std::vector<int>& renamed : node_cuts) largest[renamed[least[i]]] = most;
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(largest));
}

}  // namespace

absl::StatusOr<CostTables> MakeCostTables(const Graph& graph, const Mesh& mesh, const Space& space) {
  YUBA_RETURN_IF_ERROR(CheckCounts(graph, mesh, space));
  const bool level = space.nesting == "level";
  CostTables tables;
  const std::vector<std::vector<uint8_t>> renamings = AxisRenamings(mesh, level);
  FactsByDims known;
  for (const Tensor& tensor : graph.tensors) {
    const TensorFacts& facts = FactsOf(mesh, tensor, space, renamings, &known);
    tables.shards.push_back(facts.largest);
    tables.sizes.push_back(static_cast<int>(facts.storage.shards.size()));
    tables.grids.push_back(facts.grids);
    tables.renamed.push_back(facts.renamed);
  }
  const size_t tensors = graph.tensors.size();
  std::vector<size_t> alike = FirstAlike(graph);
  std::vector<size_t> first_use;  // by node
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    first_use.push_back(tables.uses.size());
    std::vector<NodeBoxes> boxes;
    std::vector<int> least;
    if (alike[n] == n) {
      std::vector<Cut> cuts = EveryNodeCut(mesh, *node.definition, level, IsCopy(graph, node));
      tables.renamed.push_back(RenamedCuts(cuts, renamings));
      tables.grids.push_back(GridsOf(mesh, cuts));
      least = LeastOfRenamed(*tables.renamed.back());
      for (int cut : least) boxes.push_back(AnalyzeNode(*node.definition, cuts[cut], mesh));
      tables.boxes.emplace_back();
      for (int o = 0; o <= static_cast<int>(node.operands.size()); ++o) {
        const int operand = o < static_cast<int>(node.operands.size()) ? o : -1;
        tables.boxes[n].push_back(LargestBoxes(least, boxes, operand, *tables.renamed.back()));
      }
    } else {
      tables.boxes.push_back(tables.boxes[alike[n]]);
      tables.renamed.push_back(tables.renamed[tensors + alike[n]]);
      tables.grids.push_back(tables.grids[tensors + alike[n]]);
    }
    tables.sizes.push_back(static_cast<int>((*tables.renamed.back())[0].size()));
    for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
      CostTables::Use use;
      use.node = static_cast<int>(tensors + n);
      use.tensor = o < 0 ? node.result : node.operands[o];
      const Tensor& tensor = graph.tensors[use.tensor];
      if (alike[n] != n) {
        use.cost = tables.uses[first_use[alike[n]] + o + 1].cost;
      } else {
        const TensorFacts& facts = FactsOf(mesh, tensor, space, renamings, &known);
        use.cost = std::make_shared<const std::vector<int64_t>>(
            EveryCost(node.definition->accumulation, tensor.type, facts.storage, least, boxes, o,
                      *tables.renamed[tensors + n], *facts.renamed));
      }
      tables.uses.push_back(std::move(use));
    }
  }
  return tables;
}

}  // namespace yuba
