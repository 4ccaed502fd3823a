// Plans within a limit on memory: their programs keep to it, no plan that does is cheaper than the
// bound, and the checker replays that bound.
#include "compiler/search_within.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <iostream>
#include <utility>

#include "opsemantics/boxes.h"
#include "search/check.h"
#include "search/partials.h"
#include "search/within_limit.h"
#include "tests/compiler/small_graphs.h"
#include "tests/compiler/whole_model.h"
#include "tests/support/marking.h"

namespace yuba {
namespace {

SearchOptions Options(int devices, const std::string& replicate, int64_t limit) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  options.replicate = replicate;
  options.memory_limit = limit;
  return options;
}

// All plans of a graph, the cheapest first, priced by marking elements: no code of the search.
class EveryPlan {
 public:
  EveryPlan(const Model& model, const Mesh& mesh, bool replicate) : model_(model) {
    plan_.mesh = mesh;
    const Graph& graph = model.graph;
    for (const Tensor& tensor : graph.tensors) {
      cuts_.push_back(TriedCuts(mesh, tensor.type.dims, !replicate && !IsTransient(tensor)));
    }
    for (const Node& node : graph.nodes) {
      const std::vector<Index>& indices = node.definition->indices;
      std::vector<int64_t> extents(indices.size(), 1);
      for (int index : CuttableIndices(*node.definition)) extents[index] = indices[index].extent;
      cuts_.push_back(TriedCuts(mesh, extents, !IsCopy(graph, node)));
    }
    for (const std::vector<Cut>& cuts : cuts_) {
      count_ =
          static_cast<int64_t>(cuts.size()) > kMost / count_ ? kMost + 1 : count_ * cuts.size();
    }
  }

  static constexpr int64_t kMost = 20000;
  int64_t count() const { return count_; }  // with those whose copies are not made as they are cut

  void Price() {
    const Graph& graph = model_.graph;
    const size_t tensors = graph.tensors.size();
    std::vector<int64_t> costs(count_, 0);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
        const size_t tensor = o < 0 ? node.result : node.operands[o];
        const MarkedTable bytes =
            MarkedBytes(*node.definition, plan_.mesh, o, cuts_[tensors + n], cuts_[tensor]);
        for (int64_t plan = 0; plan < count_; ++plan) {
          costs[plan] += bytes[Choice(plan, tensors + n)][Choice(plan, tensor)];
        }
      }
    }
    for (int64_t plan = 0; plan < count_; ++plan) {
      if (IsPlan(plan) && costs[plan] < kNeverMarked) by_cost_.emplace_back(costs[plan], plan);
    }
    std::sort(by_cost_.begin(), by_cost_.end());
    arenas_.assign(by_cost_.size(), -1);
  }

  // The cheapest whose program needs at most `limit`; -1 where there is none.
  int64_t Least(int64_t limit) {
    for (size_t i = 0; i < by_cost_.size(); ++i) {
      if (Arena(i) <= limit) return by_cost_[i].first;
    }
    return -1;
  }

  // What the program needs that needs least.
  int64_t Smallest() {
    int64_t smallest = INT64_MAX;
    for (size_t i = 0; i < by_cost_.size(); ++i) smallest = std::min(smallest, Arena(i));
    return smallest;
  }

 private:
  int64_t Arena(size_t i) {
    if (arenas_[i] < 0) arenas_[i] = ArenaBytes(model_, PlanOf(by_cost_[i].second));
    return arenas_[i];
  }

  size_t Choice(int64_t plan, size_t element) const {
    if (strides_.empty()) {
      int64_t stride = 1;
      for (const std::vector<Cut>& cuts : cuts_) {
        strides_.push_back(stride);
        stride *= static_cast<int64_t>(cuts.size());
      }
    }
    return plan / strides_[element] % static_cast<int64_t>(cuts_[element].size());
  }

  bool IsPlan(int64_t plan) const {
    const Graph& graph = model_.graph;
    const size_t tensors = graph.tensors.size();
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      if (IsCopy(graph, node) && cuts_[tensors + n][Choice(plan, tensors + n)] !=
                                     cuts_[node.result][Choice(plan, node.result)]) {
        return false;
      }
    }
    return true;
  }

  const Plan& PlanOf(int64_t plan) {
    plan_.tensors.clear();
    plan_.nodes.clear();
    for (size_t element = 0; element < cuts_.size(); ++element) {
      const bool tensor = element < model_.graph.tensors.size();
      (tensor ? plan_.tensors : plan_.nodes).push_back(cuts_[element][Choice(plan, element)]);
    }
    return plan_;
  }

  const Model& model_;
  Plan plan_;
  std::vector<std::vector<Cut>> cuts_;  // by tensor, then by node
  mutable std::vector<int64_t> strides_;
  int64_t count_ = 1;
  std::vector<std::pair<int64_t, int64_t>> by_cost_;  // cost, plan
  std::vector<int64_t> arenas_;                       // by entry of by_cost_; -1: not known yet
};

