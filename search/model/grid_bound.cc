#include "search/model/grid_bound.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "search/model/shorten.h"
#include "search/plan/price_scale.h"
#include "search/rewrite/canonical.h"
#include "search/rows/prices.h"
#include "search/solve/dual.h"
#include "search/solve/few_values.h"
#include "search/solve/solve.h"
#include "search/space/follow.h"

namespace yuba::search {
namespace {

constexpr int kSweeps = 100;      // at most, of the dual
constexpr int kSweepsOfFew = 40;  // at most, of the dual of a few repeated blocks
// Where the uses of these blocks have more cells than ..., a sweep takes a second and more. Of
// Llama-3-8B on 8 nodes of 8 devices for time 24 sweeps prove 0.1 % more than 8, and 5 prove 3.5 %
// less: messages of the last block must have come far enough to be tiled.
constexpr int kSweepsOfWideFew = 8;
constexpr int64_t kWideFew = int64_t{1} << 30;
// At most, where its messages were tiled to all, and none where all uses have more cells: there a
// sweep takes seconds, and messages that are tiled as they are prove equal blocks by one of them.
constexpr int kSweepsOfTiled = 1;
constexpr int64_t kCellsToSweep = int64_t{1} << 29;
constexpr int kSteps = 600;          // at most, of the search for prices
constexpr double kMostCells = 5e7;   // with more in all tables there are no prices (2 GB of copies)
constexpr double kStepsWork = 8e9;   // cells of uses times steps of prices, about
constexpr double kSweepsWork = 3e9;  // cells of uses times sweeps at the last prices, about
constexpr double kBufferCells = 2e6;  // with more in all uses, prices are found without buffers
constexpr double kRise = 1e-3;        // the share by which the bound must rise to go on with prices
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kLikely = 32;               // values that are tried for a better assignment
constexpr size_t kLikelyGrids = 6;           // of these, grids from which axes are searched
constexpr int64_t kWork = int64_t{1} << 28;  // sums spent on a better assignment

std::vector<int> ProgramOrder(const Graph& graph) {
  std::vector<int> order(graph.tensors.size() + graph.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return ProgramPosition(graph, a) < ProgramPosition(graph, b);
  });
  return order;
}

DualOptions OptionsOf(const Graph& graph, int sweeps, double bytes_to_stop_at) {
  DualOptions options;
  options.sweeps = sweeps;
  options.enough = bytes_to_stop_at;
  options.most = MostInProof(graph);
  options.likely = kLikely;
  return options;
}

// Replaces the dual's assignment by a better one of likely values, where one is found quickly, and
// puts its values first among the likely ones.
void ImproveGrids(const PairwiseProblem& problem, const Budget& budget, Dual* dual) {
  if (CostOf(problem, dual->assignment) <= dual->bound) return;
  LocalOptions local;
  local.work = kWork;
  local.patience = 4;  // axes are found near the grids, not in them: better ones gain little
  const Assignment start(problem.variables.size(), 0);  // the first of the likely: the assignment
  const Assignment found =
      SolveLocally(OfFewValues(problem, dual->likely), {start}, local, budget).assignment;
  for (size_t v = 0; v < dual->likely.size(); ++v) {
    std::vector<int>& likely = dual->likely[v];
    dual->assignment[v] = likely[found[v]];
    std::rotate(likely.begin(), likely.begin() + found[v], likely.begin() + found[v] + 1);
  }
}

// The dual of the problem, and likely grids of it. Where blocks repeat, that of a few of them comes
// first: its messages and its grids are tiled to all, and `tiled` says so. `uses` may be empty,
// then no blocks are looked for.
Dual DualOfGrids(const Graph& graph, const std::vector<TensorUse>& uses, const GridProblem& problem,
                 const Budget& budget, double bytes_to_stop_at, bool* tiled) {
  const std::vector<int> order = ProgramOrder(graph);
  DualOptions options = OptionsOf(graph, kSweeps, bytes_to_stop_at);
  absl::optional<ShortProblem> few;
  if (problem.complete && !uses.empty()) few = Shortened(graph, uses, problem);
  *tiled = few.has_value();
  if (!few.has_value()) {
    Dual dual = MaximiseDual(problem.pairwise, order, options, budget);
    if (static_cast<double>(dual.bound) < bytes_to_stop_at) {
      ImproveGrids(problem.pairwise, budget, &dual);
    }
    return dual;
  }
  std::vector<int> variable(order.size(), -1), few_order;
  for (size_t v = 0; v < few->elements.size(); ++v) {
    variable[few->elements[v]] = static_cast<int>(v);
  }
  for (const int element : order) {
    if (variable[element] >= 0) few_order.push_back(variable[element]);
  }
  DualOptions of_few = OptionsOf(graph, kSweepsOfFew, kInfinity);
  of_few.keep_state = true;
  if (CellsOf(few->pairwise) > kWideFew) of_few.sweeps = kSweepsOfWideFew;
  Dual part = MaximiseDual(few->pairwise, few_order, of_few, budget);
  const MessageState start = Tiled(*few, part.state);
  options.start = &start;
  options.likely = 0;
  options.sweeps = CellsOf(problem.pairwise) <= kCellsToSweep ? kSweepsOfTiled : 0;
  Dual dual = MaximiseDual(problem.pairwise, order, options, budget);
  if (static_cast<double>(dual.bound) < bytes_to_stop_at) {
    ImproveGrids(few->pairwise, budget, &part);
  }
  for (const int variable_of : few->stand_in) dual.likely.push_back(part.likely[variable_of]);
  return dual;
}

bool IsZero(const std::vector<int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; });
}

