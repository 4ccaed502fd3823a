#include "search/label.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "search/canonical.h"
#include "search/cluster.h"
#include "search/solve.h"
#include "search/suggest.h"
#include "search/symmetry.h"

namespace yuba {
namespace {

constexpr int kSweeps = 12;       // of local search
constexpr int kRounds = 20;       // of all suggestions together
constexpr size_t kMostCuts = 64;  // of one variable in a round

class Labelling {
 public:
  Labelling(const Graph& graph, const LabelOptions& options, const std::vector<TensorUse>& uses,
            const std::vector<Grid>& grids)
      : graph_(graph),
        options_(options),
        mesh_(options.mesh),
        tensors_(static_cast<int>(graph.tensors.size())),
        grids_(grids) {
    const size_t elements = graph.tensors.size() + graph.nodes.size();
    clusters_ = MakeClusters(graph, std::vector<bool>(elements, false));
    cut_.resize(elements);
    known_.assign(elements, false);
    ends_.resize(elements);
    std::vector<int> next_operand(graph.nodes.size(), -1);
    for (const TensorUse& use : uses) {
      int n = use.node - tensors_, operand = next_operand[n]++;
      Edge edge = {use.costs.get(), use.kind, use.tensor, use.node,
                   &Along(use.kind, *graph.nodes[n].definition, operand)};
      int a = clusters_.representative[use.tensor], b = clusters_.representative[use.node];
      ends_[a].push_back(static_cast<int>(edges_.size()));
      if (a != b) ends_[b].push_back(static_cast<int>(edges_.size()));
      edges_.push_back(edge);
    }
    OrderVariables();
  }

  Cuts Run() {
    Start();
    Descend();
    for (int round = 0; round < kRounds; ++round) {
      if (!SolveTogether()) break;
      Descend();
    }
    return cut_;
  }

 private:
  struct Edge {
    UseCosts* costs;
    int kind, tensor, node;        // elements
    const std::vector<int>* dims;  // of the tensor, along each index of the node
  };

  const std::vector<int>& Along(int kind, const Definition& definition, int operand) {
    auto [place, is_new] = along_.emplace(kind, std::vector<int>());
    if (is_new) place->second = DimsAlong(definition, operand);
    return place->second;
  }

  // Variables as the graph computes them.
  void OrderVariables() {
    std::vector<std::pair<int, int>> places;
    for (size_t element = 0; element < cut_.size(); ++element) {
      int e = static_cast<int>(element);
      if (clusters_.representative[e] != e) continue;
      int place = 3 * (e - tensors_) + 1;
      if (e < tensors_) {
        const Tensor& tensor = graph_.tensors[e];
        place = tensor.producer >= 0       ? 3 * tensor.producer + 2
                : tensor.consumers.empty() ? -1
                                           : 3 * tensor.consumers[0];
      }
      places.push_back({place, e});
      spaces_[e] = e < tensors_ ? TensorCuts(graph_, e) : NodeCuts(graph_, e - tensors_);
    }
    std::sort(places.begin(), places.end());
    for (const auto& place : places) order_.push_back(place.second);
    for (size_t element = 0; element < cut_.size(); ++element) {
      members_[clusters_.representative[element]].push_back(static_cast<int>(element));
    }
  }

  // The cut of `element` when its representative is cut so.
  Cut Mapped(int element, const Cut& cut) const {
    if (clusters_.representative[element] == element) return cut;
    Cut mapped;
    for (int d : clusters_.dims[element]) mapped.axes.push_back(d < 0 ? AxisList() : cut.axes[d]);
    return mapped;
  }

  void Set(int variable, const Cut& cut) {
    for (int element : members_[variable]) {
      cut_[element] = Mapped(element, cut);
      known_[element] = true;
    }
  }

  // What the other end of an edge would like to see of `variable`.
  Wish WishOf(const Edge& edge, int variable) const {
    const bool at_tensor = clusters_.representative[edge.tensor] == variable;
    const int here = at_tensor ? edge.tensor : edge.node;
    const Cut& there = cut_[at_tensor ? edge.node : edge.tensor];
    Wish at_element(clusters_.dims[here].size());
    for (size_t i = 0; i < edge.dims->size(); ++i) {
      int d = (*edge.dims)[i];
      if (d < 0) continue;
      if (at_tensor)
        at_element[d] = there.axes[i];
      else
        at_element[i] = there.axes[d];
    }
    if (here == variable) return at_element;
    Wish wish(clusters_.dims[variable].size());
    for (size_t e = 0; e < at_element.size(); ++e) {
      int d = clusters_.dims[here][e];
      if (d >= 0) wish[d] = at_element[e];
    }
    return wish;
  }

