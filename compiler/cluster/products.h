// Products with the maps behind them: what a library may compute in one call.
#ifndef YUBA_COMPILER_CLUSTER_PRODUCTS_H_
#define YUBA_COMPILER_CLUSTER_PRODUCTS_H_

#include <vector>

#include "absl/status/status.h"
#include "compiler/model.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// The clusters whose first node is a contraction or a convolution (no gradient of one) and whose
// other nodes are maps that are post-ops (opsemantics/gradient/slopes.h) of the one before them,
// next to each other in the graph's order. They share all output indices; of each node but the last
// nothing else reads the result. An accumulator counts as the sum that it is where no partials are
// left in a program.
//
// Example: c[i, j] = sum(k) x[i, k] * w[k, j] and y[i, j] = max(c[i, j] + b[j], 0).
std::vector<Cluster> FindProducts(const Graph& graph);

// Whether they are such clusters: each a product and post-ops of it, one of the other.
// FailedPrecondition, with the node's name, where not.
absl::Status CheckProducts(const Graph& graph, const std::vector<Cluster>& products);

// Whether it is a contraction or a convolution, no gradient of one.
bool IsProduct(const Definition& definition);

// Whether `next` is a map that makes each element of its result of one element of what `before`
// computes, by post-ops, and has the same output indices.
bool IsPostOpOf(const Node& before, const Node& next);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_CLUSTER_PRODUCTS_H_
