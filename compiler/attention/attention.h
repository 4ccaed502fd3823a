// Attention, by structure, whatever wrote it: which nodes of a graph compute
//
//   s[b, i, j] = scale * sum(c) q[b, i, c] * k[b, j, c] + bias[b, i, j], hidden where a mask says so
//   p[b, i, j] = exp(s[b, i, j] - max(j) s[b, i, j]) / sum(j) exp(s[b, i, j] - max(j) s[b, i, j])
//   o[b, i, e] = sum(j) p[b, i, j] * v[b, j, e]
//
// in any order of dimensions, with any number of indices in place of b, and, of a training step, the
// gradients of q, k and v. A library may compute each of the two halves in one call, so that nothing
// with the dimensions of s is stored. Names and operators decide nothing.
//
// Example: MatMul, Div, Where, Softmax and MatMul of an exported decoder are five or six nodes here:
// a contraction, a map, the three definitions of softmax, a contraction.
#ifndef YUBA_COMPILER_ATTENTION_ATTENTION_H_
#define YUBA_COMPILER_ATTENTION_ATTENTION_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// Which scores count. Dimensions are flat dimensions of the scores.
struct AttentionMask {
  bool causal = false;  // key j counts for query i where j <= i + offset; others have `hidden`
  int query_dim = -1, key_dim = -1;
  int64_t offset = 0;
  double hidden = 0;    // the score of keys that do not count: -infinity, or a number far below 0
  TensorId bias = -1;   // added to the scaled scores; -1: none
  std::vector<int> bias_dims;  // [flat dimension of bias]: that of the scores; -1: its extent is 1
};

struct Attention {
  NodeId scores = -1;  // the contraction of q and k
  NodeId values = -1;  // that of p and v
  // Of a training step the contractions that make the gradients of p, v, q and k, else -1.
  NodeId weight_gradients = -1, value_gradients = -1, query_gradients = -1, key_gradients = -1;
  TensorId query = -1, key = -1, value = -1, result_gradient = -1;
  double scale = 1;
  AttentionMask mask;
  // All nodes of the two halves, ascending. What they compute nothing else reads, but the results
  // of `values` and of the gradients of v, q and k; the second half reads what the first computed.
  std::vector<NodeId> forward, backward;

  bool HasBackward() const { return !backward.empty(); }
};

// Those of the graph, which must be linked, by their scores. No node is in two. Casts between types
// of floats count as nothing: a library rounds what it does not store at other places.
std::vector<Attention> FindAttention(const Graph& graph);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ATTENTION_ATTENTION_H_
