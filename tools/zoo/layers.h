// Layers that several models are made of. Each adds its nodes and parameters in a scope of its own
// name, and returns its result. Sequences are [batch, positions, width], images [batch, channels,
// heights...], as in PyTorch; so are names and initial values of parameters.
#ifndef YUBA_TOOLS_ZOO_LAYERS_H_
#define YUBA_TOOLS_ZOO_LAYERS_H_

#include <string>

#include "tools/zoo/graph_builder.h"

namespace yuba::zoo {

// Operations of one node. Binary ones have the dimensions of their first operand.
Value Unary(GraphBuilder& builder, const std::string& op, const Value& x);
Value Binary(GraphBuilder& builder, const std::string& op, const Value& a, const Value& b);
Value Reshape(GraphBuilder& builder, const Value& x, const Dims& dims);  // keeps dimension 0
Value Transpose(GraphBuilder& builder, const Value& x, const Dims& order);
// Parts of `sizes` along the dimension.
std::vector<Value> Split(GraphBuilder& builder, const Value& x, int64_t axis, const Dims& sizes);
// Over the last dimension, which stays as 1.
Value MeanOfLast(GraphBuilder& builder, const Value& x);

// A trained product along the last dimension, with weight [inner, width] and bias [width].
struct LinearOptions {
  int64_t width = 0;
  Draw weight, bias;
  bool has_bias = true;
};
Value Linear(GraphBuilder& builder, const std::string& name, const Value& x,
             const LinearOptions& options);
// PyTorch's own initial values: both uniform, up to 1 / sqrt(inner).
Value DefaultLinear(GraphBuilder& builder, const std::string& name, const Value& x, int64_t width);

// Rows of a table [rows, width] at the positions `ids` of integers.
Value Embedding(GraphBuilder& builder, const std::string& name, const Value& ids, int64_t rows,
                int64_t width, const Draw& draw);

Value LayerNorm(GraphBuilder& builder, const std::string& name, const Value& x, float epsilon);
Value RmsNorm(GraphBuilder& builder, const std::string& name, const Value& x, float epsilon);

Value Gelu(GraphBuilder& builder, const Value& x);      // by erf
Value GeluTanh(GraphBuilder& builder, const Value& x);  // GPT-2's
Value Silu(GraphBuilder& builder, const Value& x);

}  // namespace yuba::zoo

#endif  // YUBA_TOOLS_ZOO_LAYERS_H_
