#include "search/model/graph_problem.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/arithmetic.h"
#include "opsemantics/base/check.h"
#include "search/cost/cost_tables.h"
#include "search/cost/kernel_costs.h"
#include "search/model/countable.h"
#include "search/rewrite/canonical.h"
#include "search/solve/parallel.h"
#include "search/space/symmetry.h"

namespace yuba::search {
namespace {

constexpr int kMostSymmetries = 120;  // 5!: of five equal axes

using ChoiceList = std::shared_ptr<const std::vector<Choice>>;

class Builder {
 public:
  Builder(const Graph& graph, const ProblemOptions& options)
      : graph_(graph),
        options_(options),
        tensors_(static_cast<int>(graph.tensors.size())),
        most_of_use_(MostOfUse(graph)) {
    const int last =
        options.axes.empty() ? -1 : *std::max_element(options.axes.begin(), options.axes.end());
    for (int axis = 0; axis <= last; ++axis) placed_.push_back(axis);
    const auto axes = options.mesh.axes.begin();
    outer_.axes.assign(axes, last < 0 ? options.mesh.axes.end() : axes + last + 1);
    bool symmetric = options.restrictions.empty() && options.nesting == Nesting::kFree;
    symmetries_ = AxisSymmetries(options.mesh, options.axes, symmetric ? kMostSymmetries : 0);
  }

  Problem Run() {
    size_t elements = graph_.tensors.size() + graph_.nodes.size();
    const bool cluster = options_.cluster && !options_.objective.IsTime();
    std::vector<bool> pinned(elements, !cluster);
    for (size_t e = 0; e < options_.restrictions.size(); ++e) {
      if (!options_.restrictions[e].none()) pinned[e] = true;
    }
    // Without clusters too, a copy and the node that makes it are one variable.
    for (size_t n = 0; n < graph_.nodes.size() && !cluster; ++n) {
      if (IsCopy(graph_, graph_.nodes[n])) pinned[tensors_ + n] = false;
    }
    problem_.clusters = MakeClusters(graph_, pinned);
    AddVariables();
    definition_numbers_ = DefinitionNumbers(graph_);
    const std::vector<int> order = CanonicalOrder(graph_);
    for (int element : order) {
      if (element >= tensors_) FindUses(element - tensors_);
    }
    if (options_.tables) {
      FillTables();
    } else {
      for (Table& table : tables_) table.cells = std::make_shared<const std::vector<int64_t>>();
    }
    problem_.complete = !stopped_;
    for (const Node& node : graph_.nodes) {
      problem_.factors.emplace_back(node.operands.size() + 1, -1);
    }
    if (stopped_) return std::move(problem_);
    for (const Use& use : uses_) AddCost(use);
    if (options_.objective.IsTime() && options_.tables) AddKernels();
    return std::move(problem_);
  }

 private:
  struct InternedDomain {
    DomainPtr domain;
    ChoiceList choices;
  };

  void AddVariables() {
    size_t elements = problem_.clusters.representative.size();
    problem_.variable.assign(elements, -1);
    problem_.choices.resize(elements);
    for (int element : CanonicalOrder(graph_)) {
      if (problem_.clusters.representative[element] != element) continue;
      problem_.variable[element] = static_cast<int>(problem_.elements.size());
      problem_.elements.push_back(element);
      InternedDomain interned = DomainOf(element);
      problem_.pairwise.variables.push_back(interned.domain);
      problem_.choices[element] = interned.choices;
    }
    for (size_t element = 0; element < elements; ++element) {
      int representative = problem_.clusters.representative[element];
      problem_.variable[element] = problem_.variable[representative];
      if (representative != static_cast<int>(element)) {
        problem_.choices[element] =
            MappedChoices(problem_.choices[representative], problem_.clusters.dims[element]);
      }
    }
  }