// The proof and the grids, without the bytes. The factors of two variables in `costs` are those of
// the problem's uses; only their messages are in the proof, of a node that reads the tensor whose
// next value it computes the sum of both. Moves these out of `dual`.
LowerBound FoundBy(const Graph& graph, const GridProblem& problem, const PairwiseProblem& costs,
                   Dual& dual) {
  LowerBound found;
  found.proof.kind = ProofKind::kDual;
  const int tensors = static_cast<int>(graph.tensors.size());
  std::map<std::vector<int>, size_t> known;  // by scope
  std::map<int, std::vector<int64_t>> sums;  // by copy: all its messages
  for (size_t f = 0; f < dual.messages.size(); ++f) {
    if (IsZero(dual.messages[f])) continue;
    const std::vector<int>& scope = costs.factors[f].scope;
    const NodeId node = scope[1] < tensors ? graph.tensors[scope[1]].producer : scope[1] - tensors;
    if (graph.tensors[scope[0]].kind == TensorKind::kCopy) {
      std::vector<int64_t>& sum = sums[scope[0]];
      sum.resize(dual.messages[f].size());
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += dual.messages[f][i];
    }
    const auto [place, added] = known.emplace(scope, found.proof.messages.size());
    if (added) {
      found.proof.messages.push_back({scope[0], node, std::move(dual.messages[f])});
      continue;
    }
    std::vector<int64_t>& sum = found.proof.messages[place->second].values;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += dual.messages[f][i];
  }
  for (auto& [copy, sum] : sums) {
    // What the copy's readers ask for is asked of the node that has its variable.
    const NodeId node = graph.tensors[copy].producer;
    if (problem.variable[tensors + node] != copy) continue;
    for (int64_t& value : sum) value = -value;
    found.proof.messages.push_back({copy, node, std::move(sum)});
  }
  for (size_t e = 0; e < problem.grids.size(); ++e) {
    const std::vector<int>& likely = dual.likely[problem.variable[e]];
    found.grids.emplace_back();
    for (size_t i = 0; i < std::min(likely.size(), kLikelyGrids); ++i) {
      found.grids.back().push_back((*problem.grids[e])[likely[i]]);
    }
  }
  return found;
}

// How many sweeps the dual makes at the last prices.
int SweepsFor(const GridProblem& problem) {
  const auto of_uses = static_cast<double>(CellsOf(problem.pairwise) + 1);
  return static_cast<int>(std::clamp(kSweepsWork / of_uses, 20.0, 1.0 * kSweeps));
}

LowerBound UnpricedBound(const Graph& graph, const std::vector<TensorUse>& uses,
                         const GridProblem& problem, const Budget& budget,
                         double bytes_to_stop_at) {
  bool tiled = false;
  Dual dual = DualOfGrids(graph, uses, problem, budget, bytes_to_stop_at, &tiled);
  LowerBound found = FoundBy(graph, problem, problem.pairwise, dual);
  for (const int variable : problem.variable) found.values.push_back(dual.likely[variable]);
  found.tiled = tiled;
  found.bytes = std::max<int64_t>(0, dual.bound);
  return found;
}

// A bound of 0 with some grid for each element, whatever it costs.
LowerBound NoBound(const Graph& graph, const Mesh& mesh, const Restrictions& restrictions) {
  LowerBound none;
  auto add = [&](const ChoiceSpace& space) {
    Choice choice = FollowNeighbours(space, {}, mesh);
    const size_t element = none.grids.size();
    if (!restrictions.empty() && !restrictions[element].none()) {
      choice = ConformedChoice(space, mesh, choice, restrictions[element]);
    }
    none.grids.push_back({GridOf(choice, mesh)});
  };
  for (size_t t = 0; t < graph.tensors.size(); ++t)
    add(SpaceOfTensor(graph, static_cast<TensorId>(t)));
  for (size_t n = 0; n < graph.nodes.size(); ++n) add(SpaceOfNode(graph, static_cast<NodeId>(n)));
  return none;
}

bool HasSums(const PairwiseProblem& problem) {
  return std::any_of(problem.factors.begin(), problem.factors.end(),
                     [](const Factor& factor) { return factor.sum != nullptr; });
}

