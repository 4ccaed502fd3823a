#include "tools/zoo/attention.h"

#include <cmath>
#include <limits>

#include "tools/zoo/layers.h"

namespace yuba::zoo {

Value SplitHeads(GraphBuilder& builder, const Value& x, int64_t heads) {
  const Value split = Reshape(builder, x, {x.dims[0], x.dims[1], heads, x.dims[2] / heads});
  return Transpose(builder, split, {0, 2, 1, 3});
}

Value RepeatHeads(GraphBuilder& builder, const Value& x, int64_t times) {
  if (times == 1) return x;
  const int64_t heads = x.dims[1], positions = x.dims[2], size = x.dims[3];
  const Value one = builder.Apply("Unsqueeze", {x, builder.Integers({2})},
                                  {x.dims[0], heads, 1, positions, size});
  const Value repeated = builder.Apply("Expand", {one, builder.Integers({1, 1, times, 1, 1})},
                                       {x.dims[0], heads, times, positions, size});
  return Reshape(builder, repeated, {x.dims[0], heads * times, positions, size});
}

namespace {

// 0, 1, ... as numbers or integers, like `zero`, up to `end`.
Value Positions(GraphBuilder& builder, const Value& zero, const Value& end, const Value& one,
                int64_t count) {
  return builder.Apply("Range", {zero, end, one}, {count});
}

}  // namespace

Value CausalMask(GraphBuilder& builder, int64_t positions) {
  const Scope scope(builder, "mask");
  const Value keys = Positions(builder, builder.Integer(0), builder.Integer(positions),
                               builder.Integer(1), positions);
  const Value queries = builder.Apply("Unsqueeze", {keys, builder.Integers({1})}, {positions, 1});
  return builder.Apply("Greater", {keys, queries}, {positions, positions});
}

Value Attention(GraphBuilder& builder, const Value& q, const Value& k, const Value& v,
                const Value& mask) {
  const Dims weights = {q.dims[0], q.dims[1], q.dims[2], k.dims[2]};
  const Value products = builder.Apply("MatMul", {q, Transpose(builder, k, {0, 1, 3, 2})}, weights);
  const float size = std::sqrt(static_cast<float>(q.dims[3]));
  Value scores = Binary(builder, "Div", products, builder.Number(size));
  if (!mask.name.empty()) {
    const Value none = builder.Number(-std::numeric_limits<float>::infinity());
    scores = builder.Apply("Where", {mask, none, scores}, weights);
  }
  const Value shares = builder.Apply("Softmax", {scores}, weights, {{"axis", -1}});
  const Value mixed = builder.Apply("MatMul", {shares, v}, q.dims);
  return Reshape(builder, Transpose(builder, mixed, {0, 2, 1, 3}),
                 {q.dims[0], q.dims[2], q.dims[1] * q.dims[3]});
}

RotaryTables MakeRotaryTables(GraphBuilder& builder, int64_t positions, int64_t size,
                              double theta) {
  const Scope scope(builder, "rotary");
  std::vector<float> frequencies;
  for (int64_t i = 0; i < size; ++i) {
    const double turn = static_cast<double>(2 * (i % (size / 2))) / static_cast<double>(size);
    frequencies.push_back(static_cast<float>(std::pow(theta, -turn)));
  }
  const Value counted =
      Positions(builder, builder.Number(0), builder.Number(static_cast<float>(positions)),
                builder.Number(1), positions);
  const Value column = builder.Apply("Unsqueeze", {counted, builder.Integers({1})}, {positions, 1});
  const Value angles =
      builder.Apply("Mul", {column, builder.Numbers(frequencies)}, {positions, size});
  return {Unary(builder, "Cos", angles), Unary(builder, "Sin", angles)};
}

Value Rotate(GraphBuilder& builder, const Value& x, const RotaryTables& tables) {
  const int64_t half = x.dims[3] / 2;
  const std::vector<Value> halves = Split(builder, x, 3, {half, half});
  const Value turned = builder.Apply("Concat", {Unary(builder, "Neg", halves[1]), halves[0]},
                                     x.dims, {{"axis", -1}});
  return Binary(builder, "Add", Binary(builder, "Mul", x, tables.cosines),
                Binary(builder, "Mul", turned, tables.sines));
}

}  // namespace yuba::zoo
