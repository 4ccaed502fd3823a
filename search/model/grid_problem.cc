#include "search/model/grid_problem.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "search/model/countable.h"
#include "search/model/graph_problem.h"
#include "search/model/grid_counts.h"
#include "search/rewrite/canonical.h"
#include "search/solve/parallel.h"
#include "search/space/follow.h"

namespace yuba::search {

std::vector<TensorUse> TensorUsesOf(const Graph& graph, const Mesh& mesh,
                                    const Objective& objective) {
  const int tensors = static_cast<int>(graph.tensors.size());
  std::vector<int> definitions = DefinitionNumbers(graph);
  std::map<std::tuple<int, int, bool, bool>, TensorUse> known;
  std::vector<TensorUse> uses;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
      // Copies, and the nodes that make them, may leave axes out, so they have more grids.
      const TensorId tensor = o < 0 ? node.result : node.operands[o];
      const bool copy = graph.tensors[tensor].kind == TensorKind::kCopy;
      const auto [place, is_new] =
          known.try_emplace({definitions[n], o, copy, IsCopy(graph, node)});
      TensorUse& first = place->second;
      const auto id = static_cast<NodeId>(n);
      if (is_new) {
        first.kind = static_cast<int>(known.size()) - 1;
        first.costs =
            std::make_shared<UseCosts>(*node.definition, o, mesh, TimesOf(graph, id), objective);
        if (o < 0 && objective.IsTime()) {
          first.kernels = std::make_shared<KernelCosts>(graph, id, objective);
        }
      }
      TensorUse use = first;
      use.tensor = tensor;
      use.node = tensors + static_cast<int>(n);
      uses.push_back(std::move(use));
    }
  }
  return uses;
}

namespace {

// The grids of a space, those that may meet the restriction.
GridList GridsMeeting(const ChoiceSpace& space, const Mesh& mesh, const Restriction& restriction) {
  std::vector<Grid> grids = AllGrids(space, mesh);
  const auto fails = [&](const Grid& grid) { return !MayMeet(mesh, grid, restriction); };
  grids.erase(std::remove_if(grids.begin(), grids.end(), fails), grids.end());
  return std::make_shared<const std::vector<Grid>>(std::move(grids));
}

// A variable for each element, with its grids.
void AddVariables(const Graph& graph, const Mesh& mesh, bool replicate,
                  const Restrictions& restrictions, GridProblem& problem) {
  std::map<std::tuple<std::vector<int64_t>, std::vector<bool>, bool, std::string>,
           std::pair<GridList, DomainPtr>>
      known;
  const auto add = [&](const ChoiceSpace& space) {
    const Restriction restriction =
        restrictions.empty() ? Restriction() : restrictions[problem.grids.size()];
    auto& [grids, domain] =
        known[{space.extents, space.cuttable, space.optional, Key(restriction)}];
    if (grids == nullptr) {
      grids = GridsMeeting(space, mesh, restriction);
      domain = PlainDomain(static_cast<int>(grids->size()));
    }
    problem.grids.push_back(grids);
    problem.pairwise.variables.push_back(domain);
  };
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    ChoiceSpace space = SpaceOfTensor(graph, static_cast<TensorId>(t));
    space.optional = space.optional || replicate;
    add(space);
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) add(SpaceOfNode(graph, static_cast<NodeId>(n)));
  problem.variable.resize(problem.grids.size());
  std::iota(problem.variable.begin(), problem.variable.end(), 0);
}

// Nodes that make copies get their copies' variables, where both have the same grids.
void JoinCopies(const Graph& graph, GridProblem& problem) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const size_t element = graph.tensors.size() + n;
    if (IsCopy(graph, node) && problem.grids[node.result] == problem.grids[element]) {
      problem.variable[element] = node.result;
    }
  }
}

// Whether the use is the reduction of a node into the copy whose variable it has.
bool IsWithinVariable(const TensorUse& use, const GridProblem& problem) {
  return problem.variable[use.node] == use.tensor;
}

// A table that several uses have in common.
struct CommonTable {
  const TensorUse* first;
  CostKey key;
  GridList tensor_grids, node_grids;
  CostsByGrid costs;
};

// The tables of all uses, without cells, each once. `table_of`: [use].
std::vector<CommonTable> CommonTables(const std::vector<TensorUse>& uses,
                                      const GridProblem& problem, std::vector<size_t>& table_of) {
  std::vector<CommonTable> tables;
  std::map<std::tuple<int, GridList, GridList>, size_t> of_kind;  // under pins a kind has several
  std::map<std::tuple<CostKey, GridList, GridList>, size_t> numbers;
  for (const TensorUse& use : uses) {
    if (IsWithinVariable(use, problem)) {
      table_of.push_back(0);  // not asked for
      continue;
    }
    const GridList &of_tensor = problem.grids[use.tensor], &of_node = problem.grids[use.node];
    const auto [kind, is_new_kind] =
        of_kind.emplace(std::make_tuple(use.kind, of_tensor, of_node), 0);
    if (is_new_kind) {
      CommonTable table = {&use, use.costs->Key(), of_tensor, of_node, {}};
      const auto [place, is_new] =
          numbers.emplace(std::make_tuple(table.key, of_tensor, of_node), tables.size());
      kind->second = place->second;
      if (is_new) tables.push_back(std::move(table));
    }
    table_of.push_back(kind->second);
  }
  return tables;
}