struct Tally {
  int graphs = 0, limits = 0, refused = 0, tight = 0;
  int missed = 0;     // limits within which there is a plan that moves less, or any
  int smallest = 0;   // of those refused: where the smallest of all plans is named
  int64_t plans = 0;  // of which the cheapest within each limit was taken

  void Print(const std::string& of) const {
    std::cout << graphs << " random graphs" << of << ", " << plans << " plans, " << limits
              << " limits within which there are plans, " << refused << " without ("
              << smallest << " times the smallest peak of all is named); gap 0 on " << tight
              << ", the cheapest missed on " << missed << "\n";
  }
};

// The search within several limits finds the cheapest plan that there is, or that there is none;
// says where it does not.
void CompareWithin(const Model& model, SearchOptions options, Tally* tally) {
  EveryPlan every(model, options.mesh, options.replicate == "auto");
  if (every.count() > EveryPlan::kMost) return;
  every.Price();
  ++tally->graphs;
  tally->plans += every.count();
  const absl::StatusOr<Plan> free = SearchWithinMemory(model, options);
  REQUIRE(free.ok());
  const int64_t arena = ArenaBytes(model, *free);
  for (const int64_t limit : {arena * 5 / 10, arena * 7 / 10, arena * 9 / 10, arena - 1, arena}) {
    INFO("limit " << limit);
    options.memory_limit = limit;
    const int64_t least = every.Least(limit);
    const absl::StatusOr<Plan> plan = SearchWithinMemory(model, options);
    const int64_t found = plan.ok() ? plan->cost.bytes() : -1;
    if (found != least) {
      ++tally->missed;
      std::cout << "on " << options.mesh.devices() << " devices within " << limit << " bytes: "
                << found << " bytes moved where plans move " << least << "\n";
    }
    tally->refused += !plan.ok();
    if (!plan.ok() && least < 0) {
      CHECK(SmallestPeak(plan.status()) >= every.Smallest());
      tally->smallest += SmallestPeak(plan.status()) == every.Smallest();
    }
    if (!plan.ok()) continue;
    REQUIRE(least >= 0);
    CHECK(ArenaBytes(model, *plan) <= limit);
    CHECK(plan->lower_bound <= least);
    CHECK(plan->cost.bytes() >= least);
    CHECK(CheckPlan(model.graph, *plan).ToString() == "OK");
    ++tally->limits;
    tally->tight += plan->lower_bound == least;
  }
}

// A model for a seed, and how its plans are searched.
using Case = std::function<Model(int seed, Random& random, SearchOptions* options)>;

// Of that many seeds, each compared. Asserts that none is missed, and that refusals name the
// smallest peak of all plans on nearly all.
Tally CompareAll(int seeds, const Case& make, const std::string& of) {
  Tally tally;
  for (int seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    SearchOptions options;
    const Model model = make(seed, random, &options);
    INFO("seed " << seed);
    CompareWithin(model, options, &tally);
  }
  tally.Print(of);
  CHECK(tally.missed == 0);
  CHECK(tally.smallest >= 0.99 * tally.refused);
  return tally;
}

Model WithCopies(Model model, SearchOptions* options) {
  options->copies = 8;
  model.graph = SharedGraph(model.graph, *options);
  return model;
}

TEST_CASE("within limits, the cheapest of all plans is found") {
  const auto make = [](int seed, Random& random, SearchOptions* options) {
    *options = Options(2 + seed % 3, seed % 4 < 2 ? "auto" : "none", 0);
    Model model = RandomModel(random);
    return seed % 5 == 0 ? WithCopies(std::move(model), options) : model;
  };
  const Tally tally = CompareAll(500, make, "");
  CHECK(tally.graphs >= 150);
  CHECK(tally.tight >= 0.84 * tally.limits);
}

// One or two nodes over short dimensions: few enough plans on many devices.
Model RandomTiny(Random& random) {
  ModelBuilder build;
  const auto size = [&] { return int64_t{2} + static_cast<int64_t>(random() % 3); };
  TensorId at = build.Input({size(), size()});
  const auto parameter = [&](std::vector<int64_t> dims) {
    return build.Input(std::move(dims), TensorKind::kParameter);
  };
  const int nodes = 1 + static_cast<int>(random() % 2);
  for (int node = 0; node < nodes; ++node) {
    const int64_t columns = build.Dims(at)[1];
    switch (random() % 4) {
      case 0:
        at = build.AddRow(at, parameter({columns}));
        break;
      case 1:
        at = build.SubtractColumn(at, build.Reduce(at, Reducer::kMax));
        break;
      default:
        at = build.MatMul(at, parameter({columns, size()}));
    }
  }
  return build.Finish({at}, true);
}

