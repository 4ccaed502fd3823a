// The search against an enumeration of all plans, priced by marking elements one by one.

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>

#include "search/check/check.h"
#include "search/model/graph_problem.h"
#include "search/model/grid_classes.h"
#include "search/rewrite/copies.h"
#include "search/search.h"
#include "search/solve/relax.h"
#include "search/solve/solve.h"
#include "tests/support/engines.h"
#include "tests/support/enumeration.h"
#include "tests/support/graphs.h"
#include "tests/support/marking.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// The results of comparing many graphs.
struct Tally {
  int compared = 0;  // graphs that were small enough to try all plans
  int proven = 0;    // graphs whose plan's bound is its cost
  int recursion_lost = 0;
  int dominance_lost = 0;  // graphs whose best plan has a grid that another dominates
  int pins_cost = 0;       // graphs whose best plan does not meet the pins
  int reshaped = 0;        // graphs in which dimensions are split into factors, or joined
  double plans = 0;        // plans tried
};

// The search for many devices: its proved bound is at most the least cost, its plan at least that.
void CompareGrids(const Graph& graph, const SearchOptions& options, int64_t least) {
  const Plan plan = Search(graph, Only(options, {"grids", "axes"})).value();
  CHECK(plan.lower_bound <= least);
  CHECK(plan.cost.bytes() >= least);
  CHECK_THAT(CheckPlan(graph, plan), IsOk());
}

// The least cost without grids that another grid dominates on the relaxation. Dropping these is not
// sound: axes that the relaxation forgets can make the dropped grid the better one.
int64_t LeastOfUndominated(const Graph& graph, const Mesh& mesh) {
  ProblemOptions options;
  options.mesh = mesh;
  options.axes.resize(mesh.axes.size());
  std::iota(options.axes.begin(), options.axes.end(), 0);
  const Problem problem = BuildProblem(graph, options);
  const std::vector<ClassesPtr> grids = GridsOf(problem, mesh);
  const PairwiseProblem relaxed = Relaxed(problem.pairwise, grids);
  std::vector<std::vector<bool>> kept;
  for (const ClassesPtr& of : grids) kept.emplace_back(of->count, true);
  const auto dominates = [&](int v, int a, int b) {  // b is never dearer than a
    int64_t least = 0;
    for (const Factor& factor : relaxed.factors) {
      const auto place = std::find(factor.scope.begin(), factor.scope.end(), v);
      if (place == factor.scope.end()) continue;
      const bool first = place == factor.scope.begin();
      const int other = factor.scope.size() == 1 ? -1 : factor.scope[first ? 1 : 0];
      int64_t here = INT64_MAX;
      for (int y = 0; y < (other < 0 ? 1 : grids[other]->count); ++y) {
        if (other >= 0 && !kept[other][y]) continue;
        const auto cell = [&](int x) {
          if (other < 0) return (*factor.cells)[x];
          return (*factor.cells)[first ? x * grids[other]->count + y : y * grids[v]->count + x];
        };
        here = std::min(here, cell(a) - cell(b));
      }
      least += here;
    }
    return least >= 0;
  };
  for (int v = 0; v < static_cast<int>(grids.size()); ++v) {
    for (int a = 0; a < grids[v]->count; ++a) {
      for (int b = 0; b < grids[v]->count && kept[v][a]; ++b) {
        if (b != a && kept[v][b] && dominates(v, a, b)) kept[v][a] = false;
      }
    }
  }
  PairwiseProblem pruned = problem.pairwise;
  constexpr int64_t kDropped = int64_t{1} << 50;
  for (int v = 0; v < static_cast<int>(grids.size()); ++v) {
    std::vector<int64_t> cost;
    for (const int grid : grids[v]->of) cost.push_back(kept[v][grid] ? 0 : kDropped);
    pruned.factors.push_back({{v}, std::make_shared<const std::vector<int64_t>>(std::move(cost))});
  }
  const auto exact = SolveExactly(pruned, 1 << 24);
  REQUIRE(exact.has_value());
  return exact->solution.cost;
}

bool HasReshape(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return node.definition->reducer == Reducer::kPick; });
}

