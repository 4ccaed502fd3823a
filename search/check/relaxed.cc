#include "search/check/relaxed.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/types/optional.h"
#include "opsemantics/base/status.h"
#include "opsemantics/regions/box_factors.h"
#include "search/check/crossing.h"
#include "search/check/overlap.h"
#include "search/check/part_counts.h"
#include "search/check/reads.h"
#include "search/plan/kernel_time.h"
#include "search/plan/memory_price.h"

namespace yuba::search {
namespace {

// MostShared of sets of overlap bounds, one bound of each factor. Few bounds are different, and
// equal ones multiply to the same whichever factors they are of: each set is computed once.
class SharedProducts {
 public:
  explicit SharedProducts(int64_t devices) : devices_(devices), after_(1), most_(1, -1) {}

  // The number of the bound; equal bounds have one number.
  int NumberOf(OverlapBound shared) {
    const auto place = std::find(different_.begin(), different_.end(), shared);
    const auto number = static_cast<int>(place - different_.begin());
    if (place == different_.end()) different_.push_back(std::move(shared));
    return number;
  }

  // MostShared of the bounds with these numbers; sorts the numbers.
  int64_t MostOf(std::vector<int>* numbers) {
    std::sort(numbers->begin(), numbers->end());
    int place = 0;
    for (const int number : *numbers) place = After(place, number);
    if (most_[place] >= 0) return most_[place];
    std::vector<const OverlapBound*> factors;
    for (const int number : *numbers) factors.push_back(&different_[number]);
    return most_[place] = MostShared(devices_, factors);
  }

 private:
  int After(int place, int number) {
    std::vector<int>& next = after_[place];
    if (next.size() <= static_cast<size_t>(number)) next.resize(number + 1, -1);
    if (next[number] >= 0) return next[number];
    const auto fresh = static_cast<int>(after_.size());
    next[number] = fresh;
    after_.emplace_back();
    most_.push_back(-1);
    return fresh;
  }

  const int64_t devices_;
  std::deque<OverlapBound> different_;
  std::vector<std::vector<int>> after_;  // [set][number]: the set with that one more
  std::vector<int64_t> most_;            // by set; -1: not known
};

// The table of one use.
class UseTable {
 public:
  UseTable(const Mesh& mesh, const Objective& objective, const Definition& definition, int operand,
           int64_t times, const std::vector<Grid>& tensor_grids)
      : objective_(objective),
        definition_(definition),
        operand_(operand),
        times_(times),
        devices_(mesh.devices()),
        type_(operand < 0 ? definition.result : definition.operands[operand]),
        tensor_grids_(tensor_grids),
        boxes_{BoxFactors(definition, operand, false),
               BoxFactors(definition, operand, operand < 0)},
        products_{SharedProducts(devices_), SharedProducts(devices_)} {
    for (const Grid& grid : tensor_grids) {
      owners_.push_back(devices_ / Product(PartsOf(grid)));
      reach_of_owners_.push_back(OwnersReachOf(mesh, grid));
    }
    for (bool partial : {false, true}) {
      for (const BoxFactor& factor : boxes_[partial].factors()) {
        rows_[partial].push_back(RowsOf(factor));
      }
      columns_[partial].resize(rows_[partial].size());
    }
  }

  // Appends the costs of one node grid with every tensor grid.
  void Append(const Grid& node, std::vector<int64_t>* cost) {
    const Side side = SideOf(node);
    // Node grids that differ only in what this operand does not depend on cost the same.
    const auto [known, is_new] =
        known_rows_.try_emplace({side.columns, static_cast<int64_t>(side.producers), side.shards,
                                 side.repeated, side.partial},
                                cost->size());
    if (is_new) {
      AppendRow(side, cost);
      return;
    }
    const size_t count = tensor_grids_.size();
    cost->resize(cost->size() + count);
    std::copy_n(cost->begin() + known->second, count, cost->end() - count);
  }

