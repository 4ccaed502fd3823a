// NodeContext, the part that moves elements, as many translations need it: reshape, transpose, an
// axis to the end and back. What is only a view is removed later (simplify/views.cc).
#include "compiler/import/file/read.h"
#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/node.h"

namespace yuba::onnx {

int NodeContext::Literal(ElementType type, double number) {
  TensorValue value;
  value.type = TensorType{type, {}};
  Scalar scalar;
  if (IsFloat(type))
    scalar.number = number;
  else
    scalar.integer = static_cast<int64_t>(number);
  value.elements = {scalar};
  return Constant(std::move(value));
}

int NodeContext::Copy(int value) {
  if (failed()) return -1;
  std::vector<int> same(Rank(value));
  for (size_t d = 0; d < same.size(); ++d) same[d] = static_cast<int>(d);
  OpTemplate op_template = TransposeTemplate(Dims(value), same);
  fold_ = false;
  const int copy = Write(op_template, {value});
  fold_ = true;
  return copy;
}

int NodeContext::Reshape(int value, const std::vector<int64_t>& dims) {
  if (failed() || Dims(value) == dims) return value;
  const absl::StatusOr<int64_t> from = ElementsOf(Dims(value)), to = ElementsOf(dims);
  if (!from.ok() || !to.ok() || *from != *to) {
    Fail("its operand '", ValueOf(value).name, "' ", Extents(Dims(value)),
         " has the wrong shape: ", Extents(dims), " is needed");
  }
  if (failed()) return value;
  return Write(ReshapeTemplate(Dims(value), dims), {value});
}

int NodeContext::Transpose(int value, const std::vector<int>& permutation) {
  if (failed()) return value;
  bool same = true;
  for (size_t d = 0; d < permutation.size(); ++d) same &= permutation[d] == static_cast<int>(d);
  return same ? value : Write(TransposeTemplate(Dims(value), permutation), {value});
}

int NodeContext::AxisLast(int value, int axis) {
  std::vector<int> permutation;
  for (int d = 0; d < Rank(value); ++d) {
    if (d != axis) permutation.push_back(d);
  }
  permutation.push_back(axis);
  return Transpose(value, permutation);
}

int NodeContext::AxisBack(int value, int axis) {
  const int last = Rank(value) - 1;
  std::vector<int> permutation;
  for (int d = 0; d < last; ++d) permutation.push_back(d);
  permutation.insert(permutation.begin() + axis, last);
  return Transpose(value, permutation);
}

int NodeContext::Part(int value, int axis, int64_t begin, int64_t length) {
  if (failed()) return value;
  const std::vector<int64_t>& dims = Dims(value);
  std::vector<int64_t> start(dims.size(), 0), step(dims.size(), 1), lengths = dims;
  start[axis] = begin;
  lengths[axis] = length;
  return lengths == dims ? value : Write(SliceTemplate(dims, start, step, lengths), {value});
}

int NodeContext::Element(int value, int axis, int64_t at) {
  const int part = Part(value, axis, at, 1);
  if (failed()) return -1;
  std::vector<int64_t> dims = Dims(part);
  dims.erase(dims.begin() + axis);
  return Reshape(part, dims);
}

int NodeContext::Concat(const std::vector<int>& values, int axis) {
  if (failed()) return -1;
  const std::vector<int64_t>& first = Dims(values[0]);
  std::vector<std::vector<int64_t>> dims;
  std::vector<int> parts;  // the values that are not empty
  for (const int value : values) {
    const std::vector<int64_t>& other = Dims(value);
    if (other.size() != first.size())
      Fail("its operands have ", first.size(), " and ", other.size(), " dimensions");
    for (size_t d = 0; d < first.size() && !failed(); ++d) {
      if (static_cast<int>(d) != axis && other[d] != first[d]) {
        Fail("its operands ", Extents(first), " and ", Extents(other),
             " differ in more than dimension ", axis);
      }
    }
    if (failed()) return -1;
    if (other[axis] == 0) continue;
    dims.push_back(other);
    parts.push_back(value);
  }
  if (parts.size() < 2) return parts.empty() ? values[0] : parts[0];
  return Write(ConcatTemplate(dims, axis), parts);
}

int NodeContext::Stack(const std::vector<int>& values, int axis) {
  std::vector<int> rows;
  for (const int value : values) {
    std::vector<int64_t> dims = Dims(value);
    dims.insert(dims.begin() + axis, 1);
    rows.push_back(Reshape(value, dims));
  }
  return Concat(rows, axis);
}

int NodeContext::Cast(int value, ElementType type) {
  if (failed() || ValueOf(value).type == type) return value;
  return Entry("cast", {value}, {{"to", type}});
}

}  // namespace yuba::onnx
