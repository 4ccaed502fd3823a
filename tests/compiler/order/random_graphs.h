// Graphs at random for orders: any number of operands, results of any size, some of them outputs.
// Their nodes have no definitions, which no order reads.
#ifndef YUBA_TESTS_COMPILER_ORDER_RANDOM_GRAPHS_H_
#define YUBA_TESTS_COMPILER_ORDER_RANDOM_GRAPHS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "compiler/order/depth_first.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

using Random = std::mt19937;

// Adds nodes with results of so many bytes (multiples of 4) to a graph.
class GraphOfBytes {
 public:
  GraphOfBytes();
  // A node that reads these tensors; its result. Tensor 0 is an input.
  TensorId Add(int64_t bytes, std::vector<TensorId> operands);
  void Output(TensorId tensor) { graph_.outputs.push_back(tensor); }
  // The linked graph; what nothing reads is an output too.
  Graph Finish();

 private:
  Graph graph_;
};

// A graph of so many nodes. Each reads up to three results of the `reach` nodes before it, or the
// input; one in ten results that are read is an output too.
Graph RandomGraph(int nodes, int reach, Random& random);

// Nodes of a training step: `layers` times forward, then for each layer backward the gradients of
// its input and of its weight and an update, with a residual over each pair of layers.
Graph TrainingGraph(int layers);

// Pairs of nodes that agree with one order of the graph, about `count`.
std::vector<Precedence> RandomPrecedences(const Graph& graph, int count, Random& random);

// The same graph with its nodes in another order in which they can run.
Graph Shuffled(const Graph& graph, Random& random);

// The least peak of live bytes of all orders, by dynamic programming over all sets of nodes that
// can have run. For at most 20 nodes.
int64_t ExhaustivePeak(const Graph& graph, const std::vector<Precedence>& precedences = {});

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_ORDER_RANDOM_GRAPHS_H_