 private:
  struct Column;
  // All of a node grid that costs depend on. `producers`: how many devices read a box, or are the
  // first to write one.
  struct Side {
    bool partial = false;
    Large producers = 0;
    // Where the operand is partials, by kind of axes: into how many parts each group of devices
    // cuts them; in no plan with this node grid is that another number. Empty for other tensors.
    std::vector<int64_t> shards;
    std::vector<Column*> columns;  // by factor
    // By kind of axes: how many partials of each element they make in indices that are in no
    // factor. Empty where the objective is bytes.
    std::vector<int64_t> repeated;
  };
  Side SideOf(const Grid& node) {
    Side side;
    int64_t reductions = 1;
    const std::vector<int> parts = PartsOf(node);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (definition_.indices[i].reduction) reductions *= parts[i];
    }
    side.partial = operand_ < 0 && reductions > 1;
    side.producers = operand_ < 0 ? Product(parts) : devices_;
    const bool in_groups = operand_ >= 0 && ReadsPartials(definition_, operand_);
    for (size_t k = 0; in_groups && !CombinesPartials(definition_) && k < node.size(); ++k) {
      side.shards.push_back(Product(node[k]) / node[k].back());
    }
    const size_t factors = type_.dims.empty() ? 0 : columns_[side.partial].size();
    for (size_t f = 0; f < factors; ++f) side.columns.push_back(&ColumnOf(side.partial, f, node));
    if (objective_.IsTime()) side.repeated = RepeatedBy(node, side.partial, factors);
    return side;
  }

  std::vector<int64_t> RepeatedBy(const Grid& node, bool sums, size_t factors) const {
    std::vector<int64_t> repeated(node.size(), 1);
    std::vector<bool> in_factor(definition_.indices.size(), false);
    for (size_t f = 0; f < factors; ++f) {
      for (const int index : boxes_[sums].factors()[f].indices) in_factor[index] = true;
    }
    for (size_t i = 0; sums && i < in_factor.size(); ++i) {
      if (in_factor[i] || !definition_.indices[i].reduction) continue;
      for (size_t kind = 0; kind < node.size(); ++kind) repeated[kind] *= node[kind][i];
    }
    return repeated;
  }

  // All but what a tensor's grid decides.
  UseReach ReachOfSide(const Side& side) const {
    UseReach use;
    use.devices = devices_;
    use.repeated = side.repeated;
    use.sums = side.partial;
    use.size = ByteSize(side.partial ? AccumulatorType(type_.type) : type_.type);
    use.elements = ElementCount(type_);
    use.result_size = ByteSize(type_.type);
    return use;
  }

  // Nanoseconds of one run in which so many bytes move, at least.
  int64_t TimeOf(const Side& side, size_t tensor_grid, Large moved, Large held, UseReach* use) {
    if (moved <= 0) return 0;
    LeastMoved least;
    least.bytes[0] = static_cast<int64_t>(moved);
    least.messages[0] = devices_;
    const bool of_partials =
        operand_ < 0 ? definition_.partial : ReadsPartials(definition_, operand_);
    if (!of_partials) {
      use->owners = &reach_of_owners_[tensor_grid];
      use->arriving = static_cast<int64_t>(held) * (operand_ < 0 ? owners_[tensor_grid] : 1);
      reach_.clear();
      for (size_t f = 0; f < side.columns.size(); ++f) {
        reach_.push_back(&ReachOf(side.partial, f, tensor_grid, side.columns[f]));
      }
      AddCrossing(*use, reach_, &least);
    }
    return objective_.LeastExchange(least, devices_);
  }

  const FactorReach& ReachOf(bool sums, size_t f, size_t tensor_grid, Column* column) {
    const Rows& rows = rows_[sums][f];
    const int row = rows.which[tensor_grid];
    column->reach.resize(rows.different.size());
    absl::optional<FactorReach>& reach = column->reach[row];
    if (reach.has_value()) return *reach;
    const BoxFactor& factor = boxes_[sums].factors()[f];
    std::vector<int64_t> extents;
    for (const int d : factor.dims) extents.push_back(type_.dims[d]);
    const Grid& shards = rows.different[row];
    reach = operand_ < 0 ? ReachOfReduction(definition_, factor, extents, shards, column->pieces,
                                            column->cut, sums)
                         : ReachOfGather(extents, shards, column->pieces);
    return *reach;
  }

  static bool CutAs(const Grid& tensor, const std::vector<int64_t>& shards) {
    for (size_t kind = 0; kind < shards.size(); ++kind) {
      if (Product(tensor[kind]) != shards[kind]) return false;
    }
    return true;
  }

