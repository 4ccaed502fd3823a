// Small graphs, and legal plans for them, at random or by hand: branches, joins, halos, reductions,
// broadcasts, uneven parts. Small enough for the emulator and for enumeration of all plans. What is
// random depends on the generator's state alone.
//
// Example: ModelBuilder b; y = b.MatMul(b.Input({8, 6}), b.Input({6, 10}, TensorKind::kParameter));
// Model model = b.Finish({y}).
#ifndef YUBA_TESTS_COMPILER_SUPPORT_SMALL_GRAPHS_H_
#define YUBA_TESTS_COMPILER_SUPPORT_SMALL_GRAPHS_H_

#include <random>
#include <vector>

#include "compiler/model.h"
#include "opsemantics/oracle/interpret.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

using Random = std::mt19937;

// Adds nodes to a graph, each with its result, whose number is returned; Finish links the graph.
class ModelBuilder {
 public:
  TensorId Input(std::vector<int64_t> dims, TensorKind kind = TensorKind::kInput);
  TensorId MatMul(TensorId a, TensorId b);           // [i, k] [k, j]
  TensorId Add(TensorId a, TensorId b);              // equal shapes
  TensorId Sum(const std::vector<TensorId>& terms);  // of different tensors, equal shapes
  TensorId Subtract(TensorId a, TensorId b);
  TensorId Relu(TensorId a);
  TensorId AddRow(TensorId a, TensorId b);          // a[i.., j] + b[j]
  TensorId MultiplyRow(TensorId a, TensorId b);     // a[i.., j] * b[j]
  TensorId Reduce(TensorId a, Reducer reducer);     // over the last dimension
  TensorId SumDown(TensorId a);                     // y[j] = sum(i) a[i, j]
  TensorId SubtractColumn(TensorId a, TensorId b);  // a[i, j] - b[i]
  // y[i, j] = pick(r where r == table[i]) a[r, j], and, of so many rows,
  // y[i, j] = sum(r where i == table[r]) a[r, j].
  TensorId Gather(TensorId a, const std::vector<int64_t>& table);
  TensorId Scatter(TensorId a, int64_t rows, const std::vector<int64_t>& table);
  TensorId Window(TensorId a, TensorId filter, int64_t stride, int64_t low);  // convolves rows of a
  TensorId Spread(TensorId a, TensorId filter, int64_t stride, int64_t low);  // transpose of Window
  // The model with these outputs. all_unread: results that nothing reads are outputs too.
  Model Finish(std::vector<TensorId> outputs, bool all_unread = false);

  const std::vector<int64_t>& Dims(TensorId id) const { return model_.graph.tensors[id].type.dims; }

 private:
  TensorId AddNode(Definition definition, std::vector<TensorId> operands);
  TensorId Integers(const std::vector<int64_t>& values);  // a constant

  Model model_;
};

// One more node over tensors of rank 2 (`matrices`), of any kind that fits.
TensorId AddRandomNode(ModelBuilder& build, const std::vector<TensorId>& matrices, Random& random);

// A few nodes of the kinds above.
Model RandomModel(Random& random);

// Sums of products. The graph has accumulators, as for searches on a mesh of this size.
Model RandomSums(const Mesh& mesh, Random& random);
// The same, of one sum of 5 to 12 products.
Model RandomLongSums(const Mesh& mesh, Random& random);

// Products one after the other, and sums, windows and scales of them: each node is linear in the
// one before. The graph has partials, as for searches on a mesh of this size.
Model RandomLinear(const Mesh& mesh, Random& random);

// Gathers, sums and scatters of rows by constant tables, one after the other, with maps in between.
// The constants have values; what box analysis may know of them is not filled in
// (compiler/simplify/simplify.h).
Model RandomTables(Random& random);

// Any legal plan, good or bad: on each axis, each tensor and node is cut along a dimension or index
// chosen at random, or not at all. Cost and proof are not filled in.
search::Plan RandomPlan(const Graph& graph, const Mesh& mesh, Random& random);

// [tensor]: values for inputs, parameters and constants; empty for the others.
std::vector<TensorValue> RandomValues(const Graph& graph, Arithmetic arithmetic, Random& random);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_SUPPORT_SMALL_GRAPHS_H_
