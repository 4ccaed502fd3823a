#include "tools/zoo/layers.h"

#include <cmath>

namespace yuba::zoo {

Value Unary(GraphBuilder& builder, const std::string& op, const Value& x) {
  return builder.Apply(op, {x}, x.dims);
}

Value Binary(GraphBuilder& builder, const std::string& op, const Value& a, const Value& b) {
  return builder.Apply(op, {a, b}, a.dims);
}

Value Reshape(GraphBuilder& builder, const Value& x, const Dims& dims) {
  Dims sizes = dims;
  sizes[0] = 0;  // in ONNX: as it is
  return builder.Apply("Reshape", {x, builder.Integers(sizes)}, dims);
}

Value Transpose(GraphBuilder& builder, const Value& x, const Dims& order) {
  Dims dims;
  for (const int64_t dim : order) dims.push_back(x.dims[dim]);
  return builder.Apply("Transpose", {x}, dims, {{"perm", order}});
}

std::vector<Value> Split(GraphBuilder& builder, const Value& x, int64_t axis, const Dims& sizes) {
  std::vector<Dims> parts(sizes.size(), x.dims);
  for (size_t p = 0; p < sizes.size(); ++p) parts[p][axis] = sizes[p];
  return builder.ApplyMany("Split", {x, builder.Integers(sizes)}, parts, {{"axis", axis}});
}

Value MeanOfLast(GraphBuilder& builder, const Value& x) {
  Dims dims = x.dims;
  dims.back() = 1;
  return builder.Apply("ReduceMean", {x, builder.Integers({-1})}, dims, {{"keepdims", 1}});
}

Value Linear(GraphBuilder& builder, const std::string& name, const Value& x,
             const LinearOptions& options) {
  const Scope scope(builder, name);
  const Value weight = builder.Parameter("weight", {x.dims.back(), options.width}, options.weight);
  Dims dims = x.dims;
  dims.back() = options.width;
  const Value product = builder.Apply("MatMul", {x, weight}, dims);
  if (!options.has_bias) return product;
  return Binary(builder, "Add", product, builder.Parameter("bias", {options.width}, options.bias));
}

Value DefaultLinear(GraphBuilder& builder, const std::string& name, const Value& x, int64_t width) {
  const Draw draw = Uniform(1 / std::sqrt(static_cast<double>(x.dims.back())));
  return Linear(builder, name, x, {width, draw, draw});
}

Value Embedding(GraphBuilder& builder, const std::string& name, const Value& ids, int64_t rows,
                int64_t width, const Draw& draw) {
  const Scope scope(builder, name);
  Dims dims = ids.dims;
  dims.push_back(width);
  return builder.Apply("Gather", {builder.Parameter("weight", {rows, width}, draw), ids}, dims,
                       {{"axis", 0}});
}

Value LayerNorm(GraphBuilder& builder, const std::string& name, const Value& x, float epsilon) {
  const Scope scope(builder, name);
  const Dims width = {x.dims.back()};
  return builder.Apply("LayerNormalization",
                       {x, builder.Parameter("weight", width, Filled(1)),
                        builder.Parameter("bias", width, Filled(0))},
                       x.dims, {{"axis", -1}, {"epsilon", epsilon}});
}

Value RmsNorm(GraphBuilder& builder, const std::string& name, const Value& x, float epsilon) {
  const Scope scope(builder, name);
  const Value squares = Binary(builder, "Pow", x, builder.Number(2));
  const Value mean = Binary(builder, "Add", MeanOfLast(builder, squares), builder.Number(epsilon));
  const Value normal = Binary(builder, "Div", x, Unary(builder, "Sqrt", mean));
  return Binary(builder, "Mul", normal, builder.Parameter("weight", {x.dims.back()}, Filled(1)));
}

Value Gelu(GraphBuilder& builder, const Value& x) {
  const Value scaled = Binary(builder, "Div", x, builder.Number(std::sqrt(2.0f)));
  const Value share = Binary(builder, "Add", Unary(builder, "Erf", scaled), builder.Number(1));
  return Binary(builder, "Mul", Binary(builder, "Mul", x, share), builder.Number(0.5f));
}

Value GeluTanh(GraphBuilder& builder, const Value& x) {
  const Value cube = Binary(builder, "Pow", x, builder.Number(3));
  const Value sum =
      Binary(builder, "Add", x, Binary(builder, "Mul", cube, builder.Number(0.044715f)));
  const Value scaled =
      Binary(builder, "Mul", sum, builder.Number(static_cast<float>(std::sqrt(2 / M_PI))));
  const Value share = Binary(builder, "Add", Unary(builder, "Tanh", scaled), builder.Number(1));
  return Binary(builder, "Mul", Binary(builder, "Mul", x, builder.Number(0.5f)), share);
}

Value Silu(GraphBuilder& builder, const Value& x) {
  return Binary(builder, "Mul", x, Unary(builder, "Sigmoid", x));
}

}  // namespace yuba::zoo