  void AppendRow(const Side& side, std::vector<int64_t>* cost) {
    const bool partials = operand_ < 0 ? definition_.partial : CombinesPartials(definition_);
    const int64_t elements = ElementCount(type_);
    Large held = side.producers, pieces = 1;
    for (const Column* column : side.columns) {
      held *= column->pieces.volume;
      pieces *= column->pieces.number;
    }
    held /= pieces;  // elements of the boxes of all devices, or of the first producers
    std::vector<int> shared(side.columns.size());
    UseReach use = ReachOfSide(side);
    for (size_t t = 0; t < tensor_grids_.size(); ++t) {
      if (!CutAs(tensor_grids_[t], side.shards)) {
        cost->push_back(kNever);
        continue;
      }
      for (size_t f = 0; f < side.columns.size(); ++f) {
        shared[f] = side.columns[f]->shared[rows_[side.partial][f].which[t]];
      }
      int64_t kept = products_[side.partial].MostOf(&shared);
      // Only first owners keep what they wrote themselves; of partials all devices do.
      if (side.partial && !partials) kept = std::min(kept, elements);
      const Large moved =
          MovedBytes(definition_, operand_, side.partial, held, kept, type_, owners_[t]);
      const int64_t least = objective_.IsTime() ? TimeOf(side, t, moved, held, &use)
                                                : static_cast<int64_t>(std::max<Large>(0, moved));
      cost->push_back(least * times_);
    }
  }

  // How the tensor grids cut the dimensions of one factor: the different ways, and by tensor grid
  // which of them.
  struct Rows {
    std::vector<Grid> different;
    std::vector<int> which;
  };
  Rows RowsOf(const BoxFactor& factor) const {
    Rows rows;
    for (const Grid& tensor : tensor_grids_) {
      Grid grid = GridAlong(tensor, factor.dims);
      auto place = std::find(rows.different.begin(), rows.different.end(), grid);
      rows.which.push_back(static_cast<int>(place - rows.different.begin()));
      if (place == rows.different.end()) rows.different.push_back(std::move(grid));
    }
    return rows;
  }

  // The node's boxes in one factor, and for each of Rows::different the number of their overlap
  // bound.
  struct Column {
    FactorParts pieces;
    std::vector<int> shared;
    Grid cut;  // of the factor's indices
    // [number in Rows::different], of those known; made once, so that pointers stay.
    std::vector<absl::optional<FactorReach>> reach;
  };
  Column& ColumnOf(bool partial, size_t f, const Grid& node) {
    const BoxFactor& factor = boxes_[partial].factors()[f];
    const Grid grid = GridAlong(node, factor.indices);
    auto [place, is_new] = columns_[partial][f].emplace(grid, Column());
    Column& column = place->second;
    if (!is_new) return column;
    column.cut = grid;
    column.pieces = FactorPartsOf(definition_, boxes_[partial], static_cast<int>(f), grid);
    std::vector<int64_t> extents;
    for (int d : factor.dims) extents.push_back(type_.dims[d]);
    for (const Grid& row : rows_[partial][f].different) {
      column.shared.push_back(
          products_[partial].NumberOf(OverlapBoundOf(extents, row, column.pieces)));
    }
    return column;
  }

  const Objective objective_;
  const Definition& definition_;
  const int operand_;
  const int64_t times_;  // how often costs count
  const int64_t devices_;
  const TensorType& type_;
  const std::vector<Grid>& tensor_grids_;
  std::vector<int64_t> owners_;               // by tensor grid: how many devices have each element
  std::vector<OwnersReach> reach_of_owners_;  // by tensor grid
  std::vector<const FactorReach*> reach_;     // of one cell, by factor
  const BoxFactors boxes_[2];  // [partial]: with the whole reduction, and with a part of it
  SharedProducts products_[2];
  std::vector<Rows> rows_[2];                       // by factor
  std::vector<std::map<Grid, Column>> columns_[2];  // by factor
  // By columns, producers, shards, repeated and partial of a Side: where its row begins.
  std::map<
      std::tuple<std::vector<Column*>, int64_t, std::vector<int64_t>, std::vector<int64_t>, bool>,
      size_t>
      known_rows_;
};

// Whether two nodes have the same choices at the same costs.
bool CutAlike(const Graph& graph, const PinsOfElements& pins, size_t first, size_t second) {
  const Node &a = graph.nodes[first], &b = graph.nodes[second];
  const Definition &here = *a.definition, &other = *b.definition;
  const size_t tensors = graph.tensors.size();
  if (IsCopy(graph, a) != IsCopy(graph, b)) return false;
  if (graph.entries[a.entry].times != graph.entries[b.entry].times) return false;
  if (!(pins[tensors + first] == pins[tensors + second])) return false;
  if (!(pins[a.result] == pins[b.result])) return false;
  if (&other != &here && !(other.result == here.result && other == here)) return false;
  for (size_t o = 0; o < a.operands.size(); ++o) {
    bool is_copy = graph.tensors[a.operands[o]].kind == TensorKind::kCopy;
    if (is_copy != (graph.tensors[b.operands[o]].kind == TensorKind::kCopy)) return false;
    if (!(pins[a.operands[o]] == pins[b.operands[o]])) return false;
  }
  return true;
}

// By grid: what the node's kernel costs.
std::shared_ptr<const std::vector<int64_t>> KernelTimes(const Graph& graph, NodeId node,
                                                        const std::vector<Grid>& grids,
                                                        const Objective& objective) {
  std::vector<int64_t> times;
  for (const Grid& grid : grids) {
    times.push_back(TimesOf(graph, node) * KernelTime(graph, node, grid, objective));
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(times));
}

absl::Status NoGrid(const std::string& name) {
  return ProofError("no grid of ", name, " may meet its pin");
}

}  // namespace

