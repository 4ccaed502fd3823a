// Baselines: how others partition a graph, one file each.
//
// A graph and a mesh come in, a choice for each element goes out. Costs, plan and every check are
// those of the search, so that `yuba compare` can print them side by side. Each file says which
// paper its method is from. Example: `--search data` on 8 devices keeps all weights whole on every
// device and cuts the batch over all axes.
#ifndef YUBA_SEARCH_BASELINES_BASELINES_H_
#define YUBA_SEARCH_BASELINES_BASELINES_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "opsemantics/definition/graph.h"
#include "search/model/graph_problem.h"
#include "search/plan/choice.h"

namespace yuba::search {

struct Baseline {
  const char* name;  // as --search takes it
  const char* what;  // in half a line, for people
  bool replicates;   // whether it stores whole what could be cut
  // The choices, by element. The graph may have copies and accumulators, but no partials
  // (search/rewrite/), and the plan shares them where that moves fewer bytes. Elimination is exact
  // where tables of `table_cells` cells suffice. Where the budget is spent, choices are still
  // legal, but may be poor.
  Choices (*find)(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
  // What must be said of its plan of this graph: where it cannot do as published, and what it would
  // move besides in training. A sentence without a full stop; "" for nothing. Null: never anything.
  // `moves_weights`: whether its plan moves bytes of weights.
  std::string (*remark)(const Graph& graph, const Mesh& mesh, bool moves_weights);
};

absl::Span<const Baseline> Baselines();                // in the order in which they are printed
const Baseline* FindBaseline(absl::string_view name);  // null: none of that name

// The choices of the baseline, with copies or, where that moves fewer bytes, each of the sharding
// of its tensor: what is chosen greedily may be worse for more choices.
Choices FindCheapest(const Baseline& baseline, const Graph& graph, const Mesh& mesh,
                     int64_t table_cells, const Budget& budget);

Choices DataParallel(const Graph& graph, const Mesh& mesh, int64_t table_cells,
                     const Budget& budget);
Choices Zero3(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices Megatron(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices AllRow(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices EqualChop(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices Spartan(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices Icml18(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices MindSpore(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);

std::string OfDataParallel(const Graph& graph, const Mesh& mesh, bool moves_weights);
std::string OfZero3(const Graph& graph, const Mesh& mesh, bool moves_weights);
std::string OfMegatron(const Graph& graph, const Mesh& mesh, bool moves_weights);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_BASELINES_H_
