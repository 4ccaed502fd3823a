// Attention: heads split off, cached keys and values in front, the mask in the shape of the scores.
#include <cmath>

#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/attention_mask.h"
#include "compiler/import/translate/operators/translate.h"
#include "opsemantics/values/onnx_tensor.h"

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

// The type of the softmax: that of the scores, or the one that the node asks for.
ElementType SoftmaxType(NodeContext& node, ElementType type) {
  if (!node.HasAttribute("softmax_precision")) return type;
  const absl::StatusOr<ElementType> given = ElementTypeFromOnnx(node.Int("softmax_precision", 1));
  if (given.ok() && IsFloat(*given)) return *given;
  node.Fail("attribute 'softmax_precision' must be the number of a float type");
  return type;
}

// Whether numbers of one type are rounded in the other.
bool Rounds(ElementType from, ElementType to) {
  return from != to && ByteSize(to) <= ByteSize(from);
}

struct Operands {
  int q = -1, k = -1, v = -1;  // [batch, heads, sequence, size]
  int added = -1;              // to the scores; or absent
  bool causal = false;         // by the positions alone
  int64_t past = 0;            // keys before the first query
  double scale = 1, cap = 0;
};

// For queries from which what is added may hide every key. A sum of any other is 1 at least: that
// of its greatest score.
void SetGuards(ElementType type, Attributes& attributes) {
  attributes["least"] = LeastFinite(type);
  attributes["floor"] = 0.5;
}

// The values that queries see. One step may be the node's last output: 0, products; 1, these kept
// between -cap and cap; 2, with what is added; 3, the weights.
int Attend(NodeContext& node, const Operands& of, ElementType precision) {
  const int64_t mode = node.Int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) node.Fail("its qk_matmul_output_mode ", mode, " is unknown");
  const ElementType type = node.ValueOf(of.q).type;
  int scores = node.Entry("attention_scores", {of.q, of.k}, {{"scale", of.scale}});
  if (mode == 0) node.SetOutput(3, scores);
  if (of.cap != 0) scores = node.Entry("soft_cap", {scores}, {{"cap", of.cap}});
  if (mode == 1) node.SetOutput(3, scores);
  if (of.added >= 0) scores = node.Entry("add", {scores, of.added});
  if (of.causal) scores = node.Entry("hide_later", {scores}, {{"past", of.past}});
  if (mode == 2) node.SetOutput(3, scores);
  Attributes attributes;
  if (of.added >= 0) SetGuards(precision, attributes);
  const int weights = node.Entry("softmax", {node.Cast(scores, precision)}, attributes);
  const int used = node.Cast(weights, type);
  if (mode == 3) node.SetOutput(3, used);
  return node.Entry("attention_values", {used, of.v});
}

// The operand of the use of the description that makes the value; -1 where another one makes it.
int OperandOf(const char* op, int value, const OnnxGraph& graph) {
  for (auto use = graph.uses.rbegin(); use != graph.uses.rend(); ++use) {
    int operand = -1;
    bool makes = false;
    for (size_t s = 0; s < use->values.size(); ++s) {
      const SlotRole role = use->instance.slots[s].role;
      makes |= role == SlotRole::kOutput && use->values[s] == value;
      if (role == SlotRole::kOperand) operand = use->values[s];
    }
    if (makes) return use->instance.op == op ? operand : -1;
  }
  return -1;
}

bool IsZero(int value, const NodeContext& node) {
  if (!node.IsKnown(value)) return false;
  const std::vector<Scalar>& elements = node.ValueOf(value).known->elements;
  return elements.size() == 1 && elements[0].number == 0;
}

}  // namespace

void TranslateAttention(NodeContext& node) {
  const bool flat = node.Rank(node.Input(0)) == 3;
  Operands of;
  of.q = SplitHeads(node, node.Input(0), "q_num_heads");
  of.k = SplitHeads(node, node.Input(1), "kv_num_heads");
  of.v = SplitHeads(node, node.Input(2), "kv_num_heads");
  const int past = node.Optional(4), lengths = node.Optional(6);
  of.k = Append(node, past, of.k);
  of.v = Append(node, node.Optional(5), of.v);
  if ((past < 0) != (node.Optional(5) < 0)) node.Fail("it has past keys or past values alone");
  if (past >= 0 && lengths >= 0) node.Fail("it has lengths and a past, which exclude each other");
  if (node.failed()) return;
  const Dims q = node.Dims(of.q), k = node.Dims(of.k);
  if (k[1] < 1 || q[1] % k[1] != 0)
    return node.Fail("its ", q[1], " query heads are no multiple of its ", k[1], " key heads");
  const ElementType type = node.ValueOf(of.q).type, precision = SoftmaxType(node, type);
  of.added = AddedToScores(node, q, k, type);
  of.causal = node.Int("is_causal", 0) != 0 && lengths < 0;
  of.past = past < 0 ? 0 : node.Dims(past)[2];
  of.scale = node.Float("scale", 1 / std::sqrt(static_cast<double>(q[3])));
  of.cap = node.Float("softcap", 0);
  if (of.cap < 0) node.Fail("its softcap is negative");
  node.SetOutput(1, of.k);
  node.SetOutput(2, of.v);
  of.v = node.Cast(of.v, type);
  // A wider softmax of the same scores gives the same weights, rounded.
  const int y = Attend(node, of, Rounds(type, precision) ? precision : type);
  node.SetOutput(0, flat ? MergeHeads(node, y) : y);
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
  if (dims.size() != 3 || (dims[0] != x[0] && dims[0] != 1) || dims[1] != x[2] ||
      dims[2] != angles) {
    node.Fail("its cosines and sines must be ", Extents({x[0], x[2], angles}), " where it has no ",
              "positions, or have ", angles, " columns, but they are ", Extents(dims));
  }
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
  if (turned < 2 || turned > dims[3] || turned % 2 != 0) {
    node.Fail("it turns ", turned, " of the ", dims[3],
              " elements of a head: an even number can be");
  }
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

// Where(IsNaN(s), 0, s), s a softmax, as PyTorch's older exporter writes attention with a mask: 0
// where the mask hides all. Of a softmax that is 0 there by itself the gradient is 0 too, and not
// NaN; scores that are NaN or infinite still become 0 by the other two nodes.
void TranslateWhere(NodeContext& node) {
  const int condition = node.Input(0), yes = node.Input(1), no = node.Input(2);
  if (node.failed()) return;
  const int scores = OperandOf("softmax", no, node.graph());
  if (scores < 0 || OperandOf("is_nan", condition, node.graph()) != no || !IsZero(yes, node))
    return node.SetOutput(0, node.Entry("select", {condition, yes, no}));
  Attributes attributes;
  SetGuards(node.ValueOf(scores).type, attributes);
  const int guarded = node.Entry("softmax", {scores}, attributes);
  node.SetOutput(0, node.Entry("select", {node.Entry("is_nan", {guarded}), yes, guarded}));
}

}  // namespace yuba::onnx
