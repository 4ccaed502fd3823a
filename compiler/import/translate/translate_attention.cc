// Attention: heads split off, cached keys and values in front, the mask in the shape of the scores.
#include <cmath>
#include <limits>

#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/translate.h"

namespace yuba::onnx {
namespace {

// [batch, sequence, heads * size] as [batch, heads, sequence, size].
int SplitHeads(NodeContext& node, int x, const char* attribute) {
  if (node.failed() || node.Rank(x) == 4) return x;
  const int64_t heads = node.Int(attribute, 0);
  if (node.Rank(x) != 3 || heads < 1 || node.Dims(x)[2] % heads != 0) {
    node.Fail("its operand ", Extents(node.Dims(x)), " does not consist of ", heads, " heads");
    return x;
  }
  const Dims dims = node.Dims(x);
  return node.Transpose(node.Reshape(x, {dims[0], dims[1], heads, dims[2] / heads}), {0, 2, 1, 3});
}

// The other way round.
int MergeHeads(NodeContext& node, int x) {
  if (node.failed()) return -1;
  const Dims dims = node.Dims(x);
  return node.Reshape(node.Transpose(x, {0, 2, 1, 3}), {dims[0], dims[2], dims[1] * dims[3]});
}

// `x` with the cached keys or values `past`, if there are any, in front of it along the sequence.
int Append(NodeContext& node, int past, int x) {
  if (past < 0 || node.failed()) return x;
  Dims expected = node.Dims(x);
  if (node.Rank(past) == 4) expected[2] = node.Dims(past)[2];
  if (node.Dims(past) != expected)
    node.Fail("its past ", Extents(node.Dims(past)), " does not fit ", Extents(node.Dims(x)));
  if (node.failed() || expected[2] == 0) return x;
  return node.Write(ConcatTemplate({node.Dims(past), node.Dims(x)}, 2), {past, x});
}

// What is added to the scores, with the dimensions
// [batch or 1, groups or 1, heads of a group or 1, rows, columns].
int MaskOf(NodeContext& node, int mask, const Dims& q, const Dims& k, ElementType type) {
  if (mask < 0 || node.failed()) return -1;
  if (node.ValueOf(mask).type == ElementType::kBool) {
    const int zero = node.Literal(type, 0);
    const int none = node.Literal(type, -std::numeric_limits<double>::infinity());
    mask = node.Entry("select", {mask, zero, none});
  }
  Dims dims = node.Dims(mask);
  while (dims.size() < 4) dims.insert(dims.begin(), 1);
  mask = node.Reshape(mask, dims);
  if (dims[3] != 1 && dims[3] < k[2]) {  // the keys that it leaves out are hidden
    const int none = node.Literal(type, -std::numeric_limits<double>::infinity());
    mask = node.Entry("pad", {mask, none}, {{"hi", Dims{0, 0, 0, k[2] - dims[3]}}});
    dims[3] = k[2];
  }
  const bool fits = dims.size() == 4 && (dims[0] == q[0] || dims[0] == 1) &&
                    (dims[1] == q[1] || dims[1] == 1) && (dims[2] == q[2] || dims[2] == 1) &&
                    (dims[3] == k[2] || dims[3] == 1);
  if (!fits) node.Fail("its mask ", Extents(node.Dims(mask)), " does not fit its scores");
  if (node.failed()) return -1;
  const Dims full = {dims[0], dims[1], q[2], k[2]};
  if (dims != full) mask = node.Write(ExpandTemplate(dims, full), {mask});
  const int64_t groups = dims[1] == 1 ? 1 : k[1];
  return node.Reshape(mask, {dims[0], groups, dims[1] / groups, q[2], k[2]});
}

// The least finite number of a type.
double LeastFinite(ElementType type) {
  switch (type) {
    case ElementType::kF64: return std::numeric_limits<double>::lowest();
    case ElementType::kF16: return -65504;
    case ElementType::kBF16: return -0x1.fep127;
    default: return std::numeric_limits<float>::lowest();
  }
}

}  // namespace

void TranslateAttention(NodeContext& node) {
  const bool flat = node.Rank(node.Input(0)) == 3;
  const int q = SplitHeads(node, node.Input(0), "q_num_heads");
  int k = SplitHeads(node, node.Input(1), "kv_num_heads");
  int v = SplitHeads(node, node.Input(2), "kv_num_heads");
  const int past = node.Optional(4);
  k = Append(node, past, k);
  v = Append(node, node.Optional(5), v);
  if (node.Optional(6) >= 0 || node.Float("softcap", 0) != 0 || node.HasOutput(3))
    node.Fail("softcap, lengths without padding and the scores as an output are not supported");
  if (node.failed()) return;
  const Dims qd = node.Dims(q), kd = node.Dims(k);
  if (kd[1] < 1 || qd[1] % kd[1] != 0)
    return node.Fail("its ", qd[1], " query heads are no multiple of its ", kd[1], " key heads");
  const int mask = MaskOf(node, node.Optional(3), qd, kd, node.ValueOf(q).type);
  const double scale = node.Float("scale", 1 / std::sqrt(static_cast<double>(qd[3])));
  const int64_t before = past < 0 ? 0 : node.Dims(past)[2];
  Attributes attributes = {
      {"scale", scale}, {"causal", node.Int("is_causal", 0)}, {"past", before}};
  // Without a mask each query sees a key: the causal order hides none of the first ones.
  if (mask >= 0) attributes["least"] = LeastFinite(node.ValueOf(q).type);
  int y = node.Entry("attention", {q, k, v, mask}, attributes);
  if (node.failed()) return;
  if (flat) y = MergeHeads(node, y);
  node.SetOutput(0, y);
  node.SetOutput(1, k);
  node.SetOutput(2, v);
}

namespace {

// Elements `begin` to `end` of the last dimension of x.
int OfLast(NodeContext& node, int x, int64_t begin, int64_t end) {
  if (node.failed()) return -1;
  const Dims dims = node.Dims(x);
  Dims start(dims.size(), 0), step(dims.size(), 1), length = dims;
  start.back() = begin;
  length.back() = end - begin;
  return length == dims ? x : node.Write(SliceTemplate(dims, start, step, length), {x});
}

// The cosines or sines of each position, [batch or 1, sequence, angles].
int AnglesOf(NodeContext& node, int table, const Dims& x, int64_t angles) {
  const int ids = node.Optional(3);
  if (ids >= 0 && (node.Rank(table) != 2 || node.Rank(ids) != 2))
    node.Fail("its positions, cosines and sines must have two dimensions");
  if (ids >= 0) table = node.Entry("gather", {table, ids});
  if (node.failed()) return -1;
  const Dims& dims = node.Dims(table);
  if (dims.size() != 3 || (dims[0] != x[0] && dims[0] != 1) || dims[1] != x[2] || dims[2] != angles)
    node.Fail("its cosines and sines must be ", Extents({x[0], x[2], angles}), " where it has no ",
              "positions, or have ", angles, " columns, but they are ", Extents(dims));
  return table;
}

}  // namespace

// The first elements of each head, or all, turned by the angles of its position.
void TranslateRotaryEmbedding(NodeContext& node) {
  const int given = node.Input(0);
  const int x = SplitHeads(node, given, "num_heads");
  if (node.failed()) return;
  const Dims dims = node.Dims(x);
  int64_t turned = node.Int("rotary_embedding_dim", 0);
  if (turned == 0) turned = dims[3];
  if (turned < 2 || turned > dims[3] || turned % 2 != 0)
    node.Fail("it turns ", turned, " of the ", dims[3],
              " elements of a head: an even number can be");
  const int cs = AnglesOf(node, node.Input(1), dims, turned / 2);
  const int sn = AnglesOf(node, node.Input(2), dims, turned / 2);
  const bool pairs = node.Int("interleaved", 0) != 0;
  int y =
      node.Entry(pairs ? "rotary_pairs" : "rotary_halves", {OfLast(node, x, 0, turned), cs, sn});
  if (node.failed()) return;
  if (turned < dims[3]) {
    const int rest = OfLast(node, x, turned, dims[3]);
    y = node.Write(ConcatTemplate({node.Dims(y), node.Dims(rest)}, 3), {y, rest});
  }
  node.SetOutput(0, node.Rank(given) == 3 ? MergeHeads(node, y) : y);
}

}  // namespace yuba::onnx
