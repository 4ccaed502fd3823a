// Attention, by structure, whatever wrote it: which nodes of a graph compute
//
//   s[b, i, j] = scale * sum(c) q[b, i, c] * k[b, j, c] + bias[b, i, j], hidden where a mask says
//   so p[b, i, j] = exp(s[b, i, j] - max(j) s[b, i, j]) / sum(j) exp(s[b, i, j] - max(j) s[b, i,
//   j]) o[b, i, e] = sum(j) p[b, i, j] * v[b, j, e]
//
// in any order of dimensions, with any number of indices in place of b, and, of a training step,
// the gradients of q, k and v. A library may compute each of the two halves in one call, so that
// nothing with the dimensions of s is stored. Names and operators decide nothing.
//
// Example: MatMul, Div, Where, Softmax and MatMul of an exported decoder are five or six nodes
// here: a contraction, a map, the three definitions of softmax, a contraction.
#ifndef YUBA_COMPILER_ATTENTION_ATTENTION_H_
#define YUBA_COMPILER_ATTENTION_ATTENTION_H_

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/model.h"
#include "opsemantics/definition/graph.h"
#include "runtime/program/check_attention.h"

namespace yuba::compiler {

// Which scores count. Dimensions are flat dimensions of the scores.
struct AttentionMask {
  bool causal = false;  // key j counts for query i where j <= i + offset; others have `hidden`
  int query_dim = -1, key_dim = -1;
  int64_t offset = 0;
  double hidden = 0;   // the score of keys that do not count: -infinity, or a number far below 0
  TensorId bias = -1;  // added to the scaled scores; -1: none
  std::vector<int> bias_dims;  // [flat dimension of bias]: that of the scores; -1: its extent is 1
};

struct AttentionProduct {
  NodeId node = -1;       // -1: there is none
  TensorId factor = -1;   // q, v, the gradient of o, again, k, q: what it multiplies with scores,
                          // weights or their gradients, or with v
  std::vector<int> dims;  // [index of its definition]: the dimension of the scores, or -1 where it
                          // runs along elements of queries or values
};

struct Attention {
  std::array<AttentionProduct, program::kAttentionSteps> products;  // [program::AttentionStep]
  std::vector<int> key_dims;  // the flat dimensions of the scores that run along keys, ascending
  double scale = 1;
  AttentionMask mask;
  // All nodes of the two halves, ascending. What they compute nothing else reads, but the results
  // of kValues and of the gradients of v, q and k; the second half reads what the first computed.
  std::vector<NodeId> forward, backward;

  bool HasBackward() const { return !backward.empty(); }
  NodeId NodeOf(program::AttentionStep step) const { return products[step].node; }
};

// Those of the model's graph, which must be linked, by their scores. No node is in two. Casts
// between types of floats count as nothing: a library rounds what it does not store at other
// places.
std::vector<Attention> FindAttention(const Model& model);

// Whether a library may have calls for it: all tensors of bf16 or of f16, and numbers of elements
// of a query and a value that it takes.
bool IsForLibrary(const Graph& graph, const Attention& attention);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ATTENTION_ATTENTION_H_