void Compare(const Graph& bare, const TriedSpace& space, int devices, int64_t limit, Tally& tally) {
  CAPTURE(devices);
  SearchOptions options;
  options.mesh = MeshOf(devices);
  if (space.replicate) options.replicate = Replicate::kAuto;
  TriedPlans tried = TryAllPlans(bare, options.mesh, space, limit);
  if (tried.least < 0) return;
  const Graph graph = WithCopies(bare, space.copies ? 1000 : 0);
  absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->lower_bound <= tried.least);
  CHECK(plan->cost.bytes() == tried.least);
  CHECK(MarkedBytes(graph, options.mesh, plan->tensors, plan->nodes) == tried.least);
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  ++tally.compared;
  tally.reshaped += HasReshape(graph);
  tally.plans += tried.plans;
  tally.proven += plan->lower_bound == plan->cost.bytes();
  if (space.replicate) return;  // the others replicate nothing
  tally.dominance_lost += LeastOfUndominated(graph, options.mesh) > tried.least;
  if (tally.compared % 10 == 1) CompareGrids(graph, options, tried.least);
  options.search = "recursive";
  plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->cost.bytes() >= tried.least);
  CHECK(MarkedBytes(graph, options.mesh, plan->tensors, plan->nodes) == plan->cost.bytes());
  tally.recursion_lost += plan->cost.bytes() > tried.least;
}

void CompareOne(const Graph& graph, int devices, int64_t limit) {
  Tally tally;
  Compare(graph, TriedSpace(), devices, limit, tally);
  CHECK(tally.compared == 1);
  CHECK(tally.proven == 1);
}

TEST_CASE("chains of products against enumeration") {
  CompareOne(MatmulChain({5, 9}, 7), 2, 1000);
  CompareOne(MatmulChain({5, 9}, 7), 8, 1000);
  CompareOne(MatmulChain({4, 8, 6}, 8), 2, 1000);
  CompareOne(MatmulChain({6, 7, 5}, 4), 4, 1000);
  CompareOne(MatmulChain({6, 4, 9}, 7), 6, 1000);
  CompareOne(MatmulChain({8, 12, 8}, 8), 8, 10000);
  CompareOne(MatmulChain({3, 8, 4, 6}, 8), 2, 10000);
  CompareOne(MatmulChain({7, 4, 6, 5}, 6), 4, 10000);
  CompareOne(MatmulChain({6, 6, 6, 6}, 6), 6, 10000);
  CompareOne(MatmulChain({4, 8, 8, 4}, 8), 8, 1000000);
}

// 3 to 7 nodes: branches, joins, shared weights, halos, reductions, reshapes, extents down to 1.
// The more devices, the smaller the graphs, so that all plans can be tried.
class RandomGraphs {
 public:
  RandomGraphs(int seed, int devices)
      : random_(seed), most_nodes_(devices > 4 ? 4 : 7), largest_(devices > 4 ? 9 : 7) {}

  Graph Next() {
    GraphBuilder builder;
    std::vector<TensorId> tensors;
    auto add = [&](TensorId tensor) {
      tensors.push_back(tensor);
      return tensor;
    };
    auto leaf = [&](std::vector<int64_t> dims) {
      bool input = Below(3) == 0;
      ElementType type = half_ ? ElementType::kF16 : ElementType::kF32;
      return add(input ? builder.Input(dims, type) : builder.Parameter(dims, type));
    };
    half_ = Below(4) == 0;
    leaf({Extent(), Extent()});
    int nodes = 3 + Below(most_nodes_ - 2);
    for (int made = 0; made < nodes;) {
      TensorId x = tensors[tensors.size() - 1 - Below(std::min<int>(4, tensors.size()))];
      const std::vector<int64_t> dims = builder.Dims(x);
      TensorId other = x;  // one of the same shape, if there is one
      for (TensorId t : tensors) {
        if (t != x && builder.Dims(t) == dims && Below(2) == 0) other = t;
      }
      ++made;
      switch (Below(10)) {
        case 0: {
          int64_t columns = Extent();
          if (dims.size() == 2) add(builder.Matmul(x, leaf({dims[1], columns})));
          break;
        }
        case 1:
          if (dims.size() == 2 && dims[0] == dims[1])
            add(builder.Matmul(x, other));
          else
            add(builder.Relu(x));
          break;
        case 2: add(builder.Add(x, other == x ? leaf(dims) : other)); break;
        case 3:
          add(builder.Scale(x, leaf({dims.back()}), static_cast<int>(dims.size()) - 1));
          break;
        case 4:
          if (dims.size() == 2) add(builder.SumOver(x, Below(2)));
          break;
        case 5:
          if (dims.size() == 2) add(builder.Transpose(x));
          break;
        case 6: {
          int64_t first = Below(static_cast<int>(dims[0]));
          add(builder.Slice(x, first, dims[0] - first));
          break;
        }
        case 7: add(builder.Shift(x, 1 + Below(2))); break;
        case 8: add(JoinOrSplit(x, &builder)); break;
        default:
          if (dims.size() == 2) {
            int64_t kernel = 1 + Below(3), stride = 1 + Below(2);
            int64_t extent = (dims[1] - 1) * stride + kernel;
            add(builder.ConvGradient(x, leaf({kernel}), stride, extent));
          }
      }
    }
    return builder.Finish({tensors.back()});
  }

