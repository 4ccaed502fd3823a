// Graphs for tests, built by hand, without the library of operators: each function adds one
// definition and returns the tensor that it writes. The formula above a function is the definition.
#ifndef YUBA_TESTS_SUPPORT_GRAPHS_H_
#define YUBA_TESTS_SUPPORT_GRAPHS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba {

class GraphBuilder {
 public:
  // Names are prefix + a number.
  explicit GraphBuilder(std::string prefix = "t") : prefix_(std::move(prefix)) {}

  TensorId Input(std::vector<int64_t> dims, ElementType type = ElementType::kF32);
  TensorId Parameter(std::vector<int64_t> dims, ElementType type = ElementType::kF32);

  // c[i, j] = sum(k) a[i, k] * b[k, j]
  TensorId Matmul(TensorId a, TensorId b);
  // c[n, i, j] = sum(k) a[n, i, k] * b[n, k, j]
  TensorId BatchedMatmul(TensorId a, TensorId b);
  // y[n, o, p, q] = sum(c, u, v) x[n, c, p*stride + u - pad, q*stride + v - pad] * w[o, c, u, v]
  TensorId Conv(TensorId x, TensorId w, int64_t stride = 1, int64_t pad = 0);
  // y[n, c, p, q] = max(u, v) x[n, c, p*stride + u - pad, q*stride + v - pad]
  TensorId MaxPool(TensorId x, int64_t size, int64_t stride, int64_t pad = 0);
  // The mirror of a strided convolution in one dimension, as a gradient has it:
  // x[n, q] = sum(t, u where t*stride + u == q) y[n, t] * w[u]
  TensorId ConvGradient(TensorId y, TensorId w, int64_t stride, int64_t extent);
  // What training makes of a convolution: dx[n, c, h, w], of the dimensions `dims`, and dw.
  TensorId ConvInputGradient(TensorId dy, TensorId w, const std::vector<int64_t>& dims,
                             int64_t stride, int64_t pad);
  TensorId ConvWeightGradient(TensorId dy, TensorId x, const std::vector<int64_t>& dims,
                              int64_t stride, int64_t pad);
  // dx[n, c, h, w] = dy[n, c, h / 2, w / 2]: what a pooling of 2 x 2 passes back, or enlarging by 2
  TensorId Enlarge(TensorId dy);
  // y[n, c, ..] = a[n, c, ..], after its channels b[n, c - channels of a, ..]
  TensorId Concat(TensorId a, TensorId b);
  // y[n, i, ..] = x[n, first + i, ..]
  TensorId Channels(TensorId x, int64_t first, int64_t count);
  TensorId Add(TensorId a, TensorId b);
  TensorId Relu(TensorId x);
  // y = x * s[d] + s[d], s along dimension `dim`
  TensorId Scale(TensorId x, TensorId s, int dim);
  TensorId SumOver(TensorId x, int dim);
  TensorId Transpose(TensorId x);  // of a matrix
  // Reshapes, as the importer adds them where factors differ: y[.., i, j, ..] = x[.., a, ..] and
  // y[.., a, ..] = x[.., i, j, ..] where a == i*inner + j; i runs along dimension `dim`.
  TensorId Split(TensorId x, int dim, int64_t inner);
  TensorId Merge(TensorId x, int dim);
  // y[i, ..] = x[first + i, ..]
  TensorId Slice(TensorId x, int64_t first, int64_t extent);
  // y[i, ..] = x[i - by, ..], 0 outside
  TensorId Shift(TensorId x, int64_t by);
  // z[i, g, j] = sum(k) x[i, k] * w[g, j, k]
  TensorId Gates(TensorId x, TensorId w);
  // y[i, j] = z[i, g, j] * c[i, j] + z[i, h, j]: gates g and h
  TensorId Gated(TensorId z, TensorId c, int64_t g, int64_t h);

  const std::vector<int64_t>& Dims(TensorId tensor) const { return TypeOf(tensor).dims; }
  Graph Finish(const std::vector<TensorId>& outputs);

 private:
  TensorId AddTensor(TensorKind kind, TensorType type);
  TensorId AddNode(const std::string& op, Definition definition, std::vector<TensorId> operands);
  const TensorType& TypeOf(TensorId tensor) const { return graph_.tensors[tensor].type; }

  std::string prefix_;
  Graph graph_;
};

// The convolutions, pooling, additions and last layer of ResNet-50 (or -152 with {3, 8, 36, 3}).
Graph ResNet(int64_t batch, const std::vector<int>& blocks);

// Unrolled recurrent layers of four gates, weights shared by the steps.
Graph Recurrent(int64_t batch, int64_t width, int layers, int steps);

// Matmuls in a row: x is rows x features[0], each further number of features one matmul with a
// parameter. {256, 256, 256} with 128 rows are two matmuls.
Graph MatmulChain(const std::vector<int64_t>& features, int64_t rows);

// The graph with a map y = t0 + t1 + ... of these tensors as its output, which GraphBuilder makes
// of two tensors only.
Graph WithSumOf(Graph graph, const std::vector<TensorId>& terms);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_GRAPHS_H_
