// Baselines: how others partition a graph. They share the costs, the plan and every check with the
// search.
#ifndef YUBA_SEARCH_BASELINES_BASELINES_H_
#define YUBA_SEARCH_BASELINES_BASELINES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "opsemantics/definition/graph.h"
#include "search/model/graph_problem.h"
#include "search/plan/choice.h"

namespace yuba::search {

struct Baseline {
  const char* name;  // as --search takes it
  const char* what;  // in half a line
  bool replicates;   // stores tensors on several devices that could be cut
  Choices (*find)(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
};

absl::Span<const Baseline> Baselines();
const Baseline* FindBaseline(absl::string_view name);  // null: none of that name

// One file each; the file says where it is from.
Choices DataParallel(const Graph& graph, const Mesh& mesh, int64_t table_cells,
                     const Budget& budget);
Choices Zero3(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices Megatron(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices AllRow(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices EqualChop(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices Spartan(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices Icml18(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);
Choices MindSpore(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_BASELINES_H_
