// Attention, spelled out as exporters write it: products, a mask, softmax.
#ifndef YUBA_TOOLS_ZOO_ATTENTION_H_
#define YUBA_TOOLS_ZOO_ATTENTION_H_

#include "tools/zoo/graph_builder.h"

namespace yuba::zoo {

// [batch, positions, heads * size] -> [batch, heads, positions, size].
Value SplitHeads(GraphBuilder& builder, const Value& x, int64_t heads);

// Each of the heads so many times in a row, for queries that share keys and values.
Value RepeatHeads(GraphBuilder& builder, const Value& x, int64_t times);

// bool [positions, positions]: whether the key stands behind the query.
Value CausalMask(GraphBuilder& builder, int64_t positions);

// softmax(q k^T / sqrt(size)) v of tensors [batch, heads, positions, size], put together to [batch,
// positions, heads * size]. Where `mask` has a name, keys at which it holds are not looked at.
Value Attention(GraphBuilder& builder, const Value& q, const Value& k, const Value& v,
                const Value& mask);

// Rotary positions as Llama has them: pairs of elements half a head apart are turned by angles that
// grow with the position.
// The tables are [positions, size]; `theta` is the wavelength of the slowest pair over 2 pi.
struct RotaryTables {
  Value cosines, sines;
};
RotaryTables MakeRotaryTables(GraphBuilder& builder, int64_t positions, int64_t size, double theta);
Value Rotate(GraphBuilder& builder, const Value& x, const RotaryTables& tables);

}  // namespace yuba::zoo

#endif  // YUBA_TOOLS_ZOO_ATTENTION_H_