// Fills the cells of all tables, from `known` or anew, small tables first. Where the budget is
// spent the others stay null.
void Fill(std::vector<CommonTable>& tables, const Budget& budget, TableCache* known) {
  std::vector<CommonTable*> missing;
  for (CommonTable& table : tables) {
    if (known != nullptr) {
      const bool sum =
          table.first->costs->IsSum(table.tensor_grids->size(), table.node_grids->size());
      table.costs = known->Find(table.key, sum, table.tensor_grids, table.node_grids);
    }
    if (table.costs.cells == nullptr) missing.push_back(&table);
  }
  const auto size = [](const CommonTable* table) {
    return table->tensor_grids->size() * table->node_grids->size();
  };
  std::stable_sort(missing.begin(), missing.end(),
                   [&](CommonTable* a, CommonTable* b) { return size(a) < size(b); });
  // Uses of different kinds share nothing that changes.
  std::vector<std::vector<CommonTable*>> kinds;
  std::map<const UseCosts*, size_t> number;
  for (CommonTable* table : missing) {
    const auto [place, is_new] = number.emplace(table->first->costs.get(), kinds.size());
    if (is_new) kinds.emplace_back();
    kinds[place->second].push_back(table);
  }
  ParallelFor(budget.threads(), static_cast<int64_t>(kinds.size()), [&](int64_t kind) {
    for (CommonTable* table : kinds[kind]) {
      if (budget.ShouldStop()) return;
      CostsByGrid costs =
          table->first->costs->ByGrid(*table->tensor_grids, *table->node_grids, budget);
      if (budget.end() != Budget::End::kNone) return;  // cells may be missing
      table->costs = std::move(costs);
    }
  });
  for (const CommonTable* table : missing) {
    if (known == nullptr || table->costs.cells == nullptr) continue;
    known->Add(table->key, table->tensor_grids, table->node_grids, table->costs);
  }
}

Cells NoCost(const std::vector<Grid>& grids) {
  return std::make_shared<const std::vector<int64_t>>(grids.size(), 0);
}

// A cost for each node that has one by itself; equal ones share their cells.
void AddKernels(const std::vector<TensorUse>& uses, GridProblem& problem) {
  std::map<std::pair<KernelCosts*, GridList>, Cells> known;
  for (const TensorUse& use : uses) {
    if (use.kernels == nullptr) continue;
    const GridList& grids = problem.grids[use.node];
    Cells& cells = known[{use.kernels.get(), grids}];
    if (cells == nullptr) {
      std::vector<int64_t> times;
      for (const Grid& grid : *grids) times.push_back(use.kernels->Of(grid));
      cells = std::make_shared<const std::vector<int64_t>>(std::move(times));
    }
    problem.pairwise.factors.push_back({{use.node}, cells});
  }
}

// The problem in which each grid has one choice, of which only its memory matters.
Problem OneOfEachGrid(const Mesh& mesh, const GridProblem& problem) {
  Problem one_each;
  one_each.pairwise.variables = problem.pairwise.variables;
  one_each.factors = problem.factors;
  std::map<GridList, std::shared_ptr<const std::vector<Choice>>> known;
  for (size_t e = 0; e < problem.grids.size(); ++e) {
    std::shared_ptr<const std::vector<Choice>>& choices = known[problem.grids[e]];
    if (choices == nullptr) {
      std::vector<Choice> list;
      for (const Grid& grid : *problem.grids[e])
        list.push_back(ChoiceOfGrid(grid, {}, mesh, false));
      choices = std::make_shared<const std::vector<Choice>>(std::move(list));
    }
    one_each.choices.push_back(choices);
    one_each.elements.push_back(static_cast<int>(e));
    one_each.variable.push_back(static_cast<int>(e));
  }
  return one_each;
}

}  // namespace

absl::optional<GridProblem> BuildGridProblem(const Graph& graph, const Mesh& mesh,
                                             const std::vector<TensorUse>& uses, bool replicate,
                                             const Budget& budget, TableCache* known,
                                             const Restrictions& restrictions,
                                             CopyNodes copy_nodes) {
  if (HasTooManyGrids(graph, mesh, uses, replicate)) return absl::nullopt;
  GridProblem problem;
  problem.factors.resize(graph.nodes.size());
  AddVariables(graph, mesh, replicate, restrictions, problem);
  if (copy_nodes == CopyNodes::kAsTheirCopy) JoinCopies(graph, problem);
  std::vector<size_t> table_of;
  std::vector<CommonTable> tables = CommonTables(uses, problem, table_of);
  Fill(tables, budget, known);
  const int64_t most = MostOfUse(graph);
  for (CommonTable& table : tables) {
    // So that both terms of a sum together are no more.
    const int terms = table.costs.sum == nullptr ? 1 : 2;
    table.costs.cells = Countable(most / terms, std::move(table.costs.cells));
  }
  for (size_t u = 0; u < uses.size(); ++u) {
    const TensorUse& use = uses[u];
    std::vector<int>& factors = problem.factors[use.node - graph.tensors.size()];
    factors.push_back(-1);
    if (IsWithinVariable(use, problem)) {
      problem.pairwise.factors.push_back({{use.node}, NoCost(*problem.grids[use.node])});
      continue;
    }
    const auto& [cells, sum] = tables[table_of[u]].costs;
    if (cells == nullptr) {
      problem.complete = false;
    } else {
      factors.back() = static_cast<int>(problem.pairwise.factors.size());
      problem.pairwise.factors.push_back({{use.tensor, problem.variable[use.node]}, cells, sum});
    }
  }
  if (!problem.complete && problem.pairwise.factors.empty()) return absl::nullopt;
  AddKernels(uses, problem);
  return problem;
}

MemoryRows GridRowsOf(const Graph& graph, const Mesh& mesh, const GridProblem& problem,
                      int64_t limit, const Budget& budget) {
  return MemoryRowsOf(graph, mesh, OneOfEachGrid(mesh, problem), limit, budget);
}

}  // namespace yuba::search