 private:
  // Two dimensions joined to one, or one that is no prime split in two, as factors do.
  TensorId JoinOrSplit(TensorId x, GraphBuilder* builder) {
    const std::vector<int64_t> dims = builder->Dims(x);
    const int dim = Below(static_cast<int>(dims.size()));
    if (dims.size() > 2) return builder->Merge(x, std::min<int>(dim, dims.size() - 2));
    std::vector<int64_t> inner;
    for (int64_t n = 2; n < dims[dim]; ++n) {
      if (dims[dim] % n == 0) inner.push_back(n);
    }
    if (inner.empty()) return builder->Relu(x);
    return builder->Split(x, dim, inner[Below(static_cast<int>(inner.size()))]);
  }

  int Below(int limit) { return static_cast<int>(random_() % limit); }
  int64_t Extent() { return 1 + Below(largest_); }

  std::mt19937 random_;
  int most_nodes_, largest_;
  bool half_ = false;
};

// Square matrices, products and sums of any two of them: cycles, round which axes must agree.
Graph GraphOfCycles(std::mt19937* random, int nodes) {
  const auto below = [&](size_t limit) { return (*random)() % limit; };
  GraphBuilder builder;
  const int64_t extent = 4 + static_cast<int64_t>(below(5));
  std::vector<TensorId> tensors = {builder.Input({extent, extent}, ElementType::kF32),
                                   builder.Parameter({extent, extent}, ElementType::kF32)};
  for (int node = 0; node < nodes; ++node) {
    const TensorId x = tensors.back(), y = tensors[below(tensors.size())];
    switch (below(4)) {
      case 0: tensors.push_back(builder.Add(x, y)); break;
      case 1: tensors.push_back(builder.Transpose(x)); break;
      default: tensors.push_back(below(2) == 0 ? builder.Matmul(x, y) : builder.Matmul(y, x));
    }
  }
  return builder.Finish({tensors.back()});
}

void CompareRandom(const TriedSpace& space, int64_t limit) {
  Tally tally;
  for (int devices : {2, 3, 4, 6, 8}) {
    RandomGraphs graphs(devices, devices);
    for (int i = 0; i < 250; ++i) {
      CAPTURE(i);
      Compare(graphs.Next(), space, devices, limit, tally);
    }
  }
  std::cout << tally.compared << " random graphs, " << tally.reshaped << " of them with re-views, "
            << tally.plans << " plans tried; gap 0 on " << tally.proven
            << ", the recursion lost on " << tally.recursion_lost << "\n";
  CHECK(tally.compared >= 1000);
  CHECK(tally.reshaped >= 100);
  CHECK(tally.proven >= 0.95 * tally.compared);
  if (space.replicate) return;
  CHECK(tally.recursion_lost > 0);
}

TEST_CASE("random graphs against enumeration") { CompareRandom(TriedSpace(), 100000); }

TEST_CASE("random graphs with copies against enumeration") {
  TriedSpace space;
  space.copies = true;
  CompareRandom(space, 20000);
}

TEST_CASE("graphs of cycles against enumeration, where pruning by dominance loses") {
  Tally tally;
  std::mt19937 random(1);
  for (int devices : {4, 6, 8}) {
    for (int i = 0; i < 150; ++i) {
      CAPTURE(i);
      Compare(GraphOfCycles(&random, devices == 4 ? 5 : 4), TriedSpace(), devices, 300000, tally);
    }
  }
  std::cout << tally.compared << " graphs of cycles; gap 0 on " << tally.proven
            << ", the recursion lost on " << tally.recursion_lost << ", dominance on "
            << tally.dominance_lost << "\n";
  CHECK(tally.compared >= 200);
  CHECK(tally.proven >= 0.95 * tally.compared);
  CHECK(tally.dominance_lost > 0);
}

TEST_CASE("random graphs with replicas against enumeration") {
  TriedSpace space;
  space.replicate = true;
  CompareRandom(space, 20000);
}

// What pins demand, read as pin.h says it: the wanted axes in their order, others where they may
// be.
bool IsAllowed(const Demands& demands, const Sharding& sharding) {
  for (size_t e = 0; e < demands.size(); ++e) {
    size_t met = 0;
    const AxisList& wanted = demands[e].axes;
    for (const uint8_t axis : sharding.axes[e]) {
      if (met < wanted.size() && wanted[met] == axis)
        ++met;
      else if (!demands[e].others)
        return false;
    }
    if (met < wanted.size()) return false;
  }
  return true;
}