std::vector<size_t> FirstAlike(const Graph& graph, const PinsOfElements& pins) {
  std::map<std::vector<int64_t>, std::vector<size_t>> by_extents;  // different ones
  std::vector<size_t> alike;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Definition& definition = *graph.nodes[n].definition;
    std::vector<int64_t> extents = definition.result.dims;
    for (const Index& index : definition.indices) extents.push_back(index.extent);
    std::vector<size_t>& others = by_extents[extents];
    const auto first = std::find_if(others.begin(), others.end(),
                                    [&](size_t other) { return CutAlike(graph, pins, n, other); });
    alike.push_back(first == others.end() ? n : *first);
    if (first == others.end()) others.push_back(n);
  }
  return alike;
}

absl::StatusOr<RelaxedTables> MakeRelaxedTables(const Graph& graph, const Mesh& mesh,
                                                const Space& space, bool alike_copies,
                                                const Stop& stop) {
  YUBA_ASSIGN_OR_RETURN(const PinsOfElements pins, PinsOf(graph, mesh, space));
  const bool replicate = space.replicate == Replicate::kAuto;
  RelaxedTables tables;
  // By dimensions, whether axes may be left out, and pins.
  std::map<std::tuple<std::vector<int64_t>, bool, Demands>, std::vector<Grid>> tensor_grids;
  const auto grids_of = [&](TensorId id) -> std::vector<Grid>& {
    const Tensor& tensor = graph.tensors[id];
    return tensor_grids[{tensor.type.dims, replicate || IsTransient(tensor), pins[id]}];
  };
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    std::vector<Grid>& grids = grids_of(static_cast<TensorId>(t));
    if (grids.empty()) grids = EveryTensorGrid(mesh, graph.tensors[t], replicate, pins[t]);
    if (grids.empty()) return NoGrid(graph.tensors[t].name);
    tables.tensors.push_back(static_cast<int>(grids.size()));
  }
  const std::vector<size_t> first_alike = FirstAlike(graph, pins);
  std::vector<size_t> first;  // by node: its first use
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    YUBA_RETURN_IF_ERROR(GoOn(stop));
    first.push_back(tables.uses.size());
    const size_t alike = first_alike[n];
    std::vector<Grid> grids;
    if (alike == n) {
      grids = EveryNodeGrid(mesh, *node.definition, IsCopy(graph, node),
                            pins[graph.tensors.size() + n]);
      if (grids.empty()) return NoGrid(node.name);
    }
    tables.nodes.push_back(alike < n ? tables.nodes[alike] : static_cast<int>(grids.size()));
    if (space.objective.IsTime()) {
      const auto id = static_cast<NodeId>(n);
      tables.kernels.push_back(alike < n ? tables.kernels[alike]
                                         : KernelTimes(graph, id, grids, space.objective));
    }
    for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
      RelaxedTables::Use use;
      use.node = static_cast<int>(n);
      use.tensor = o < 0 ? node.result : node.operands[o];
      if (alike < n) {
        use.cost = tables.uses[first[alike] + o + 1].cost;
        use.alike = tables.uses[first[alike] + o + 1].alike;
      } else if (alike_copies && o < 0 && IsCopy(graph, node) && grids == grids_of(use.tensor)) {
        use.alike = true;
      } else {
        std::vector<int64_t> cost;
        UseTable table(mesh, space.objective, *node.definition, o,
                       TimesOf(graph, static_cast<NodeId>(n)), grids_of(use.tensor));
        for (const Grid& grid : grids) table.Append(grid, &cost);
        use.cost = std::make_shared<const std::vector<int64_t>>(std::move(cost));
      }
      tables.uses.push_back(std::move(use));
    }
  }
  return tables;
}

}  // namespace yuba::search
