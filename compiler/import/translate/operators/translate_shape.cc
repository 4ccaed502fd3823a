// Changes of shape, and of element type.
#include <algorithm>
#include <limits>

#include "compiler/import/file/read.h"
#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/translate.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/check.h"

namespace yuba::onnx {

void TranslateReshape(NodeContext& node) {
  const int x = node.Input(0);
  Dims target = node.DimsAtBatch(0, node.KnownInts(node.Input(1), "shape"));
  const bool zero_is_zero = node.Int("allowzero", 0) != 0;
  if (node.failed()) return;
  const Dims& dims = node.Dims(x);
  int64_t elements = 1, given = 1;
  for (const int64_t dim : dims) elements *= dim;
  int inferred = -1;
  for (size_t d = 0; d < target.size(); ++d) {
    if (target[d] == 0 && !zero_is_zero) {
      if (d >= dims.size()) {
        return node.Fail("its shape ", Extents(target), " copies dimension ", d,
                         ", which its operand ", Extents(dims), " does not have");
      }
      target[d] = dims[d];
    }
    if (target[d] < -1 || (target[d] == -1 && inferred >= 0))
      return node.Fail("its shape ", Extents(target), " is no shape");
    if (target[d] == -1)
      inferred = static_cast<int>(d);
    else if (target[d] != 0 && given > std::numeric_limits<int64_t>::max() / target[d])
      return node.Fail("its shape ", Extents(target), " is too large");
    else
      given *= target[d];
  }
  if (inferred >= 0 && given != 0 && elements % given == 0) target[inferred] = elements / given;
  const bool fits = inferred >= 0 ? target[inferred] >= 0 : given == elements;
  if (!fits) {
    return node.Fail("it cannot make ", Extents(dims), " into ", Extents(target), ": ", elements,
                     " elements against ", given, inferred >= 0 ? " and a rest" : "",
                     ". If the shape is stored in the file for another batch or dimension, export"
                     " the model with that dimension symbolic");
  }
  node.SetOutput(0, node.Reshape(x, target));
}

void TranslateFlatten(NodeContext& node) {
  const int x = node.Input(0);
  const int rank = node.Rank(x);
  int64_t axis = node.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank)
    node.Fail("axis ", axis, " is outside a tensor of ", rank, " dimensions");
  if (node.failed()) return;
  Dims target = {1, 1};
  for (int d = 0; d < rank; ++d) target[d < axis ? 0 : 1] *= node.Dims(x)[d];
  node.SetOutput(0, node.Reshape(x, target));
}

void TranslateSqueeze(NodeContext& node) {
  const int x = node.Input(0);
  bool given = false;
  const std::vector<int> axes = node.Axes(13, 1, node.Rank(x), &given);
  if (node.failed()) return;
  Dims target;
  for (int d = 0; d < node.Rank(x); ++d) {
    const int64_t dim = node.Dims(x)[d];
    const bool named = std::binary_search(axes.begin(), axes.end(), d);
    if (named && dim != 1) {
      return node.Fail("it removes dimension ", d, " of ", Extents(node.Dims(x)),
                       ", which is not 1");
    }
    if (given ? !named : dim != 1) target.push_back(dim);
  }
  node.SetOutput(0, node.Reshape(x, target));
}

void TranslateUnsqueeze(NodeContext& node) {
  const int x = node.Input(0);
  const int count = node.opset() < 13
                        ? static_cast<int>(node.Ints("axes").size())
                        : static_cast<int>(node.KnownInts(node.Optional(1), "axes").size());
  const std::vector<int> axes = node.Axes(13, 1, node.Rank(x) + count);
  if (node.failed()) return;
  Dims target;
  auto dim = node.Dims(x).begin();
  for (int d = 0; d < node.Rank(x) + count; ++d)
    target.push_back(std::binary_search(axes.begin(), axes.end(), d) ? 1 : *dim++);
  node.SetOutput(0, node.Reshape(x, target));
}

