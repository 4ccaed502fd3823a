// Baselines: how others partition a graph, one file each.
//
// A graph and a mesh come in, a choice for each element goes out. Costs, plan and every check are
// those of the search, so that `yuba compare` can print them side by side. Each file says which
// paper its method is from. Example: `--search data` on 8 devices keeps all weights whole on every
// device and cuts the batch over all axes.
//
// What a baseline asks for are restrictions on a group of mesh axes. Pure ones have one group, all
// axes. Products have two, and are no code of their own: `megatron-data` is Megatron on the inner
// axes of the mesh and data parallelism on the others.
#ifndef YUBA_SEARCH_BASELINES_BASELINES_H_
#define YUBA_SEARCH_BASELINES_BASELINES_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "opsemantics/definition/graph.h"
#include "search/model/graph_problem.h"
#include "search/plan/choice.h"
#include "search/plan/plan.h"
#include "search/space/restriction.h"

namespace yuba::search {

// One way of partitioning over a group of mesh axes.
struct BaselinePart {
  // What it allows, [element]; `group` are the axes as a mesh of their own.
  Restrictions (*restrict)(const Graph& graph, const Mesh& group) = nullptr;
  // Whether its authors would use it on so many devices; null: on any number.
  bool (*suits)(const Graph& graph, const Mesh& group) = nullptr;
};

// Where the mesh is split between the parts of a product.
enum class Split : uint8_t {
  kBest,   // where the plan is cheapest, all axes for one part included
  kKinds,  // between the innermost kind of links and the others
};

struct Baseline {
  const char* name;  // as --search takes it
  const char* what;  // in half a line, for people
  bool replicates;   // whether it stores whole what could be cut
  // The outermost part first; the second has no restrictions where there is one.
  BaselinePart parts[2];
  Split split = Split::kBest;
  // In place of parts where choices are made one after the other. Copies and accumulators may be in
  // the graph (search/rewrite/), partials may not. Where the budget is spent choices are legal, but
  // may be poor.
  Choices (*greedy)(const Graph& graph, const Mesh& mesh, const Budget& budget) = nullptr;
  // What must be said of its plan of this graph: where it cannot do as published, and what it would
  // move besides in training. A sentence without a full stop; "" for nothing. Null: never anything.
  std::string (*remark)(const Graph& graph, const Plan& plan) = nullptr;
  // The bytes that each device holds besides where it is done as published; null: none.
  int64_t (*held_besides)(const Graph& graph, const Plan& plan) = nullptr;

  bool IsProduct() const { return parts[1].restrict != nullptr; }
};

absl::Span<const Baseline> Baselines();                // in the order in which they are printed
const Baseline* FindBaseline(absl::string_view name);  // null: none of that name

// Whether both have the same plan of any graph: what differs is what is said of it.
bool HaveSamePlans(const Baseline& a, const Baseline& b);
// Whether its plan on this mesh is that of one of its parts alone: then it is no row beside that.
bool IsPure(const Baseline& baseline, const Mesh& mesh);

// What a plan of a baseline is looked for with.
struct BaselineOptions {
  Mesh mesh;
  Objective objective;  // with a machine the best split is the fastest, else that of fewest bytes
  int64_t table_cells = 0;  // elimination is exact where tables of so many cells suffice
};

// The choices of the baseline for this graph, without partials.
Choices ChoicesOf(const Baseline& baseline, const Graph& graph, const BaselineOptions& options,
                  const Budget& budget);

// The same with copies or, where that is cheaper, each of the sharding of its tensor: what is
// chosen greedily may be worse for more choices.
Choices FindCheapest(const Baseline& baseline, const Graph& graph, const BaselineOptions& options,
                     const Budget& budget);

Restrictions DataParallel(const Graph& graph, const Mesh& group);
Restrictions Zero3(const Graph& graph, const Mesh& group);
Restrictions Megatron(const Graph& graph, const Mesh& group);
Restrictions AllRow(const Graph& graph, const Mesh& group);
Restrictions EqualChop(const Graph& graph, const Mesh& group);
Restrictions Icml18(const Graph& graph, const Mesh& group);

// Whether all devices get as many examples of the batch; whether all get whole heads.
bool SuitsDataParallel(const Graph& graph, const Mesh& group);
bool SuitsMegatron(const Graph& graph, const Mesh& group);

Choices Spartan(const Graph& graph, const Mesh& mesh, const Budget& budget);
Choices MindSpore(const Graph& graph, const Mesh& mesh, const Budget& budget);

int64_t StatesAndGradients(const Graph& graph, const Plan& plan);
int64_t Gradients(const Graph& graph, const Plan& plan);

std::string OfDataParallel(const Graph& graph, const Plan& plan);
std::string OfZero1(const Graph& graph, const Plan& plan);
std::string OfZero2(const Graph& graph, const Plan& plan);
std::string OfZero3(const Graph& graph, const Plan& plan);
std::string OfHybrid(const Graph& graph, const Plan& plan);
std::string OfMegatron(const Graph& graph, const Plan& plan);
std::string OfMegatronData(const Graph& graph, const Plan& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_BASELINES_H_
