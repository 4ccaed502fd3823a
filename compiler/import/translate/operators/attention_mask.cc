#include "compiler/import/translate/operators/attention_mask.h"

#include <limits>

namespace yuba::onnx {
namespace {

constexpr int kMask = 3, kLengths = 6;  // operands

// 0 where the condition holds, else -inf.
int Biased(NodeContext& node, int condition, ElementType type) {
  const double none = -std::numeric_limits<double>::infinity();
  return node.Entry("select", {condition, node.Literal(type, 0), node.Literal(type, none)});
}

int OfMask(NodeContext& node, const Dims& q, const Dims& k, ElementType type) {
  int mask = node.Optional(kMask);
  if (mask < 0 || node.failed()) return -1;
  if (node.ValueOf(mask).type == ElementType::kBool)
    mask = Biased(node, mask, type);
  else if (!IsFloat(node.ValueOf(mask).type))
    node.Fail("its mask must be of bools or floats");
  mask = node.Cast(mask, type);
  Dims dims = node.Dims(mask);
  while (dims.size() < 4) dims.insert(dims.begin(), 1);
  mask = node.Reshape(mask, dims);
  if (dims[3] != 1 && dims[3] < k[2]) {  // the keys that it leaves out are hidden
    const int none = node.Literal(type, -std::numeric_limits<double>::infinity());
    mask = node.Entry("pad", {mask, none}, {{"hi", Dims{0, 0, 0, k[2] - dims[3]}}});
    dims[3] = k[2];
  }
  const Dims all = {q[0], q[1], q[2], k[2]};
  bool fits = dims.size() == 4;
  for (int d = 0; fits && d < 4; ++d) fits = dims[d] == all[d] || dims[d] == 1;
  if (!fits) {
    node.Fail("its mask ", Extents(node.Dims(node.Optional(kMask))), " does not fit its scores ",
              Extents(all));
  }
  if (node.failed()) return -1;
  const Dims full = {dims[0], dims[1], q[2], k[2]};
  return dims == full ? mask : node.Write(ExpandTemplate(dims, full), {mask});
}

int OfLengths(NodeContext& node, const Dims& q, const Dims& k, ElementType type) {
  const int lengths = node.Optional(kLengths);
  if (lengths < 0 || node.failed()) return -1;
  if (node.Dims(lengths) != Dims{q[0]}) {
    node.Fail("its lengths ", Extents(node.Dims(lengths)), " must be one for each of ", q[0],
              " elements of the batch");
  }
  const Attributes attributes = {
      {"s", q[2]}, {"t", k[2]}, {"choices", k[2] + 1}, {"causal", node.Int("is_causal", 0)}};
  const int seen = node.Entry("sees_keys", {lengths}, attributes);
  return node.Reshape(Biased(node, seen, type), {q[0], 1, q[2], k[2]});
}

}  // namespace

int AddedToScores(NodeContext& node, const Dims& q, const Dims& k, ElementType type) {
  const int mask = OfMask(node, q, k, type), lengths = OfLengths(node, q, k, type);
  if (mask < 0 || lengths < 0) return mask < 0 ? lengths : mask;
  return node.Entry("add", {mask, lengths});
}

double LeastFinite(ElementType type) {
  switch (type) {
    case ElementType::kF64: return std::numeric_limits<double>::lowest();
    case ElementType::kF16: return -65504;
    case ElementType::kBF16: return -0x1.fep127;
    default: return std::numeric_limits<float>::lowest();
  }
}

}  // namespace yuba::onnx