void TranslateTranspose(NodeContext& node) {
  const int x = node.Input(0);
  const int rank = node.Rank(x);
  Dims reversed;
  for (int d = rank; d-- > 0;) reversed.push_back(d);
  std::vector<int> permutation;
  for (const int64_t axis : node.Ints("perm", reversed))
    permutation.push_back(node.Axis(axis, rank));
  std::vector<int> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  for (int d = 0; d < rank && static_cast<int>(sorted.size()) == rank; ++d) {
    if (sorted[d] != d) sorted.clear();
  }
  if (static_cast<int>(sorted.size()) != rank)
    node.Fail("attribute 'perm' is no permutation of ", rank, " dimensions");
  if (!node.failed()) node.SetOutput(0, node.Transpose(x, permutation));
}

void TranslateExpand(NodeContext& node) {
  const int x = node.Input(0);
  Dims target = node.DimsAtBatch(0, node.KnownInts(node.Input(1), "shape"));
  if (node.failed()) return;
  const Dims& dims = node.Dims(x);
  while (target.size() < dims.size()) target.insert(target.begin(), 1);
  const size_t missing = target.size() - dims.size();
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t& to = target[missing + d];
    if (to == 1) to = dims[d];
    if (dims[d] != to && dims[d] != 1)
      return node.Fail("it cannot expand ", Extents(dims), " to ", Extents(target));
  }
  if (target == dims) return node.SetOutput(0, x);
  const absl::StatusOr<int64_t> elements = ElementsOf(target);
  if (!elements.ok()) return node.Check(elements.status());
  node.SetOutput(0, node.Write(ExpandTemplate(dims, target), {x}));
}

void TranslateTile(NodeContext& node) {
  int x = node.Input(0);
  Dims repeats = node.KnownInts(node.Input(1), "repeats");
  if (static_cast<int>(repeats.size()) != node.Rank(x))
    node.Fail("it repeats ", repeats.size(), " dimensions of ", node.Rank(x));
  if (node.failed()) return;
  if (const ValueAtBatch* other = node.AtBatch(0)) {
    for (size_t d = 0; d < repeats.size(); ++d) {
      if (repeats[d] > 0) repeats[d] = other->dims[d] / std::max<int64_t>(node.Dims(x)[d], 1);
    }
  }
  Dims all = node.Dims(x);  // with `repeats` behind: a tensor with as many elements as the result
  all.insert(all.end(), repeats.begin(), repeats.end());
  const absl::StatusOr<int64_t> elements = ElementsOf(all);
  if (!elements.ok()) return node.Check(elements.status());
  for (size_t d = 0; d < repeats.size(); ++d) {  // no times: nothing of the dimension
    if (repeats[d] != 0) continue;
    x = node.Part(x, static_cast<int>(d), 0, 0);
    repeats[d] = 1;
  }
  if (node.failed()) return;
  node.SetOutput(0, node.Write(TileTemplate(node.Dims(x), repeats), {x}));
}

void TranslateIdentity(NodeContext& node) {
  if (node.IsSequence(0)) return node.SetSequence(0, node.Sequence(0));
  const int x = node.Input(0);
  const bool detaches = node.graph().trains && node.MadeOf({"aten.detach"});
  node.SetOutput(0, detaches && !node.failed() ? node.Entry("detached", {x}) : x);
}

void TranslateCast(NodeContext& node) {
  const int x = node.Input(0);
  ElementType type;
  if (node.InputCount() > 1) {  // CastLike
    type = node.ValueOf(node.Input(1)).type;
  } else {
    const absl::StatusOr<ElementType> to = ElementTypeFromOnnx(node.Int("to", 0));
    if (!to.ok()) return node.Check(to.status());
    type = *to;
  }
  node.SetOutput(0, node.Cast(x, type));
}

}  // namespace yuba::onnx