TEST_CASE("within limits on 6 and 8 devices, the cheapest of all plans is found") {
  const auto make = [](int seed, Random& random, SearchOptions* options) {
    *options = Options(6 + seed % 2 * 2, seed % 4 < 2 ? "auto" : "none", 0);
    Model model = RandomTiny(random);
    return seed % 3 == 0 ? WithCopies(std::move(model), options) : model;
  };
  const Tally tally = CompareAll(200, make, " on 6 and 8 devices");
  CHECK(tally.graphs >= 100);
  CHECK(tally.tight >= 0.95 * tally.limits);
}

TEST_CASE("within limits, the cheapest of all plans with sums that stay apart is found") {
  int64_t table_cells = SearchOptions().table_cells;
  int apart = 0;
  const auto make = [&](int seed, Random& random, SearchOptions* options) {
    *options = Options(2 + seed % 2, "auto", 0);
    options->table_cells = table_cells;
    Model model = RandomLinear(options->mesh, random);
    apart += HasPartials(model.graph);
    return model;
  };
  const Tally tally = CompareAll(20, make, " whose sums may stay apart");
  CHECK(apart >= 8);
  CHECK(tally.tight >= 0.65 * tally.limits);
  table_cells = 1;  // too few to eliminate anything: the bound is that of grids
  const Tally on_grids = CompareAll(20, make, " whose sums may stay apart, on grids");
  CHECK(on_grids.tight >= 0.5 * on_grids.limits);
}

TEST_CASE("more memory never costs bytes, and too little is answered with what is needed") {
  const absl::StatusOr<Model> model = ImportFile("tests/models/mlp/model.onnx");
  REQUIRE(model.ok());
  int64_t before = INT64_MAX;
  for (const int64_t limit : {int64_t{12000}, int64_t{20000}, int64_t{40000}, int64_t{1} << 30}) {
    const absl::StatusOr<Plan> plan = SearchWithinMemory(*model, Options(8, "auto", limit));
    INFO(limit << " " << plan.status());
    REQUIRE(plan.ok());
    CHECK(ArenaBytes(*model, *plan) <= limit);
    CHECK(plan->cost.bytes() <= before);
    before = plan->cost.bytes();
  }
  CHECK(before == 0);  // every device holds all weights and has samples of its own
  const absl::StatusOr<Plan> none = SearchWithinMemory(*model, Options(8, "auto", 1000));
  CHECK(none.status().code() == absl::StatusCode::kFailedPrecondition);
  const std::string message(none.status().message());
  CHECK_THAT(message, Catch::Contains("are in use at node "));
  // What it says is enough, is.
  const std::string before_number = "the smallest that was found needs ";
  const size_t at = message.find(before_number);
  REQUIRE(at != std::string::npos);
  const int64_t enough = std::stoll(message.substr(at + before_number.size()));
  CHECK(SearchWithinMemory(*model, Options(8, "auto", enough)).ok());
  CHECK_FALSE(SearchWithinMemory(*model, Options(8, "auto", enough - 1)).ok());
}

TEST_CASE("within a limit, replicas never cost bytes") {
  int within = 0, cheaper = 0;
  for (int seed = 0; seed < 12; ++seed) {
    Random random(seed);
    Model model = RandomModel(random);
    SearchOptions options = Options(2 + seed % 5, "none", 0);
    options.copies = 8;
    model.graph = SharedGraph(model.graph, options);
    const absl::StatusOr<Plan> free = SearchWithinMemory(model, options);
    REQUIRE(free.ok());
    options.memory_limit = ArenaBytes(model, *free) - 1;
    const absl::StatusOr<Plan> none = SearchWithinMemory(model, options);
    if (!none.ok()) continue;
    options.replicate = "auto";
    const absl::StatusOr<Plan> replicated = SearchWithinMemory(model, options);
    INFO("seed " << seed << " " << replicated.status());
    REQUIRE(replicated.ok());
    CHECK(replicated->cost.bytes() <= none->cost.bytes());
    CHECK(replicated->space.replicate == "auto");
    CHECK(ArenaBytes(model, *replicated) <= options.memory_limit);
    CHECK(CheckPlan(model.graph, *replicated).ToString() == "OK");
    ++within;
    cheaper += replicated->cost.bytes() < none->cost.bytes();
  }
  CHECK(within > 0);
  CHECK(cheaper > 0);
}