// How many cells all different tables would have, written out.
double DifferentCells(const PairwiseProblem& problem) {
  double cells = 0;
  std::set<Cells> tables;
  for (const Factor& factor : problem.factors) {
    if (!tables.insert(factor.cells).second) continue;
    double of_table = 1;
    for (const int v : factor.scope) of_table *= problem.variables[v]->size;
    cells += of_table;
  }
  return cells;
}

// The bound at these prices on the rows of the problem.
LowerBound DualAtPrices(const Graph& graph, const GridProblem& problem,
                        std::vector<MemoryPrice> prices, const Budget& budget) {
  const PairwiseProblem priced = AtPrices(problem.pairwise, prices);
  const absl::optional<int64_t> room = RoomAtPrices(problem.pairwise.memory, prices);
  Dual dual = MaximiseDual(priced, ProgramOrder(graph),
                           OptionsOf(graph, SweepsFor(problem), kInfinity), budget);
  LowerBound found = FoundBy(graph, problem, priced, dual);
  int64_t units = 0;
  if (!room.has_value() || __builtin_sub_overflow(dual.bound, *room, &units)) units = 0;
  found.bytes = BytesOfUnits(problem.pairwise.memory.scale, units);
  found.proof.prices = std::move(prices);
  return found;
}

}  // namespace

LowerBound DualBound(const Graph& graph, const Mesh& mesh, const std::vector<TensorUse>& uses,
                     const Budget& budget, double bytes_to_stop_at, TableCache* table_cache,
                     const Restrictions& restrictions) {
  TableCache own;
  if (table_cache == nullptr) table_cache = &own;
  absl::optional<GridProblem> built = BuildGridProblem(
      graph, mesh, uses, false, budget, table_cache, restrictions, CopyNodes::kAsTheirCopy);
  if (built.has_value() && built->complete)
    return UnpricedBound(graph, uses, *built, budget, bytes_to_stop_at);
  // The costs known by then give a bound already: missing factors only lower it.
  const Budget overtime = budget.Overtime();
  built = BuildGridProblem(graph, mesh, uses, false, overtime, table_cache, restrictions,
                           CopyNodes::kAsTheirCopy);
  return built.has_value() ? UnpricedBound(graph, uses, *built, overtime, bytes_to_stop_at)
                           : NoBound(graph, mesh, restrictions);
}

std::vector<LowerBound> PricedBounds(const Graph& graph, const std::vector<TensorUse>& uses,
                                     const GridProblem& problem, const Budget& budget,
                                     int64_t bytes_to_beat) {
  const bool sums = HasSums(problem.pairwise);
  const double cells = DifferentCells(problem.pairwise);
  if (sums && cells <= kMostCells) {
    GridProblem whole = problem;
    whole.pairwise = Whole(problem.pairwise);
    return PricedBounds(graph, uses, whole, budget, bytes_to_beat);
  }
  const auto of_uses = static_cast<double>(CellsOf(problem.pairwise) + 1);
  PriceSearch search;
  search.rise = kRise;
  search.known = bytes_to_beat;
  search.steps = static_cast<int>(std::clamp(kStepsWork / of_uses, 40.0, 1.0 * kSteps));
  // Sometimes the longer patience finds better prices, sometimes the shorter.
  std::vector<int> patiences = {search.steps / 20, search.steps / 60};
  if (search.steps < kSteps) patiences = {std::max(4, search.steps / 60)};
  // Prices are found sooner without buffers, and their bound holds with buffers too.
  PairwiseProblem unmoved = problem.pairwise;
  unmoved.memory.buffers.clear();
  LowerBound best[2];  // [whether prices were found with buffers]
  for (const int patience : patiences) {
    search.patience = patience;
    search.start.clear();
    for (const bool buffers : {false, true}) {
      if (!best[0].grids.empty() && budget.ShouldStop()) break;
      std::vector<MemoryPrice> prices;
      if (cells <= kMostCells && !sums && !(buffers && of_uses > kBufferCells)) {
        prices = GoodPrices(buffers ? problem.pairwise : unmoved, search, budget);
      }
      if (prices.empty()) continue;
      search.start = prices;
      const Budget overtime = budget.Overtime();  // prices alone, without messages, are no bound
      const Budget& left = budget.ShouldStop() ? overtime : budget;
      LowerBound found = DualAtPrices(graph, problem, std::move(prices), left);
      LowerBound& here = best[buffers];
      if (here.grids.empty() || found.bytes > here.bytes) here = std::move(found);
    }
  }
  if (best[1].bytes > best[0].bytes) std::swap(best[0], best[1]);
  std::vector<LowerBound> bounds;
  for (LowerBound& each : best) {
    if (!each.grids.empty()) bounds.push_back(std::move(each));
  }
  if (!bounds.empty()) return bounds;
  const Budget overtime = budget.Overtime();
  return {UnpricedBound(graph, uses, problem, budget.ShouldStop() ? overtime : budget, kInfinity)};
}

}  // namespace yuba::search