// A pin that some legal choice of these extents meets: of each extent its axes, some of them or
// any.
Pin RandomPin(bool is_node, int id, const Mesh& mesh, const std::vector<int64_t>& extents,
              std::mt19937& random) {
  const std::vector<Sharding> choices = TriedChoices(mesh, extents);
  Pin pin{is_node, id, {}, ""};
  for (const AxisList& axes : choices[random() % choices.size()].axes) {
    Demand demand{axes, random() % 2 == 0};
    if (demand.others && !axes.empty() && random() % 2 == 0) demand.axes.pop_back();
    if (demand.others && random() % 3 == 0) demand.axes.clear();
    pin.demands.push_back(std::move(demand));
  }
  return pin;
}

// Pins of one to three elements, no two of the same.
std::vector<Pin> RandomPins(const Graph& graph, const Mesh& mesh, std::mt19937& random) {
  std::vector<int> elements(graph.tensors.size() + graph.nodes.size());
  std::iota(elements.begin(), elements.end(), 0);
  std::shuffle(elements.begin(), elements.end(), random);
  elements.resize(1 + random() % 3);
  std::vector<Pin> pins;
  const int tensors = static_cast<int>(graph.tensors.size());
  for (const int element : elements) {
    const bool is_node = element >= tensors;
    const int id = is_node ? element - tensors : element;
    std::vector<int64_t> extents;
    if (is_node) {
      for (const Index& index : graph.nodes[id].definition->indices)
        extents.push_back(index.extent);
    } else {
      extents = graph.tensors[id].type.dims;
    }
    pins.push_back(RandomPin(is_node, id, mesh, extents, random));
  }
  return pins;
}

// The pinned search against all plans that meet the pins: the plan is the cheapest of them, and
// each bound on the way, on tables and on grids, is of them and proved.
void ComparePinned(const Graph& graph, int devices, const TriedSpace& unpinned, int64_t limit,
                   std::mt19937& random, Tally& tally) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  if (unpinned.replicate) options.replicate = Replicate::kAuto;
  options.pins = RandomPins(graph, options.mesh, random);
  TriedSpace space = unpinned;
  space.allows = [&](size_t element, const Sharding& sharding) {
    return std::all_of(options.pins.begin(), options.pins.end(), [&](const Pin& pin) {
      const size_t of = pin.is_node ? graph.tensors.size() + pin.id : pin.id;
      return of != element || IsAllowed(pin.demands, sharding);
    });
  };
  const TriedPlans tried = TryAllPlans(graph, options.mesh, space, limit);
  if (tried.least < 0) return;
  options.check_bound = [](const Graph& of, const Plan& claim) {
    CHECK_THAT(CheckProof(of, claim), IsOk());
  };
  const Plan plan = Search(graph, options).value();
  CHECK(plan.cost.bytes() == tried.least);
  CHECK(plan.lower_bound <= tried.least);
  CHECK_THAT(CheckPlan(graph, plan), IsOk());
  ++tally.compared;
  tally.plans += tried.plans;
  tally.proven += plan.lower_bound == plan.cost.bytes();
  if (unpinned.replicate) return;
  CompareGrids(graph, options, tried.least);
  options.pins.clear();
  // As in SearchUnpinned: what is lost by the pins.
  tally.pins_cost += Search(graph, options)->cost.bytes() < tried.least;
}

TEST_CASE("random graphs with random pins against enumeration") {
  for (const bool replicate : {false, true}) {
    TriedSpace space;
    space.replicate = replicate;
    Tally tally;
    std::mt19937 random(5);
    for (int devices : {2, 3, 4, 6, 8}) {
      RandomGraphs graphs(100 + devices, devices);
      for (int i = 0; i < 80; ++i) {
        CAPTURE(devices, i, replicate);
        ComparePinned(graphs.Next(), devices, space, 20000, random, tally);
      }
    }
    std::cout << tally.compared << " random graphs with pins, " << tally.plans
              << " plans tried; gap 0 on " << tally.proven << ", pins cost something on "
              << tally.pins_cost << "\n";
    CHECK(tally.compared >= 300);
    CHECK(tally.proven >= 0.95 * tally.compared);
    if (!replicate) CHECK(tally.pins_cost >= 100);
  }
}

TEST_CASE("a convolution and its pooling against enumeration") {
  GraphBuilder builder;
  TensorId x = builder.Input({2, 3, 5, 4});
  TensorId y = builder.Conv(x, builder.Parameter({2, 3, 3, 2}), 2, 1);
  Graph graph = builder.Finish({builder.MaxPool(y, 2, 1)});
  CompareOne(graph, 2, 10000);
  CompareOne(graph, 3, 10000);
}

}  // namespace
}  // namespace yuba::search