  // What the neighbours suggest: one follows the first, then another.
  std::vector<Cut> Suggestions(int variable) {
    std::vector<Wish> wishes;
    for (int e : ends_[variable]) {
      const Edge& edge = edges_[e];
      int a = clusters_.representative[edge.tensor], b = clusters_.representative[edge.node];
      int other = a == variable ? b : a;
      if (other == variable || !known_[other]) continue;
      Wish wish = WishOf(edge, variable);
      if (std::find(wishes.begin(), wishes.end(), wish) == wishes.end() && wishes.size() < 6) {
        wishes.push_back(std::move(wish));
      }
    }
    std::vector<Cut> cuts;
    auto add = [&](Cut cut) {
      if (options_.nesting == Nesting::kLevel) {
        for (AxisList& axes : cut.axes) std::sort(axes.begin(), axes.end());
      }
      if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end()) cuts.push_back(std::move(cut));
    };
    std::vector<Grid> grids = {grids_[variable]};
    if (known_[variable]) {
      add(cut_[variable]);
      Grid now = GridOf(cut_[variable], mesh_);
      if (now != grids[0]) grids.push_back(now);
    }
    auto follow = [&](const std::vector<const Wish*>& some) {
      for (const Grid& grid : grids) {
        add(CutOfGrid(grid, some, mesh_, false));
        add(CutOfGrid(grid, some, mesh_, true));
      }
      if (!some.empty()) add(CutByWishes(spaces_[variable], some, mesh_));
    };
    if (wishes.empty()) follow({});
    for (const Wish& first : wishes) {
      if (wishes.size() == 1) follow({&first});
      for (const Wish& second : wishes) {
        if (&second != &first) follow({&first, &second});
      }
    }
    return cuts;
  }

  int64_t CostOfEdge(const Edge& edge, const Cut& tensor, const Cut& node) {
    // Equal up to names of axes is equal: each axis is called by the place where it comes first.
    std::string key(reinterpret_cast<const char*>(&edge.kind), sizeof(edge.kind));
    std::vector<char> name(mesh_.axes.size(), -1);
    std::map<int, char> next;
    for (const Cut* cut : {&tensor, &node}) {
      for (const AxisList& axes : cut->axes) {
        for (uint8_t axis : axes) {
          int size = mesh_.axes[axis].size;
          if (name[axis] < 0) name[axis] = next[size]++;
          key += static_cast<char>(size);
          key += name[axis];
        }
        key += '\xff';
      }
    }
    auto [place, is_new] = costs_.emplace(std::move(key), 0);
    if (is_new) place->second = edge.costs->Exact(tensor, node);
    return place->second;
  }

  // Of all edges to known neighbours.
  int64_t CostAt(int variable, const Cut& cut) {
    int64_t cost = 0;
    for (int e : ends_[variable]) {
      const Edge& edge = edges_[e];
      const bool at_tensor = clusters_.representative[edge.tensor] == variable;
      const bool at_node = clusters_.representative[edge.node] == variable;
      if ((!at_tensor && !known_[edge.tensor]) || (!at_node && !known_[edge.node])) continue;
      cost += CostOfEdge(edge, at_tensor ? Mapped(edge.tensor, cut) : cut_[edge.tensor],
                         at_node ? Mapped(edge.node, cut) : cut_[edge.node]);
    }
    return cost;
  }

  bool SetBest(int variable) {
    int64_t best = std::numeric_limits<int64_t>::max();
    Cut chosen;
    bool changed = false;
    for (const Cut& cut : Suggestions(variable)) {  // the present one comes first
      int64_t cost = CostAt(variable, cut);
      if (cost >= best) continue;
      changed = best < std::numeric_limits<int64_t>::max() || !known_[variable];
      best = cost;
      chosen = cut;
    }
    if (changed) Set(variable, chosen);
    return changed;
  }

  bool HasKnownNeighbour(int variable) const {
    for (int e : ends_[variable]) {
      int a = clusters_.representative[edges_[e].tensor];
      if (known_[a == variable ? edges_[e].node : edges_[e].tensor]) return true;
    }
    return false;
  }

  // One variable after the other, those without a known neighbour as late as can be: weights follow
  // the nodes that read them.
  void Start() {
    std::vector<int> rest = order_;
    while (!rest.empty()) {
      std::vector<int> next;
      for (int v : rest) {
        if (HasKnownNeighbour(v))
          SetBest(v);
        else
          next.push_back(v);
      }
      if (next.size() == rest.size()) SetBest(FirstOf(next));
      rest.clear();
      for (int v : next) {
        if (!known_[v]) rest.push_back(v);
      }
    }
  }

  // The first that is computed, else the first.
  int FirstOf(const std::vector<int>& variables) const {
    for (int v : variables) {
      if (v >= tensors_ || graph_.tensors[v].producer >= 0) return v;
    }
    return variables[0];
  }

  void Descend() {
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      bool changed = false;
      for (size_t i = 0; i < order_.size(); ++i) {
        changed |= SetBest(order_[sweep % 2 == 0 ? order_.size() - 1 - i : i]);
      }
      if (!changed) break;
    }
  }