  InternedDomain DomainOf(int element) {
    ChoiceSpace space = SpaceOf(graph_, element);
    space.optional = space.optional || (options_.replicate && element < tensors_);
    Choice given = options_.given.empty() ? WholeChoice(space) : options_.given[element];
    const Restriction* restriction = RestrictionOf(element);
    const GridList grids = options_.grids.empty() ? nullptr : options_.grids[element];
    std::string key =
        absl::StrCat(restriction == nullptr ? "" : Key(*restriction), space.optional ? "*" : ":",
                     Key(given), "@", reinterpret_cast<uintptr_t>(grids.get()), "/");
    for (size_t e = 0; e < space.extents.size(); ++e) {
      absl::StrAppend(&key, space.extents[e], space.cuttable[e] ? "," : ";");
    }
    auto [place, is_new] = domains_.emplace(key, InternedDomain{});
    if (is_new) {
      std::vector<Choice> choices = ChoicesOf(space, given, restriction);
      if (grids != nullptr) KeepGrids(*grids, &choices);
      ChoiceList list = Interned(std::move(choices));
      DomainPtr& domain = domain_of_[list];
      if (domain == nullptr) {
        domain = std::make_shared<const Domain>(
            Domain{static_cast<int>(list->size()), Images(*list, symmetries_)});
      }
      place->second = {domain, list};
    }
    return place->second;
  }

  // Null where there is none. A restricted element is pinned, so it represents its cluster.
  const Restriction* RestrictionOf(int element) const {
    if (options_.restrictions.empty() || options_.restrictions[element].none()) return nullptr;
    return &options_.restrictions[element];
  }

  std::vector<Choice> ChoicesOf(const ChoiceSpace& space, const Choice& given,
                                const Restriction* restriction) const {
    if (!options_.group.IsWhole(options_.mesh)) {
      return ChoicesInGroup(space, options_.mesh, options_.group, options_.axes, given,
                            options_.nesting, restriction);
    }
    if (restriction == nullptr) {
      return LegalChoices(space, options_.mesh, options_.axes, given, options_.nesting);
    }
    std::vector<Choice> choices = RestrictedChoices(space, options_.mesh, options_.axes, placed_,
                                                    given, options_.nesting, *restriction);
    if (!choices.empty()) return choices;
    return LegalChoices(space, options_.mesh, options_.axes, given, options_.nesting);
  }

  void KeepGrids(const std::vector<Grid>& grids, std::vector<Choice>* choices) const {
    const auto is_other = [&](const Choice& choice) {
      return !std::binary_search(grids.begin(), grids.end(), GridOf(choice, options_.mesh));
    };
    choices->erase(std::remove_if(choices->begin(), choices->end(), is_other), choices->end());
  }

  ChoiceList MappedChoices(const ChoiceList& choices, const std::vector<int>& dims) {
    ChoiceList& mapped = mapped_[{choices, dims}];
    if (mapped == nullptr) {
      std::vector<Choice> list;
      for (const Choice& choice : *choices) {
        Choice here;
        for (int d : dims) here.axes.push_back(d < 0 ? AxisList() : choice.axes[d]);
        list.push_back(std::move(here));
      }
      mapped = Interned(std::move(list));
    }
    return mapped;
  }

  // Equal lists become one, so that the tables of equal uses are found to be equal.
  ChoiceList Interned(std::vector<Choice> choices) {
    std::string key;
    for (const Choice& choice : choices) absl::StrAppend(&key, Key(choice), "|");
    ChoiceList& list = by_content_[key];
    if (list == nullptr) list = std::make_shared<const std::vector<Choice>>(std::move(choices));
    return list;
  }

  // The gather of operand `operand`, or, where that is -1, the reduction of the result.
  struct Use {
    int node = 0, operand = -1, tensor = 0;
    int table = 0;
  };
  // What equal uses share.
  struct Table {
    Use use;        // the first of them
    int boxes = 0;  // number in boxes_
    Cells cells;
  };
  // The boxes of a node's choices, one of each orbit of the symmetries.
  struct BoxList {
    int node = 0;
    std::vector<int> values;       // the choices
    std::vector<NodeBoxes> boxes;  // parallel to `values`
  };

  void FindUses(int n) {
    const Node& node = graph_.nodes[n];
    for (size_t o = 0; o < node.operands.size(); ++o)
      FindUse({n, static_cast<int>(o), node.operands[o]});
    bool made_in_place =
        IsCopy(graph_, node) && problem_.variable[node.result] == problem_.variable[tensors_ + n];
    if (!made_in_place) FindUse({n, -1, node.result});
  }

