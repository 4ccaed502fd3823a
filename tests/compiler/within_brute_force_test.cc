// Plans within a limit on memory against all plans, priced by marking elements: the cheapest that
// fits is found, and where none does the smallest peak is named.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <iostream>
#include <utility>

#include "compiler/search_model.h"
#include "opsemantics/regions/boxes.h"
#include "search/check/check.h"
#include "search/engines/nothing_fits.h"
#include "search/rewrite/partials.h"
#include "tests/compiler/support/carried_graphs.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/marking.h"
#include "tests/support/part.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

// All plans of a graph, the cheapest first, priced by marking elements: no code of the search.
class EveryPlan {
 public:
  EveryPlan(const Model& model, const Mesh& mesh, bool replicate) : model_(model) {
    plan_.mesh = mesh;
    const Graph& graph = model.graph;
    for (const Tensor& tensor : graph.tensors) {
      shardings_.push_back(
          TriedChoices(mesh, tensor.type.dims, !replicate && !IsTransient(tensor)));
    }
    for (const Node& node : graph.nodes) {
      const std::vector<Index>& indices = node.definition->indices;
      std::vector<int64_t> extents(indices.size(), 1);
      for (int index : CuttableIndices(*node.definition)) extents[index] = indices[index].extent;
      shardings_.push_back(TriedChoices(mesh, extents, !IsCopy(graph, node)));
    }
    for (const std::vector<Sharding>& shardings : shardings_) {
      count_ = static_cast<int64_t>(shardings.size()) > kMost / count_ ? kMost + 1
                                                                       : count_ * shardings.size();
    }
  }

  static constexpr int64_t kMost = 20000;
  // All plans, with those in which a copy's node is not cut as the copy is.
  int64_t count() const { return count_; }

  void Price() {
    const Graph& graph = model_.graph;
    const size_t tensors = graph.tensors.size();
    std::vector<int64_t> costs(count_, 0);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
        const size_t tensor = o < 0 ? node.result : node.operands[o];
        const MarkedTable bytes = MarkedBytes(*node.definition, plan_.mesh, o,
                                              shardings_[tensors + n], shardings_[tensor]);
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

  // The cost of the cheapest plan whose program needs at most `limit` bytes; -1 where there is
  // none.
  int64_t Least(int64_t limit) {
    for (size_t i = 0; i < by_cost_.size(); ++i) {
      if (Arena(i) <= limit) return by_cost_[i].first;
    }
    return -1;
  }

  // The bytes of the program that needs the least memory.
  int64_t Smallest() {
    int64_t smallest = INT64_MAX;
    for (size_t i = 0; i < by_cost_.size(); ++i) smallest = std::min(smallest, Arena(i));
    return smallest;
  }

 private:
  int64_t Arena(size_t i) {
    if (arenas_[i] < 0) arenas_[i] = ArenaBytes(model_.graph, PlanOf(by_cost_[i].second));
    return arenas_[i];
  }

  size_t Choice(int64_t plan, size_t element) const {
    if (strides_.empty()) {
      int64_t stride = 1;
      for (const std::vector<Sharding>& shardings : shardings_) {
        strides_.push_back(stride);
        stride *= static_cast<int64_t>(shardings.size());
      }
    }
    return plan / strides_[element] % static_cast<int64_t>(shardings_[element].size());
  }

  bool IsPlan(int64_t plan) const {
    const Graph& graph = model_.graph;
    const size_t tensors = graph.tensors.size();
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      if (IsCopy(graph, node) && shardings_[tensors + n][Choice(plan, tensors + n)] !=
                                     shardings_[node.result][Choice(plan, node.result)]) {
        return false;
      }
    }
    return true;
  }

  const search::Plan& PlanOf(int64_t plan) {
    plan_.tensors.clear();
    plan_.nodes.clear();
    for (size_t element = 0; element < shardings_.size(); ++element) {
      const bool tensor = element < model_.graph.tensors.size();
      (tensor ? plan_.tensors : plan_.nodes)
          .emplace_back(shardings_[element][Choice(plan, element)]);
    }
    return plan_;
  }

