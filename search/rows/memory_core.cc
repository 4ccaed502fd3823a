#include "search/rows/memory_core.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "search/rows/memory_presolve.h"

namespace yuba::search {
namespace {

int64_t Plus(int64_t a, int64_t b) { return std::min(kForbidden, a + b); }

Cells Shared(std::vector<int64_t> cells) {
  return std::make_shared<const std::vector<int64_t>>(std::move(cells));
}

class Reduction {
 public:
  Reduction(const PairwiseProblem& problem, Leaves leaves) : problem_(problem), leaves_(leaves) {
    const int count = static_cast<int>(problem.variables.size());
    costs_.resize(count);
    values_.resize(count);
    neighbours_.resize(count);
    alive_.assign(count, true);
    parent_.assign(count, -1);
    map_.resize(count);
    for (int v = 0; v < count; ++v) {
      costs_[v].assign(problem.variables[v]->size, 0);
      for (int x = 0; x < problem.variables[v]->size; ++x) values_[v].push_back(x);
    }
    has_memory_.assign(count, false);
    for (const MemoryUse& use : problem.memory.uses) {
      const auto [least, most] = std::minmax_element(use.usage->begin(), use.usage->end());
      if (use.begin < use.end && *least != *most) has_memory_[use.variable] = true;
    }
    has_buffers_.assign(count, false);
    for (const MemoryBuffer& buffer : problem.memory.buffers) {
      const std::vector<int>& scope = problem.factors[buffer.factor].scope;
      for (int v : scope) (scope.size() == 1 ? has_memory_ : has_buffers_)[v] = true;
    }
    for (const Factor& factor : problem.factors) AddFactor(factor);
  }

  // False where every assignment is forbidden.
  bool Run() {
    const int count = static_cast<int>(costs_.size());
    for (int v = 0; v < count; ++v) Wake(v);
    while (!queue_.empty()) {
      int v = *queue_.begin();
      queue_.erase(queue_.begin());
      if (!alive_[v]) continue;
      if (!DropValues(v)) return false;
      if (values_[v].size() == 1)
        MakeConstant(v);
      else
        Absorb(v);
    }
    return true;
  }

  MemoryCore Result() {
    const int count = static_cast<int>(costs_.size());
    MemoryCore core;
    core.constant = constant_;
    core.root.assign(count, -1);
    core.value.resize(count);
    for (int v = 0; v < count; ++v) {
      if (!alive_[v]) core.value[v] = {values_[v][0]};  // its only value; merged ones: see below
      if (!alive_[v]) continue;
      core.root[v] = core.size();
      core.own.push_back(v);
      core.costs.push_back(std::move(costs_[v]));
      core.value[v] = values_[v];
    }
    core.edges_of.resize(core.size());
    for (int v = 0; v < count; ++v) {
      for (auto& [u, edge] : neighbours_[v]) {
        if (u < v) continue;
        CoreEdge& between = edges_[edge];
        if (between.a != v) Transpose(between);
        between.a = core.root[v];
        between.b = core.root[u];
        core.edges_of[between.a].push_back(static_cast<int>(core.edges.size()));
        core.edges_of[between.b].push_back(static_cast<int>(core.edges.size()));
        core.edges.push_back(std::move(between));
      }
    }
    for (size_t i = merged_.size(); i-- > 0;) {  // later merges first: parents come before children
      int v = merged_[i], p = parent_[v];
      core.root[v] = core.root[p];
      core.value[v].clear();
      // map_ is by the parent's value in the problem, since values of the parent may have been
      // dropped.
      for (int of_parent : core.value[p]) core.value[v].push_back(map_[v].at(of_parent));
    }
    MakeRows(problem_, core);
    return core;
  }

 private:
  void Wake(int v) { queue_.insert(v); }

  void AddFactor(const Factor& factor) {
    if (factor.scope.size() == 1) {
      std::vector<int64_t>& costs = costs_[factor.scope[0]];
      for (size_t x = 0; x < costs.size(); ++x) costs[x] = Plus(costs[x], (*factor.cells)[x]);
    } else {
      AddEdge(factor.scope[0], factor.scope[1], factor.cells);
    }
  }