  void FindUse(Use use) {
    const ChoiceList &rows = problem_.choices[use.tensor],
                     &columns = problem_.choices[tensors_ + use.node];
    const int definition = definition_numbers_[use.node];
    const auto [table, is_new] = table_numbers_.emplace(
        std::make_tuple(definition, use.operand, rows, columns), static_cast<int>(tables_.size()));
    use.table = table->second;
    uses_.push_back(use);
    if (!is_new) return;
    const auto [boxes, are_new] =
        box_numbers_.emplace(std::make_pair(definition, columns), static_cast<int>(boxes_.size()));
    if (are_new) {
      boxes_.push_back({use.node, OrbitRepresentatives(DomainOfVariable(tensors_ + use.node)), {}});
    }
    tables_.push_back({use, boxes->second, nullptr});
  }

  const Domain& DomainOfVariable(int element) const {
    return *problem_.pairwise.variables[problem_.variable[element]];
  }

  void FillTables() {
    const Budget& budget = *options_.budget;
    ParallelFor(budget.threads(), static_cast<int64_t>(boxes_.size()), [&](int64_t b) {
      BoxList& list = boxes_[b];
      const std::vector<Choice>& choices = *problem_.choices[tensors_ + list.node];
      for (size_t i = 0; i < list.values.size() && !Stopped(); ++i) {
        list.boxes.push_back(
            AnalyzeNode(*graph_.nodes[list.node].definition, choices[list.values[i]], outer_));
      }
    });
    ParallelFor(budget.threads(), static_cast<int64_t>(tables_.size()), [&](int64_t t) {
      if (!Stopped()) Fill(tables_[t]);
    });
  }

  bool Stopped() {
    if (!stopped_ && options_.budget->ShouldStop()) stopped_ = true;
    return stopped_;
  }

  void Fill(Table& table) const {
    const Use& use = table.use;
    const Domain &rows = DomainOfVariable(use.tensor),
                 &columns = DomainOfVariable(tensors_ + use.node);
    const BoxList& list = boxes_[table.boxes];
    const TableInput input = {&outer_,
                              graph_.nodes[use.node].definition.get(),
                              use.operand,
                              problem_.choices[use.tensor].get(),
                              problem_.choices[tensors_ + use.node].get(),
                              &list.values,
                              &list.boxes,
                              TimesOf(graph_, use.node),
                              options_.mesh.devices() / outer_.devices()};
    std::vector<int64_t> cells =
        options_.objective.IsTime() ? TimeTable(input, options_.objective) : CostTable(input);
    MakeCountable(most_of_use_, cells);
    FillOrbits(rows, columns, list.values, &cells);
    table.cells = std::make_shared<const std::vector<int64_t>>(std::move(cells));
  }

  void AddCost(const Use& use) {
    const int row = problem_.variable[use.tensor], column = problem_.variable[tensors_ + use.node];
    const Cells& cells = tables_[use.table].cells;
    if (!options_.tables) {
      if (row != column) problem_.pairwise.factors.push_back({{row, column}, cells});
      return;
    }
    if (std::all_of(cells->begin(), cells->end(), [](int64_t cell) { return cell == 0; })) return;
    problem_.factors[use.node][1 + use.operand] =
        static_cast<int>(problem_.pairwise.factors.size());
    if (row != column) {
      problem_.pairwise.factors.push_back({{row, column}, cells});
      return;
    }
    int size = problem_.pairwise.variables[row]->size;
    auto diagonal = std::make_shared<std::vector<int64_t>>();
    for (int value = 0; value < size; ++value) diagonal->push_back((*cells)[value * size + value]);
    problem_.pairwise.factors.push_back({{row}, diagonal});
  }

  // What each node costs by itself.
  void AddKernels() {
    std::map<std::pair<int, ChoiceList>, Cells> known;
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) {
      const ChoiceList& choices = problem_.choices[tensors_ + n];
      Cells& cells = known[{definition_numbers_[n], choices}];
      if (cells == nullptr) {
        KernelCosts kernels(graph_, n, options_.objective);
        std::vector<int64_t> times;
        for (const Choice& choice : *choices) {
          times.push_back(kernels.Of(GridOf(choice, options_.mesh)));
        }
        cells = std::make_shared<const std::vector<int64_t>>(std::move(times));
      }
      problem_.pairwise.factors.push_back({{problem_.variable[tensors_ + n]}, cells});
    }
  }