  // Variables of one kind share their suggestions, so that repeated parts of the graph are repeated
  // parts of the problem.
  bool SolveTogether() {
    std::map<std::string, std::vector<int>> kinds;
    for (int v : order_) kinds[KindOf(v)].push_back(v);
    PairwiseProblem problem;
    std::map<int, int> number;
    std::map<int, std::shared_ptr<const std::vector<Cut>>> lists;
    std::map<std::string, DomainPtr> domains;
    for (const auto& [kind, variables] : kinds) {
      auto list = std::make_shared<const std::vector<Cut>>(Pool(variables));
      Domain domain;
      domain.size = static_cast<int>(list->size());
      domain.images.emplace_back();
      for (int i = 0; i < domain.size; ++i) domain.images[0].push_back(i);
      domains[kind] = std::make_shared<const Domain>(std::move(domain));
      for (int v : variables) lists[v] = list;
    }
    Assignment start;
    for (int v : order_) {
      number[v] = static_cast<int>(problem.variables.size());
      problem.variables.push_back(domains[KindOf(v)]);
      const std::vector<Cut>& list = *lists[v];
      start.push_back(
          static_cast<int>(std::find(list.begin(), list.end(), cut_[v]) - list.begin()));
    }
    AddFactors(lists, number, &problem);
    int64_t before = yuba::CostOf(problem, start);
    Solution solution;
    if (auto exact = SolveExactly(problem, options_.table_cells))
      solution = exact->solution;
    else
      solution = SolveLocally(problem, {start}, options_.table_cells);
    if (solution.cost >= before) return false;
    for (int v : order_) Set(v, (*lists[v])[solution.assignment[number[v]]]);
    return true;
  }

  std::string KindOf(int variable) {
    std::string kind = variable < tensors_ ? "t" : "n";
    for (int e : ends_[variable]) {
      kind += ' ' + std::to_string(edges_[e].kind);
      kind += clusters_.representative[edges_[e].tensor] == variable ? 't' : 'n';
    }
    return kind;
  }

  // The cuts that are in use, then what most neighbours suggest.
  std::vector<Cut> Pool(const std::vector<int>& variables) {
    std::map<std::vector<AxisList>, int> votes;
    std::vector<Cut> pool;
    for (int v : variables) {
      if (std::find(pool.begin(), pool.end(), cut_[v]) == pool.end()) pool.push_back(cut_[v]);
      for (const Cut& cut : Suggestions(v)) ++votes[cut.axes];
    }
    std::vector<std::pair<int, std::vector<AxisList>>> ranked;
    for (const auto& vote : votes) ranked.push_back({-vote.second, vote.first});
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [count, axes] : ranked) {
      if (pool.size() >= kMostCuts) break;
      Cut cut;
      cut.axes = axes;
      if (std::find(pool.begin(), pool.end(), cut) == pool.end()) pool.push_back(cut);
    }
    return pool;
  }

  using CutList = std::shared_ptr<const std::vector<Cut>>;
  void AddFactors(const std::map<int, CutList>& lists, const std::map<int, int>& number,
                  PairwiseProblem* problem) {
    std::map<std::pair<int, std::pair<std::vector<int>, std::vector<int>>>,
             std::map<std::pair<CutList, CutList>, Cells>>
        tables;
    for (const Edge& edge : edges_) {
      int a = clusters_.representative[edge.tensor], b = clusters_.representative[edge.node];
      const CutList &rows = lists.at(a), &columns = lists.at(b);
      Cells& cells = tables[{edge.kind, {clusters_.dims[edge.tensor], clusters_.dims[edge.node]}}]
                           [{rows, a == b ? nullptr : columns}];
      if (cells == nullptr) {
        std::vector<int64_t> costs;
        for (const Cut& row : *rows) {
          Cut tensor = Mapped(edge.tensor, row);
          if (a == b) {
            costs.push_back(CostOfEdge(edge, tensor, Mapped(edge.node, row)));
            continue;
          }
          for (const Cut& column : *columns) {
            costs.push_back(CostOfEdge(edge, tensor, Mapped(edge.node, column)));
          }
        }
        cells = std::make_shared<const std::vector<int64_t>>(std::move(costs));
      }
      Factor factor;
      factor.scope =
          a == b ? std::vector<int>{number.at(a)} : std::vector<int>{number.at(a), number.at(b)};
      factor.cells = cells;
      problem->factors.push_back(std::move(factor));
    }
  }

  const Graph& graph_;
  const LabelOptions& options_;
  const Mesh& mesh_;
  const int tensors_;
  const std::vector<Grid>& grids_;
  Clusters clusters_;
  Cuts cut_;                 // by element
  std::vector<bool> known_;  // by element
  std::vector<Edge> edges_;
  std::vector<std::vector<int>> ends_;  // by variable: its edges
  std::vector<int> order_;              // the variables
  std::map<int, CutSpace> spaces_;
  std::map<int, std::vector<int>> members_;  // by variable: the elements
  std::map<int, std::vector<int>> along_;    // by kind
  absl::flat_hash_map<std::string, int64_t> costs_;
};

}  // namespace

Cuts Label(const Graph& graph, const LabelOptions& options, const std::vector<TensorUse>& uses,
           const std::vector<Grid>& grids) {
  return Labelling(graph, options, uses, grids).Run();
}

}  // namespace yuba
