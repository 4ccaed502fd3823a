#include "search/lower_bound.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "search/dual.h"
#include "search/grids.h"

namespace yuba {
namespace {

constexpr int kSweeps = 100;

// Variables as the graph computes them: a node's leaves, the node, its result.
std::vector<int> ProgramOrder(const Graph& graph, const Problem& problem) {
  int tensors = static_cast<int>(graph.tensors.size());
  auto place = [&](int variable) {
    int element = problem.elements[variable];
    if (element >= tensors) return 3 * (element - tensors) + 1;
    const Tensor& tensor = graph.tensors[element];
    if (tensor.producer >= 0) return 3 * tensor.producer + 2;
    return tensor.consumers.empty() ? -1 : 3 * tensor.consumers[0];
  };
  std::vector<int> order(problem.elements.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return place(a) < place(b); });
  return order;
}

bool IsZero(const std::vector<int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; });
}

}  // namespace

LowerBound DualBound(const Graph& graph, ProblemOptions options) {
  options.cluster = false;
  Problem problem = BuildProblem(graph, options);
  std::vector<ClassesPtr> classes;
  std::map<const void*, ClassesPtr> known;
  for (int element : problem.elements) {
    ClassesPtr& grids = known[problem.cuts[element].get()];
    if (grids == nullptr) {
      grids = std::make_shared<const Classes>(GridsOf(*problem.cuts[element], options.mesh));
    }
    classes.push_back(grids);
  }
  Dual dual = MaximiseDual(problem.pairwise, classes, ProgramOrder(graph, problem), kSweeps);
  LowerBound bound;
  bound.bytes = std::max<int64_t>(0, dual.bound);
  bound.proof.kind = "dual";
  bound.cuts = problem.CutsOf(dual.assignment);
  int tensors = static_cast<int>(graph.tensors.size());
  for (size_t f = 0; f < dual.messages.size(); ++f) {
    if (IsZero(dual.messages[f])) continue;
    const std::vector<int>& scope = problem.pairwise.factors[f].scope;
    bound.proof.messages.push_back({problem.elements[scope[0]],
                                    problem.elements[scope[1]] - tensors,
                                    std::move(dual.messages[f])});
  }
  return bound;
}

}  // namespace yuba