  void AddEdge(int a, int b, Cells cells) {
    auto [place, is_new] = neighbours_[a].emplace(b, static_cast<int>(edges_.size()));
    if (is_new) {
      neighbours_[b][a] = place->second;
      edges_.push_back({a, b, std::move(cells)});
      return;
    }
    CoreEdge& edge = edges_[place->second];
    if (edge.a != a) Transpose(edge);
    std::vector<int64_t> sum = *edge.cells;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = Plus(sum[i], (*cells)[i]);
    edge.cells = Shared(std::move(sum));
  }

  void Transpose(CoreEdge& edge) {
    const size_t rows = values_[edge.a].size(), columns = values_[edge.b].size();
    std::vector<int64_t> cells(edge.cells->size());
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) cells[j * rows + i] = edge.at(i * columns + j);
    }
    edge.cells = Shared(std::move(cells));
    std::swap(edge.a, edge.b);
  }

  CoreEdge& EdgeFrom(int a, int b) {
    CoreEdge& edge = edges_[neighbours_[a].at(b)];
    if (edge.a != a) Transpose(edge);
    return edge;
  }

  void Unlink(int a, int b) {
    CoreEdge& edge = edges_[neighbours_[a].at(b)];
    edge.cells = nullptr;
    neighbours_[a].erase(b);
    neighbours_[b].erase(a);
  }

  // Drops the values of v that its costs or a neighbour forbid; false where none is left.
  bool DropValues(int v) {
    std::vector<bool> keep(values_[v].size(), true);
    for (size_t x = 0; x < keep.size(); ++x) keep[x] = costs_[v][x] < kForbidden;
    for (const auto& [u, edge] : neighbours_[v]) {
      const CoreEdge& between = edges_[edge];
      const size_t others = values_[u].size();
      for (size_t x = 0; x < keep.size(); ++x) {
        bool supported = false;
        for (size_t y = 0; y < others && keep[x] && !supported; ++y) {
          supported =
              between.at(between.a == v ? x * others + y : y * keep.size() + x) < kForbidden;
        }
        keep[x] = supported;
      }
    }
    const size_t left = std::count(keep.begin(), keep.end(), true);
    if (left == 0) return false;
    if (left < keep.size()) Keep(v, keep);
    return true;
  }

  void Keep(int v, const std::vector<bool>& keep) {
    for (const auto& [u, number] : neighbours_[v]) {
      CoreEdge& edge = EdgeFrom(v, u);
      const size_t columns = values_[u].size();
      std::vector<int64_t> cells;
      for (size_t x = 0; x < keep.size(); ++x) {
        if (!keep[x]) continue;
        cells.insert(cells.end(), edge.cells->begin() + x * columns,
                     edge.cells->begin() + (x + 1) * columns);
      }
      edge.cells = Shared(std::move(cells));
      Wake(u);
    }
    size_t to = 0;
    for (size_t x = 0; x < keep.size(); ++x) {
      if (!keep[x]) continue;
      values_[v][to] = values_[v][x];
      costs_[v][to++] = costs_[v][x];
    }
    values_[v].resize(to);
    costs_[v].resize(to);
  }

  void MakeConstant(int v) {
    constant_ += costs_[v][0];
    costs_[v][0] = 0;
    while (!neighbours_[v].empty()) {
      int u = neighbours_[v].begin()->first;
      const CoreEdge& edge = EdgeFrom(v, u);
      for (size_t y = 0; y < costs_[u].size(); ++y) {
        costs_[u][y] = Plus(costs_[u][y], edge.at(y));
        if (IsMoved(edge.at(y))) has_memory_[u] = has_memory_[u] || has_buffers_[v];
      }
      Unlink(v, u);
      Wake(u);
    }
    alive_[v] = false;
  }

  // Merges into v the neighbours whose value follows from v's.
  void Absorb(int v) {
    std::vector<int> others;
    for (const auto& [u, edge] : neighbours_[v]) others.push_back(u);
    for (int u : others) {
      if (!neighbours_[v].count(u)) continue;
      absl::optional<std::vector<int>> follows = Follows(v, u);
      if (follows.has_value()) Merge(v, u, *follows);
    }
  }

