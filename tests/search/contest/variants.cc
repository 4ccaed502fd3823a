#include "tests/search/contest/variants.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "opsemantics/base/check.h"
#include "search/rows/memory_core.h"

namespace yuba::search {
namespace {

Cells MakeCells(std::vector<int64_t> cells) {
  return std::make_shared<const std::vector<int64_t>>(std::move(cells));
}

// The same order with every library: std::shuffle may differ.
std::vector<int> RandomOrder(size_t count, std::mt19937_64& random) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

constexpr int kNodes = 4, kChoices = 6;  // of a layer, of a node

// What the nodes and edges of all layers have in common, as repeated layers of a network do.
struct Layer {
  std::vector<Cells> costs, usages, edges;
};

Layer RandomLayer(std::mt19937_64& random) {
  Layer layer;
  for (int i = 0; i < kNodes; ++i) {
    std::vector<int64_t> cost, usage;
    for (int x = 0; x < kChoices; ++x) {
      const int64_t split = int64_t{1} << (random() % 5);
      usage.push_back(1600 / split);
      cost.push_back(static_cast<int64_t>(random() % 40) * split);
    }
    layer.costs.push_back(MakeCells(std::move(cost)));
    layer.usages.push_back(MakeCells(std::move(usage)));
  }
  for (int i = 0; i < kNodes + 2; ++i) {
    std::vector<int64_t> cells;
    for (int x = 0; x < kChoices; ++x) {
      for (int y = 0; y < kChoices; ++y) {
        const bool forbidden = x != y && random() % 3 == 0;
        const int64_t move = x == y ? 0 : 2000 + static_cast<int64_t>(random() % 20000);
        cells.push_back(forbidden ? kForbidden : move);
      }
    }
    layer.edges.push_back(MakeCells(std::move(cells)));
  }
  return layer;
}

}  // namespace

PairwiseProblem Tighter(PairwiseProblem problem, double share) {
  const absl::optional<MemoryCore> core = MakeCore(problem);
  YUBA_CHECK(core.has_value());
  const int64_t above = problem.memory.limit - core->least_peak;
  problem.memory.limit -= static_cast<int64_t>(share * static_cast<double>(above));
  return problem;
}

PairwiseProblem Permuted(const PairwiseProblem& problem, uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<int> place = RandomOrder(problem.variables.size(), random);
  PairwiseProblem result;
  result.variables.resize(problem.variables.size());
  for (size_t v = 0; v < place.size(); ++v) result.variables[place[v]] = problem.variables[v];
  std::vector<int> new_number(problem.factors.size());
  for (const int f : RandomOrder(problem.factors.size(), random)) {
    new_number[f] = static_cast<int>(result.factors.size());
    Factor factor = problem.factors[f];
    for (int& v : factor.scope) v = place[v];
    result.factors.push_back(std::move(factor));
  }
  result.memory = problem.memory;
  for (MemoryUse& use : result.memory.uses) use.variable = place[use.variable];
  for (MemoryBuffer& buffer : result.memory.buffers) buffer.factor = new_number[buffer.factor];
  return result;
}

PairwiseProblem Perturbed(PairwiseProblem problem, double share, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (Factor& factor : problem.factors) {
    std::vector<int64_t> cells = *factor.cells;
    for (int64_t& cell : cells) {
      const double by = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
      if (cell < kForbidden) cell += static_cast<int64_t>(share * by * static_cast<double>(cell));
    }
    factor.cells = MakeCells(std::move(cells));
  }
  return problem;
}

PairwiseProblem Allowed(PairwiseProblem problem) {
  int64_t largest = 0;
  for (const Factor& factor : problem.factors) {
    for (const int64_t cell : *factor.cells) {
      if (cell < kForbidden) largest = std::max(largest, cell);
    }
  }
  for (Factor& factor : problem.factors) {
    std::vector<int64_t> cells = *factor.cells;
    for (int64_t& cell : cells) cell = std::min(cell, 2 * largest);
    factor.cells = MakeCells(std::move(cells));
  }
  return problem;
}

PairwiseProblem Layered(int layers, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto [costs, usages, edges] = RandomLayer(random);
  PairwiseProblem problem;
  const auto node = [&](int layer, int i) { return layer * kNodes + i; };
  for (int layer = 0; layer < layers; ++layer) {
    for (int i = 0; i < kNodes; ++i) {
      problem.variables.push_back(PlainDomain(kChoices));
      problem.factors.push_back({{node(layer, i)}, costs[i]});
      // Weights are in use all the time, what is computed for a few layers.
      const bool weight = i == 0;
      problem.memory.uses.push_back(
          {node(layer, i), weight ? 0 : layer, weight ? layers : layer + 1 + 8 * i, usages[i]});
      if (i > 0) problem.factors.push_back({{node(layer, i - 1), node(layer, i)}, edges[i]});
    }
    if (layer > 0) {
      problem.factors.push_back({{node(layer - 1, kNodes - 1), node(layer, 1)}, edges[0]});
      problem.factors.push_back({{node(layer - 1, 2), node(layer, 2)}, edges[kNodes]});
    }
    if (layer >= 5) {
      problem.factors.push_back({{node(layer - 5, 1), node(layer, 3)}, edges[kNodes + 1]});
    }
  }
  const absl::optional<MemoryCore> core = MakeCore(problem);
  YUBA_CHECK(core.has_value());
  problem.memory.limit = core->least_peak + core->least_peak / 10;
  return problem;
}

}  // namespace yuba::search