  const Model& model_;
  search::Plan plan_;
  std::vector<std::vector<Sharding>> shardings_;  // [tensor], then [node]: all choices
  mutable std::vector<int64_t> strides_;
  int64_t count_ = 1;
  std::vector<std::pair<int64_t, int64_t>> by_cost_;  // cost, plan
  std::vector<int64_t> arenas_;                       // [entry of by_cost_]; -1: not known yet
};

struct Tally {
  int graphs = 0, limits = 0, refused = 0, tight = 0;
  int missed = 0;     // limits within which the search missed a plan that moves less, or any plan
  int smallest = 0;   // refused limits where the smallest peak of all plans is named
  int64_t plans = 0;  // plans among which the cheapest within each limit was found

  void Print(const std::string& of) const {
    std::cout << graphs << " random graphs" << of << ", " << plans << " plans, " << limits
              << " limits within which there are plans, " << refused << " without (" << smallest
              << " times the smallest peak of all is named); gap 0 on " << tight
              << ", the cheapest missed on " << missed << "\n";
  }
};

// Searches within several limits, and counts where that does not find the cheapest plan that there
// is, or that there is none.
void CompareWithin(const Model& model, search::SearchOptions options, Tally* tally) {
  EveryPlan every(model, options.mesh, options.replicate == search::Replicate::kAuto);
  if (every.count() > EveryPlan::kMost) return;
  every.Price();
  ++tally->graphs;
  tally->plans += every.count();
  const absl::StatusOr<search::Plan> free = search::Search(model.graph, options);
  REQUIRE_THAT(free, IsOk());
  const int64_t arena = ArenaBytes(model.graph, *free);
  for (const int64_t limit : {arena * 5 / 10, arena * 7 / 10, arena * 9 / 10, arena - 1, arena}) {
    INFO("limit " << limit);
    options.memory_limit = limit;
    const int64_t least = every.Least(limit);
    const absl::StatusOr<search::Plan> plan = search::Search(model.graph, options);
    const int64_t found = plan.ok() ? plan->cost.bytes() : -1;
    if (found != least) {
      ++tally->missed;
      std::cout << "on " << options.mesh.devices() << " devices within " << limit
                << " bytes: " << found << " bytes moved where plans move " << least << "\n";
    }
    tally->refused += !plan.ok();
    if (!plan.ok() && least < 0) {
      CHECK(search::SmallestPeak(plan.status()) >= every.Smallest());
      tally->smallest += search::SmallestPeak(plan.status()) == every.Smallest();
    }
    if (!plan.ok()) continue;
    REQUIRE(least >= 0);
    CHECK(ArenaBytes(model.graph, *plan) <= limit);
    CHECK(plan->lower_bound <= least);
    CHECK(plan->cost.bytes() >= least);
    CHECK_THAT(search::CheckPlan(model.graph, *plan), IsOk());
    ++tally->limits;
    tally->tight += plan->lower_bound == least;
  }
}

// A model for a seed, and how its plans are searched.
using Case = std::function<Model(int seed, Random& random, search::SearchOptions* options)>;

// Compares the search with all plans for so many seeds. Asserts that no plan is missed, and that
// nearly all refusals name the smallest peak of all plans.
Tally CompareAll(int seeds, const Case& make, const std::string& of) {
  Tally tally;
  for (int seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    search::SearchOptions options;
    const Model model = make(seed, random, &options);
    INFO("seed " << seed);
    CompareWithin(model, options, &tally);
  }
  tally.Print(of);
  CHECK(tally.missed == 0);
  CHECK(tally.smallest >= 0.99 * tally.refused);
  return tally;
}

search::SearchOptions On(int devices, bool replicate) {
  search::SearchOptions options;
  options.mesh = MeshOf(devices);
  options.memory_of = ArenaBytes;
  options.replicate = replicate ? search::Replicate::kAuto : search::Replicate::kNone;
  return options;
}