  // By value of v: the value of u, if it follows. It does where v's value allows one value of u
  // alone, and where u is a leaf of which only the cheapest value matters, unless its buffers do:
  // there are none where its edge moves nothing.
  absl::optional<std::vector<int>> Follows(int v, int u) {
    const CoreEdge& edge = edges_[neighbours_[v].at(u)];
    const size_t columns = values_[u].size();
    const size_t down = edge.a == v ? columns : 1, right = edge.a == v ? 1 : values_[v].size();
    const bool leaf = leaves_ == Leaves::kCheapest && neighbours_[u].size() == 1 && !has_memory_[u];
    std::vector<int> follows;
    for (size_t x = 0; x < values_[v].size(); ++x) {
      const int64_t* row = &(*edge.cells)[x * down];
      int best = -1, possible = 0;
      for (size_t y = 0; y < columns; ++y) {
        if (row[y * right] >= kForbidden) continue;
        ++possible;
        if (best < 0 || row[y * right] + costs_[u][y] < row[best * right] + costs_[u][best])
          best = static_cast<int>(y);
      }
      if (possible == 0 || (possible > 1 && !leaf)) return absl::nullopt;
      if (possible > 1 && has_buffers_[u] && IsMoved(row[best * right])) return absl::nullopt;
      follows.push_back(best);
    }
    return follows;
  }

  void Merge(int v, int u, const std::vector<int>& follows) {
    const CoreEdge& link = EdgeFrom(v, u);
    const size_t columns = values_[u].size();
    for (size_t x = 0; x < follows.size(); ++x) {
      costs_[v][x] =
          Plus(costs_[v][x], Plus(costs_[u][follows[x]], link.at(x * columns + follows[x])));
      map_[u][values_[v][x]] = values_[u][follows[x]];
      if (IsMoved(link.at(x * columns + follows[x])))
        has_memory_[v] = has_memory_[v] || has_buffers_[u];
    }
    Unlink(v, u);
    while (!neighbours_[u].empty()) {
      int w = neighbours_[u].begin()->first;
      const CoreEdge& edge = EdgeFrom(u, w);
      const size_t width = values_[w].size();
      std::vector<int64_t> cells;
      for (int y : follows) {
        cells.insert(cells.end(), edge.cells->begin() + y * width,
                     edge.cells->begin() + (y + 1) * width);
      }
      Unlink(u, w);
      AddEdge(v, w, Shared(std::move(cells)));
      Wake(w);
    }
    has_memory_[v] = has_memory_[v] || has_memory_[u];
    has_buffers_[v] = has_buffers_[v] || has_buffers_[u];
    alive_[u] = false;
    parent_[u] = v;
    merged_.push_back(u);
    Wake(v);
  }

  const PairwiseProblem& problem_;
  const Leaves leaves_;
  std::vector<std::vector<int64_t>> costs_;
  std::vector<std::vector<int>> values_;        // by variable: those not dropped, of the problem
  std::vector<std::map<int, int>> neighbours_;  // to the number of the edge
  std::vector<CoreEdge> edges_;
  std::vector<bool> alive_, has_memory_;
  std::vector<bool> has_buffers_;  // on some edge
  std::vector<int> parent_, merged_;
  std::vector<std::map<int, int>> map_;  // by variable: the parent's value -> its own
  std::set<int> queue_;
  int64_t constant_ = 0;
};

}  // namespace

Assignment MemoryCore::Expand(const Assignment& core) const {
  Assignment all(root.size());
  for (size_t v = 0; v < all.size(); ++v) all[v] = value[v][root[v] < 0 ? 0 : core[root[v]]];
  return all;
}

Assignment MemoryCore::Reduce(const Assignment& assignment) const {
  Assignment core(size(), 0);
  for (int v = 0; v < size(); ++v) {
    const std::vector<int>& known = value[own[v]];
    const auto place = std::find(known.begin(), known.end(), assignment[own[v]]);
    if (place != known.end()) core[v] = static_cast<int>(place - known.begin());
  }
  return core;
}

absl::optional<MemoryCore> MakeCore(const PairwiseProblem& problem, Leaves leaves) {
  Reduction reduction(problem, leaves);
  if (!reduction.Run()) return absl::nullopt;
  return reduction.Result();
}

}  // namespace yuba::search
