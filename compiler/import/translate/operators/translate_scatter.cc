// What gathers from and scatters to places that integers name.
#include "absl/types/optional.h"
#include "compiler/import/templates/scatter.h"
#include "compiler/import/translate/decided_values.h"
#include "compiler/import/translate/operators/translate.h"
#include "opsemantics/base/check.h"

namespace yuba::onnx {
namespace {

int64_t Elements(const Dims& dims) { return ElementCount(TensorType{ElementType::kBool, dims}); }

absl::optional<ScatterReduction> ReductionOf(NodeContext& node, ElementType type) {
  static constexpr std::pair<const char*, ScatterReduction> kReductions[] = {
      {"none", ScatterReduction::kNone},
      {"add", ScatterReduction::kAdd},
      {"mul", ScatterReduction::kMul},
      {"max", ScatterReduction::kMax},
      {"min", ScatterReduction::kMin}};
  const std::string name = node.String("reduction", "none");
  for (const auto& [known, reduction] : kReductions) {
    if (name != known) continue;
    if (type == ElementType::kBool && reduction != ScatterReduction::kNone)
      node.Fail("its reduction '", name, "' of bools is not supported");
    return reduction;
  }
  node.Fail("its reduction '", name, "' is none of none, add, mul, max and min");
  return absl::nullopt;
}

// Integers that name places along `depth` dimensions from `batch` on.
void CheckTuples(NodeContext& node, const Dims& data, const Dims& indices, int64_t batch) {
  const int64_t behind = static_cast<int64_t>(data.size()) - batch;
  if (indices.back() < 1 || indices.back() > behind) {
    node.Fail("the last dimension of its indices ", Extents(indices), " must be 1 to ", behind,
              ": so many dimensions of its operand ", Extents(data), " can be looked up");
  }
}

// That the updates are of the operand's type, and the places integers.
void CheckTypes(NodeContext& node, int x, int ids, int updates) {
  const ElementType type = node.ValueOf(x).type, put = node.ValueOf(updates).type,
                    at = node.ValueOf(ids).type;
  if (put != type) {
    node.Fail("its updates are ", Name(put), ", and its operand is ", Name(type),
              ": they must be of one type");
  }
  if (at != ElementType::kI64 && at != ElementType::kI32)
    node.Fail("its indices are ", Name(at), ", and must be i64 or i32");
}

// Scatters of constants are constants, up to so many elements: masks of windows that are made by
// assigning to slices.
constexpr int64_t kMostDecided = 65536;

// Where each update of a scatter goes: an offset into the elements of data.
class Targets {
 public:
  Targets(NodeContext& node, const Dims& data, const TensorValue& ids) : node_(node), ids_(ids) {
    data_ = data;
    strides_.assign(data.size(), 1);
    for (size_t d = data.size(); d-- > 1;) strides_[d - 1] = strides_[d] * data[d];
  }

  // Of ScatterND: the places are tuples of `depth` integers.
  std::vector<int64_t> OfTuples(size_t depth) {
    std::vector<int64_t> targets;
    for (size_t tuple = 0; tuple < ids_.elements.size(); tuple += depth) {
      int64_t first = 0;
      for (size_t d = 0; d < depth; ++d) first += Offset(tuple + d, d);
      for (int64_t e = 0; e < strides_[depth - 1]; ++e) targets.push_back(first + e);
    }
    return targets;
  }

  // Of ScatterElements: the places are integers along `axis`.
  std::vector<int64_t> OfElements(size_t axis) {
    std::vector<int64_t> targets;
    for (size_t e = 0; e < ids_.elements.size(); ++e) {
      int64_t rest = static_cast<int64_t>(e), target = Offset(e, axis);
      for (size_t d = data_.size(); d-- > 0;) {
        const int64_t extent = ids_.type.dims[d];
        if (d != axis) target += rest % extent * strides_[d];
        rest /= extent;
      }
      targets.push_back(target);
    }
    return targets;
  }

 private:
  int64_t Offset(size_t id, size_t dim) {
    const int64_t extent = data_[dim], at = ids_.elements[id].integer;
    if (at >= extent || at < -extent) {
      node_.Fail("index ", at, " is outside dimension ", dim, " of ", Extents(data_));
      return 0;
    }
    return (at < 0 ? at + extent : at) * strides_[dim];
  }

