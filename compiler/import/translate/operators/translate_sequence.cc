// Sequences of tensors whose length and positions are known when planning: they are no tensors, and
// go away. Each of their elements is a value of its own.
#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/translate.h"
#include "compiler/simplify/constants.h"

namespace yuba::onnx {
namespace {

// The position that operand `i` names among `size` places, counted from the end where it is
// negative; `absent` where there is no such operand.
int64_t Position(NodeContext& node, int i, int64_t size, int64_t absent) {
  if (node.Optional(i) < 0) return absent;
  const Dims given = node.KnownInts(node.Optional(i), "position");
  if (node.failed()) return 0;
  if (given.size() != 1 || given[0] < -size || given[0] >= size) {
    node.Fail("its position must be one integer from ", -size, " to ", size - 1,
              given.size() == 1 ? absl::StrCat(", not ", given[0]) : "");
    return 0;
  }
  return given[0] < 0 ? given[0] + size : given[0];
}

// Each change of a sequence is a copy of it, so that a Loop takes memory by the square of this.
constexpr int64_t kMostElements = 4096;

bool IsTooLong(NodeContext& node, int64_t elements) {
  if (elements > kMostElements) {
    node.Fail("its sequence has ", elements, " elements, and ", kMostElements,
              " are the most that are supported");
  }
  return node.failed();
}

int64_t SizeOf(const std::vector<int>& sequence) { return static_cast<int64_t>(sequence.size()); }

}  // namespace

void TranslateSequenceEmpty(NodeContext& node) { node.SetSequence(0, {}); }

void TranslateSequenceConstruct(NodeContext& node) { node.SetSequence(0, node.AllInputs()); }

void TranslateSequenceInsert(NodeContext& node) {
  std::vector<int> sequence = node.Sequence(0);
  const int value = node.Input(1);
  // Behind the last element too: one place more than there are elements.
  const int64_t size = SizeOf(sequence);
  int64_t at = size;
  if (node.Optional(2) >= 0) {
    const Dims given = node.KnownInts(node.Optional(2), "position");
    if (given.size() != 1 || given[0] < -size || given[0] > size)
      return node.Fail("its position must be one integer from ", -size, " to ", size);
    at = given[0] < 0 ? given[0] + size : given[0];
  }
  if (node.failed() || IsTooLong(node, size + 1)) return;
  sequence.insert(sequence.begin() + at, value);
  node.SetSequence(0, sequence);
}

void TranslateSequenceErase(NodeContext& node) {
  std::vector<int> sequence = node.Sequence(0);
  const int64_t at = Position(node, 1, SizeOf(sequence), SizeOf(sequence) - 1);
  if (sequence.empty()) node.Fail("its sequence is empty");
  if (node.failed()) return;
  sequence.erase(sequence.begin() + at);
  node.SetSequence(0, sequence);
}

void TranslateSequenceAt(NodeContext& node) {
  const std::vector<int> sequence = node.Sequence(0);
  node.Input(1);
  const int64_t at = Position(node, 1, SizeOf(sequence), 0);
  if (!node.failed()) node.SetOutput(0, sequence[at]);
}

void TranslateSequenceLength(NodeContext& node) {
  const int64_t length = SizeOf(node.Sequence(0));
  if (!node.failed()) node.SetOutput(0, node.Constant(compiler::IntegerValue({}, {length})));
}

// Parts of a length, the last one perhaps shorter; of several lengths; or, where nothing is said,
// single elements, from which keepdims = 0 takes the dimension.
void TranslateSplitToSequence(NodeContext& node) {
  const int x = node.Input(0);
  const int axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  const bool given = node.Optional(1) >= 0;
  const bool keep = given || node.Int("keepdims", 1) != 0;
  Dims lengths = given ? node.KnownInts(node.Optional(1), "split") : Dims{1};
  if (node.failed()) return;
  const int64_t size = node.Dims(x)[axis];
  const int rank = given ? node.Rank(node.Optional(1)) : 0;
  if (rank > 1) return node.Fail("its split must be a scalar or a list");
  if (rank == 0) {
    const int64_t length = lengths.empty() ? 0 : lengths[0];
    if (length < 1) return node.Fail("it splits into parts of ", length);
    if (IsTooLong(node, (size + length - 1) / length)) return;
    lengths.assign(static_cast<size_t>((size + length - 1) / length), length);
    if (size % length != 0) lengths.back() = size % length;
  }
  int64_t total = 0;
  for (const int64_t length : lengths) {
    if (length < 0 || length > size - total) return node.Fail("it splits off a part of ", length);
    total += length;
  }
  if (total != size || lengths.empty()) {
    return node.Fail("its parts ", Extents(lengths), " do not make the ", size,
                     " elements of dimension ", axis);
  }
  std::vector<int> parts = node.WriteOutputs(SplitTemplate(node.Dims(x), axis, lengths), {x});
  parts.resize(lengths.size());
  for (int& part : parts) {
    if (!keep) part = node.Element(part, axis, 0);
  }
  node.SetSequence(0, parts);
}

void TranslateConcatFromSequence(NodeContext& node) {
  const std::vector<int> sequence = node.Sequence(0);
  if (sequence.empty()) node.Fail("its sequence is empty");
  if (node.failed()) return;
  const bool stacks = node.Int("new_axis", 0) != 0;
  const int rank = node.Rank(sequence[0]) + (stacks ? 1 : 0);
  const int axis = node.Axis(node.Int("axis", 0), rank);
  node.SetOutput(0, stacks ? node.Stack(sequence, axis) : node.Concat(sequence, axis));
}

}  // namespace yuba::onnx
