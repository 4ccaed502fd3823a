// What gathers from and scatters to places that integers name.
#include "absl/types/optional.h"
#include "compiler/import/templates/scatter.h"
#include "compiler/import/translate/translate.h"

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
  if (indices.back() < 1 || indices.back() > behind)
    node.Fail("the last dimension of its indices ", Extents(indices), " must be 1 to ", behind,
              ": so many dimensions of its operand ", Extents(data), " can be looked up");
}

}  // namespace

void TranslateGatherNd(NodeContext& node) {
  const int x = node.Input(0), ids = node.Input(1);
  const int64_t batch = node.Int("batch_dims", 0);
  if (node.failed()) return;
  const Dims data = node.Dims(x), indices = node.Dims(ids);
  if (batch < 0 || batch >= node.Rank(x) || batch >= node.Rank(ids))
    return node.Fail("its batch_dims ", batch, " must be less than the ranks of its operands ",
                     Extents(data), " and ", Extents(indices));
  CheckTuples(node, data, indices, batch);
  for (int64_t d = 0; d < batch; ++d) {
    if (data[d] != indices[d])
      node.Fail("its operands ", Extents(data), " and ", Extents(indices), " differ in dimension ",
                d, ", which is one of the batch");
  }
  if (node.failed()) return;
  node.SetOutput(0, node.Write(GatherNdTemplate(data, indices, static_cast<int>(batch)), {x, ids}));
}

void TranslateScatterNd(NodeContext& node) {
  const int x = node.Input(0);
  int ids = node.Input(1), updates = node.Input(2);
  if (node.failed()) return;
  const ElementType type = node.ValueOf(x).type;
  const absl::optional<ScatterReduction> reduction = ReductionOf(node, type);
  const Dims data = node.Dims(x);
  Dims indices = node.Dims(ids);
  if (data.empty() || indices.empty()) return node.Fail("it needs operands of at least one dimension");
  CheckTuples(node, data, indices, 0);
  if (node.failed()) return;
  Dims expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), data.begin() + indices.back(), data.end());
  if (node.Dims(updates) != expected)
    return node.Fail("its updates ", Extents(node.Dims(updates)), " must be ", Extents(expected));
  if (Elements(expected) == 0) return node.SetOutput(0, x);
  if (indices.size() == 1) {  // one update
    indices.insert(indices.begin(), 1);
    expected.insert(expected.begin(), 1);
    ids = node.Reshape(ids, indices);
    updates = node.Reshape(updates, expected);
  }
  node.SetOutput(0, node.Write(ScatterNdTemplate(data, indices, *reduction, type),
                               {x, ids, updates}));
}

void TranslateScatterElements(NodeContext& node) {
  const int x = node.Input(0), ids = node.Input(1), updates = node.Input(2);
  if (node.failed()) return;
  const ElementType type = node.ValueOf(x).type;
  const absl::optional<ScatterReduction> reduction = ReductionOf(node, type);
  const Dims data = node.Dims(x), indices = node.Dims(ids);
  const int axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  if (node.Dims(updates) != indices || indices.size() != data.size())
    node.Fail("its indices ", Extents(indices), " and updates ", Extents(node.Dims(updates)),
              " must be of one shape, with as many dimensions as ", Extents(data));
  for (size_t d = 0; d < data.size() && !node.failed(); ++d) {
    if (static_cast<int>(d) != axis && indices[d] > data[d])
      node.Fail("dimension ", d, " of its indices ", Extents(indices), " is longer than that of ",
                Extents(data));
  }
  if (node.failed()) return;
  if (Elements(indices) == 0) return node.SetOutput(0, x);
  node.SetOutput(0, node.Write(ScatterElementsTemplate(data, indices, axis, *reduction, type),
                               {x, ids, updates}));
}

}  // namespace yuba::onnx