Model WithCopies(Model model, search::SearchOptions* options) {
  options->copies = true;
  model.graph = search::SharedGraph(model.graph, *options);
  return model;
}

TEST_CASE("within limits, the cheapest of all plans is found") {
  const auto make = [](int seed, Random& random, search::SearchOptions* options) {
    *options = On(2 + seed % 3, seed % 4 < 2);
    Model model = RandomModel(random);
    return seed % 5 == 0 ? WithCopies(std::move(model), options) : model;
  };
  const Tally tally = CompareAll(Part(500), make, "");
  CHECK(tally.graphs >= Part(150));
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
      case 0: at = build.AddRow(at, parameter({columns})); break;
      case 1: at = build.SubtractColumn(at, build.Reduce(at, Reducer::kMax)); break;
      default: at = build.MatMul(at, parameter({columns, size()}));
    }
  }
  return build.Finish({at}, true);
}

TEST_CASE("within limits on 6 and 8 devices, the cheapest of all plans is found") {
  const auto make = [](int seed, Random& random, search::SearchOptions* options) {
    *options = On(6 + seed % 2 * 2, seed % 4 < 2);
    Model model = RandomTiny(random);
    return seed % 3 == 0 ? WithCopies(std::move(model), options) : model;
  };
  const Tally tally = CompareAll(Part(200), make, " on 6 and 8 devices");
  CHECK(tally.graphs >= Part(100));
}

// One to three nodes from a state to its next value, of which a copy may have to be made.
Model RandomTinyState(Random& random) {
  ModelBuilder build;
  const auto size = [&] { return int64_t{2} + static_cast<int64_t>(random() % 4); };
  const int64_t rows = size(), columns = size();
  const TensorId state = build.Input({rows, columns});
  TensorId next = build.Input({rows, columns});
  std::vector<TensorId> outputs;
  switch (random() % 4) {
    case 0: next = build.Add(next, state); break;
    case 1: next = build.MatMul(state, build.Input({columns, columns})); break;
    case 2:
      next = build.Window(state, build.Input({3, columns}, TensorKind::kParameter), 1, 1);
      break;
    default: break;  // the state is not read here
  }
  next = build.AddRow(next, build.Input({columns}, TensorKind::kParameter));
  if (random() % 2 == 0) outputs.push_back(build.Subtract(next, state));  // needs both
  if (random() % 2 == 0) outputs.push_back(build.Reduce(state, Reducer::kSum));
  outputs.push_back(next);
  return Carried(build.Finish(outputs), {{state, next}}).model;
}

TEST_CASE("within limits, the cheapest of all plans of a graph with a state is found") {
  int64_t table_cells = search::SearchOptions().table_cells;
  const auto make = [&](int seed, Random& random, search::SearchOptions* options) {
    *options = On(2 + seed % 3, seed % 4 < 2);
    options->table_cells = table_cells;
    Model model = RandomTinyState(random);
    return seed % 5 == 0 ? WithCopies(std::move(model), options) : model;
  };
  const Tally tally = CompareAll(Part(300), make, " with a state");
  CHECK(tally.graphs >= Part(100));
  table_cells = 1;  // too few to eliminate anything: the bound is that of grids
  CompareAll(Part(60), make, " with a state, on grids");
}

TEST_CASE("within limits, the cheapest of all plans with sums that stay unreduced is found") {
  int64_t table_cells = search::SearchOptions().table_cells;
  int unreduced = 0;
  const auto make = [&](int seed, Random& random, search::SearchOptions* options) {
    *options = On(2 + seed % 2, true);
    options->table_cells = table_cells;
    Model model = RandomLinear(options->mesh, random);
    unreduced += search::HasPartials(model.graph);
    return model;
  };
  CompareAll(Part(20), make, " whose sums may stay apart");
  CHECK(unreduced >= Part(8));
  table_cells = 1;  // too few to eliminate anything: the bound is that of grids
  CompareAll(Part(20), make, " whose sums may stay apart, on grids");
}

}  // namespace
}  // namespace yuba::compiler