  // Fills the columns of all choices from those of the representatives: a cost does not change when
  // the axes of both choices are renamed.
  static void FillOrbits(const Domain& rows, const Domain& columns,
                         const std::vector<int>& representatives, std::vector<int64_t>* table) {
    for (size_t g = 1; g < columns.images.size(); ++g) {
      for (int column : representatives) {
        int image = columns.images[g][column];
        for (int row = 0; row < rows.size; ++row) {
          (*table)[int64_t{rows.images[g][row]} * columns.size + image] =
              (*table)[int64_t{row} * columns.size + column];
        }
      }
    }
  }

  const Graph& graph_;
  const ProblemOptions& options_;
  const int tensors_;
  const int64_t most_of_use_;
  std::vector<int> placed_;  // the axes of this level and of earlier ones
  Mesh outer_;               // of these: no choice uses others
  std::vector<AxisPermutation> symmetries_;
  std::vector<int> definition_numbers_;
  Problem problem_;
  absl::flat_hash_map<std::string, InternedDomain> domains_;
  std::map<ChoiceList, DomainPtr> domain_of_;
  std::map<std::pair<ChoiceList, std::vector<int>>, ChoiceList> mapped_;
  absl::flat_hash_map<std::string, ChoiceList> by_content_;
  std::vector<Use> uses_;
  std::map<std::tuple<int, int, ChoiceList, ChoiceList>, int>
      table_numbers_;  // by definition, operand, choices of the tensor, choices of the node
  std::vector<Table> tables_;
  std::map<std::pair<int, ChoiceList>, int> box_numbers_;  // by definition and choices of the node
  std::vector<BoxList> boxes_;
  std::atomic<bool> stopped_{false};
};

}  // namespace

Choices Problem::ChoicesOf(const Assignment& assignment) const {
  Choices result;
  for (size_t element = 0; element < choices.size(); ++element) {
    result.push_back((*choices[element])[assignment[variable[element]]]);
  }
  return result;
}

Assignment Problem::ValuesOf(const Choices& choices_of_elements) const {
  Assignment assignment;
  for (const int element : elements) {
    const std::vector<Choice>& domain = *choices[element];
    const auto place = std::find(domain.begin(), domain.end(), choices_of_elements[element]);
    assignment.push_back(place == domain.end() ? 0 : static_cast<int>(place - domain.begin()));
  }
  return assignment;
}

std::vector<int> Problem::ElementOrder(const std::vector<int>& order) const {
  std::vector<int> all = clusters.merged;
  for (int v : order) all.push_back(elements[v]);
  return all;
}

Problem BuildProblem(const Graph& graph, const ProblemOptions& options) {
  return Builder(graph, options).Run();
}

int64_t TableCells(const Graph& graph, int axes, bool replicate) {
  const std::vector<int> definitions = DefinitionNumbers(graph);
  // By definition and operand, and whether its node and its tensor may leave axes out: such uses
  // share a table.
  std::set<std::tuple<int, size_t, bool, bool>> known;
  int64_t sum = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const ChoiceSpace partitions = SpaceOfNode(graph, static_cast<NodeId>(n));
    for (size_t o = 0; o <= node.operands.size(); ++o) {
      const TensorId tensor = o < node.operands.size() ? node.operands[o] : node.result;
      ChoiceSpace shardings = SpaceOfTensor(graph, tensor);
      shardings.optional = shardings.optional || replicate;
      if (!known.emplace(definitions[n], o, partitions.optional, shardings.optional).second) {
        continue;
      }
      int64_t cells = 0;
      if (__builtin_mul_overflow(CountChoices(partitions, axes), CountChoices(shardings, axes),
                                 &cells) ||
          __builtin_add_overflow(sum, cells, &sum)) {
        return std::numeric_limits<int64_t>::max() / 2;
      }
    }
  }
  return sum;
}

}  // namespace yuba::search