// Layers whose inputs several nodes read, at the beginning and at the end.
Model RandomResidual(Random& random) {
  ModelBuilder build;
  const auto size = [&] { return int64_t{3} + static_cast<int64_t>(random() % 8); };
  const int64_t rows = size(), columns = size();
  TensorId at = build.Input({rows, columns});
  for (int layer = 0; layer < 2; ++layer) {
    const int64_t inner = size();
    const auto product = [&](TensorId of, int64_t width) {
      return build.MatMul(of, build.Input({build.Dims(of)[1], width}, TensorKind::kParameter));
    };
    const TensorId gate = build.Reduce(product(at, inner), Reducer::kMax);
    const TensorId hidden = build.Relu(product(at, inner));
    at = build.Add(at, build.SubtractColumn(product(hidden, columns), gate));
  }
  return build.Finish({at});
}

TEST_CASE("within a limit, copies never cost bytes") {
  int within = 0;
  for (const int seed : {1, 9}) {
    Random random(seed);
    const Model bare = RandomResidual(random);
    SearchOptions options = Options(2 + seed % 3, seed % 2 == 0 ? "none" : "auto", 0);
    const absl::StatusOr<Plan> free = SearchWithinMemory(bare, options);
    REQUIRE(free.ok());
    for (const int part : {90, 80}) {
      options.memory_limit = ArenaBytes(bare, *free) * part / 100;
      options.copies = 0;
      const absl::StatusOr<Plan> without = SearchWithinMemory(bare, options);
      if (!without.ok()) continue;
      options.copies = 8;
      Model model = bare;
      model.graph = SharedGraph(bare.graph, options);
      if (model.graph.tensors.size() == bare.graph.tensors.size()) continue;
      const absl::StatusOr<Plan> with = SearchWithinMemory(model, options);
      INFO("seed " << seed << ", " << options.memory_limit << " B: " << with.status());
      REQUIRE(with.ok());
      CHECK(with->cost.bytes() <= without->cost.bytes());
      CHECK(ArenaBytes(model, *with) <= options.memory_limit);
      CHECK(CheckPlan(model.graph, *with).ToString() == "OK");
      ++within;
    }
  }
  std::cout << within << " limits with copies and without\n";
  CHECK(within > 0);
}

TEST_CASE("within a limit that another's plan keeps, no more is moved than by that plan") {
  const absl::StatusOr<Model> model = ImportFile("tests/models/mlp/model.onnx");
  REQUIRE(model.ok());
  int cheaper = 0;
  for (const char* name : {"data", "zero3", "megatron", "all-row"}) {
    INFO(name);
    SearchOptions options = Options(4, "none", 0);
    options.search = name;
    const absl::StatusOr<Plan> other = Search(model->graph, options);
    REQUIRE(other.ok());
    const absl::StatusOr<Plan> plan =
        SearchWithinMemory(*model, Options(4, "auto", ArenaBytes(*model, *other)));
    REQUIRE(plan.ok());
    CHECK(plan->cost.bytes() <= other->cost.bytes());
    cheaper += plan->cost.bytes() < other->cost.bytes();
  }
  CHECK(cheaper > 0);
}

TEST_CASE("prices that were altered prove no more than what is true") {
  const absl::StatusOr<Model> model = ImportFile("tests/models/mlp/model.onnx");
  REQUIRE(model.ok());
  const absl::StatusOr<Plan> plan = SearchWithinMemory(*model, Options(8, "auto", 12000));
  REQUIRE(plan.ok());
  REQUIRE(!plan->proof.prices.empty());
  CHECK(CheckPlan(model->graph, *plan).ok());
  Plan claims = *plan;
  claims.lower_bound = claims.cost.bytes();
  if (claims.lower_bound > plan->lower_bound) CHECK_FALSE(CheckPlan(model->graph, claims).ok());
  for (const int64_t factor : {0, 2, 10}) {
    Plan bent = *plan;
    for (MemoryPrice& price : bent.proof.prices) price.price *= factor;
    CHECK_FALSE(CheckPlan(model->graph, bent).ok());  // these prices were the best of their kind
  }
  Plan unlimited = *plan;
  unlimited.space.memory = 0;
  CHECK_FALSE(CheckPlan(model->graph, unlimited).ok());
  unlimited.proof.prices[0].price = -1;
  CHECK_FALSE(CheckPlan(model->graph, unlimited).ok());
}

}  // namespace
}  // namespace yuba
