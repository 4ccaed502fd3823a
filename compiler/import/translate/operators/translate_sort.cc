// What depends on the order of elements.
#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {

// Where the elements stand in their order, by a sort, and then the first k of them. Also where the
// node says that their order does not matter.
void TranslateTopK(NodeContext& node) {
  const int x = node.Input(0);
  const int axis = node.Axis(node.Int("axis", -1), node.Rank(x));
  const bool largest = node.Int("largest", 1) != 0;
  std::vector<int64_t> k = {node.Int("k", -1)};
  if (node.opset() >= 10) k = node.KnownInts(node.Input(1), "k");
  if (k.size() != 1) node.Fail("its k must be one integer");
  if (node.failed()) return;
  const int64_t extent = node.Dims(x)[axis];
  if (k[0] < 0 || k[0] > extent)
    return node.Fail("its k is ", k[0], ", but dimension ", axis, " has ", extent, " elements");
  const int rows = node.AxisLast(x, axis);
  const int order = node.Entry("argsort", {rows}, {{"descending", int64_t{largest}}});
  const std::vector<int> first = node.EntryOutputs("take_first", {rows, order}, {{"k", k[0]}});
  if (node.failed()) return;
  for (int i = 0; i < 2; ++i) node.SetOutput(i, node.AxisBack(first[i], axis));
}

}  // namespace yuba::onnx
