// Small graphs and legal plans for them, at random or by hand: branches, joins, halos, reductions,
// broadcasts, uneven parts.
#ifndef YUBA_TESTS_COMPILER_SUPPORT_SMALL_GRAPHS_H_
#define YUBA_TESTS_COMPILER_SUPPORT_SMALL_GRAPHS_H_

#include <random>
#include <vector>

#include "compiler/model.h"
#include "opsemantics/oracle/interpret.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

using Random = std::mt19937;

// Adds nodes to a graph and links it at the end.
class ModelBuilder {
 public:
  TensorId Input(std::vector<int64_t> dims, TensorKind kind = TensorKind::kInput);
  TensorId MatMul(TensorId a, TensorId b);  // [i, k] [k, j]
  TensorId Add(TensorId a, TensorId b);     // equal shapes
  TensorId Subtract(TensorId a, TensorId b);
  TensorId Relu(TensorId a);
  TensorId AddRow(TensorId a, TensorId b);          // a[i.., j] + b[j]
  TensorId MultiplyRow(TensorId a, TensorId b);     // a[i.., j] * b[j]
  TensorId Reduce(TensorId a, Reducer reducer);     // over the last dimension
  TensorId SubtractColumn(TensorId a, TensorId b);  // a[i, j] - b[i]
  TensorId Window(TensorId a, TensorId filter, int64_t stride, int64_t low);  // rows of a convolved
  TensorId Spread(TensorId a, TensorId filter, int64_t stride, int64_t low);  // its transpose
  // all_unread: results that nothing reads are outputs too.
  Model Finish(std::vector<TensorId> outputs, bool all_unread = false);

  const std::vector<int64_t>& Dims(TensorId id) const { return model_.graph.tensors[id].type.dims; }

 private:
  TensorId AddNode(Definition definition, std::vector<TensorId> operands);

  Model model_;
};

Model RandomModel(Random& random);

// Sums of products, with accumulators for meshes like this one.
Model RandomSums(const Mesh& mesh, Random& random);

// Products one after the other, sums, windows and scales of them: what is linear in what comes
// before, with partials for meshes like this one.
Model RandomLinear(const Mesh& mesh, Random& random);

// Any legal plan, good or bad: each tensor and node is cut on each axis where a random choice
// falls, or not at all. Cost and proof are not filled in.
search::Plan RandomPlan(const Graph& graph, const Mesh& mesh, Random& random);

// Values for inputs, parameters and constants; the others are empty.
std::vector<TensorValue> RandomValues(const Graph& graph, Arithmetic arithmetic, Random& random);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_SUPPORT_SMALL_GRAPHS_H_