  NodeContext& node_;
  Dims data_, strides_;
  const TensorValue& ids_;
};

// Sets the output where constants decide it. `depth`: of a ScatterND; `axis`: of a ScatterElements;
// the other is -1. The updates are as many as they should be.
bool SetDecided(NodeContext& node, int x, int ids, int updates, int depth, int axis) {
  const absl::optional<TensorValue> at = DecidedValue(node.graph(), ids, kMostDecided);
  if (!at.has_value()) return false;
  const absl::optional<TensorValue> from = DecidedValue(node.graph(), x, kMostDecided);
  if (!from.has_value()) return false;
  const absl::optional<TensorValue> put = DecidedValue(node.graph(), updates, kMostDecided);
  if (!put.has_value()) return false;
  Targets targets(node, node.Dims(x), *at);
  const std::vector<int64_t> offsets =
      depth > 0 ? targets.OfTuples(depth) : targets.OfElements(axis);
  if (node.failed()) return true;
  TensorValue result = *from;
  YUBA_CHECK(offsets.size() == put->elements.size());
  for (size_t u = 0; u < offsets.size(); ++u) result.elements[offsets[u]] = put->elements[u];
  node.SetOutput(0, node.Constant(std::move(result)));
  return true;
}

}  // namespace

void TranslateGatherNd(NodeContext& node) {
  const int x = node.Input(0), ids = node.Input(1);
  const int64_t batch = node.Int("batch_dims", 0);
  if (node.failed()) return;
  const Dims data = node.Dims(x), indices = node.Dims(ids);
  if (batch < 0 || batch >= node.Rank(x) || batch >= node.Rank(ids)) {
    return node.Fail("its batch_dims ", batch, " must be less than the ranks of its operands ",
                     Extents(data), " and ", Extents(indices));
  }
  CheckTuples(node, data, indices, batch);
  for (int64_t d = 0; d < batch; ++d) {
    if (data[d] != indices[d]) {
      node.Fail("its operands ", Extents(data), " and ", Extents(indices), " differ in dimension ",
                d, ", which is one of the batch");
    }
  }
  if (node.failed()) return;
  node.SetOutput(0, node.Write(GatherNdTemplate(data, indices, static_cast<int>(batch)), {x, ids}));
}

void TranslateScatterNd(NodeContext& node) {
  const int x = node.Input(0);
  int ids = node.Input(1), updates = node.Input(2);
  if (!node.failed()) CheckTypes(node, x, ids, updates);
  if (node.failed()) return;
  const ElementType type = node.ValueOf(x).type;
  const absl::optional<ScatterReduction> reduction = ReductionOf(node, type);
  const Dims data = node.Dims(x);
  Dims indices = node.Dims(ids);
  if (data.empty() || indices.empty())
    return node.Fail("it needs operands of at least one dimension");
  CheckTuples(node, data, indices, 0);
  if (node.failed()) return;
  Dims expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), data.begin() + indices.back(), data.end());
  if (node.Dims(updates) != expected)
    return node.Fail("its updates ", Extents(node.Dims(updates)), " must be ", Extents(expected));
  if (Elements(expected) == 0) return node.SetOutput(0, x);
  if (*reduction == ScatterReduction::kNone &&
      SetDecided(node, x, ids, updates, static_cast<int>(indices.back()), -1))
    return;
  if (indices.size() == 1) {  // one update
    indices.insert(indices.begin(), 1);
    expected.insert(expected.begin(), 1);
    ids = node.Reshape(ids, indices);
    updates = node.Reshape(updates, expected);
  }
  node.SetOutput(0,
                 node.Write(ScatterNdTemplate(data, indices, *reduction, type), {x, ids, updates}));
}

void TranslateScatterElements(NodeContext& node) {
  const int x = node.Input(0), ids = node.Input(1), updates = node.Input(2);
  if (!node.failed()) CheckTypes(node, x, ids, updates);
  if (node.failed()) return;
  const ElementType type = node.ValueOf(x).type;
  const absl::optional<ScatterReduction> reduction = ReductionOf(node, type);
  const Dims data = node.Dims(x), indices = node.Dims(ids);
  const int axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  if (node.Dims(updates) != indices || indices.size() != data.size()) {
    node.Fail("its indices ", Extents(indices), " and updates ", Extents(node.Dims(updates)),
              " must be of one shape, with as many dimensions as ", Extents(data));
  }
  for (size_t d = 0; d < data.size() && !node.failed(); ++d) {
    if (static_cast<int>(d) != axis && indices[d] > data[d]) {
      node.Fail("dimension ", d, " of its indices ", Extents(indices), " is longer than that of ",
                Extents(data));
    }
  }
  if (node.failed()) return;
  if (Elements(indices) == 0) return node.SetOutput(0, x);
  if (*reduction == ScatterReduction::kNone && SetDecided(node, x, ids, updates, -1, axis)) return;
  node.SetOutput(0, node.Write(ScatterElementsTemplate(data, indices, axis, *reduction, type),
                               {x, ids, updates}));
}

}  // namespace yuba::onnx
