// Tensors of many dimensions: the importer's texts name an index for each.
#include <catch2/catch.hpp>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using Dims = std::vector<int64_t>;

// The first output of the one node `op` over x, which counts 0, 1, 2, ... in row-major order.
std::vector<double> Apply(const Dims& dims, const std::string& op,
                          const std::vector<std::pair<std::string, Dims>>& attributes,
                          const std::vector<Dims>& others = {}, const Dims& expected_dims = {}) {
  compiler::OnnxBuilder builder(14);
  builder.Input("x", dims);
  std::vector<std::string> operands = {"x"};
  for (const Dims& other : others) {
    operands.push_back("k" + std::to_string(operands.size()));
    builder.Integers(operands.back(), other);
  }
  if (op == "Concat" || op == "MatMul") operands.push_back("x");
  ::onnx::NodeProto& node = builder.Node(op, operands, {"y"});
  for (const auto& [name, values] : attributes) {
    if (values.size() == 1 && name != "axes")
      compiler::SetInt(node, name, values[0]);
    else
      compiler::SetInts(node, name, values);
  }
  builder.Output("y");
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  INFO(op << " of rank " << dims.size());
  REQUIRE_THAT(model, IsOk());
  TensorValue x;
  x.type = TensorType{ElementType::kF32, dims};
  for (int64_t i = 0; i < ElementCount(x.type); ++i) {
    Scalar scalar;
    scalar.number = static_cast<double>(i);
    x.elements.push_back(scalar);
  }
  const absl::StatusOr<std::vector<TensorValue>> outputs = compiler::RunWhole(*model, {x});
  REQUIRE_THAT(outputs, IsOk());
  if (!expected_dims.empty()) {
    CHECK(WholeDims(model->graph.tensors[model->graph.outputs[0]]) == expected_dims);
  }
  std::vector<double> numbers;
  for (const Scalar& scalar : outputs->front().elements) {
    const bool integral = !IsFloat(outputs->front().type.type);
    numbers.push_back(integral ? static_cast<double>(scalar.integer) : scalar.number);
  }
  return numbers;
}

// Extents 1, but for 2 in the second and 3 in the last dimension.
Dims Shape(int rank) {
  Dims dims(rank, 1);
  dims[1] = 2;
  dims[rank - 1] = 3;
  return dims;
}

Dims With(Dims dims, int at, int64_t extent) {
  dims[at] = extent;
  return dims;
}

using Numbers = std::vector<double>;

TEST_CASE("views of tensors of many dimensions") {
  for (const int rank : {9, 17, 33, 65}) {
    const Dims dims = Shape(rank);
    const int last = rank - 1;
    Dims turned, permutation;
    for (int d = last; d >= 0; --d) {
      permutation.push_back(d);
      turned.push_back(dims[d]);
    }
    CHECK(Apply(dims, "Transpose", {{"perm", permutation}}, {}, turned) ==
          Numbers{0, 3, 1, 4, 2, 5});
    CHECK(Apply(dims, "Slice", {}, {{1}, {3}, {last}}, With(dims, last, 2)) == Numbers{1, 2, 4, 5});
    CHECK(Apply(dims, "Concat", {{"axis", {last}}}, {}, With(dims, last, 6)) ==
          Numbers{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    CHECK(Apply(dims, "Split", {{"axis", {last}}}, {{1, 2}}, With(dims, last, 1)) == Numbers{0, 3});
    CHECK(Apply(dims, "Gather", {{"axis", {last}}}, {{2, 0}}, With(dims, last, 2)) ==
          Numbers{2, 0, 5, 3});
    CHECK(Apply(dims, "Expand", {}, {With(dims, 0, 2)}, With(dims, 0, 2)) ==
          Numbers{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
    CHECK(Apply(dims, "Tile", {}, {With(Dims(rank, 1), last, 2)}, With(dims, last, 6)) ==
          Numbers{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    CHECK(Apply(dims, "Unsqueeze", {}, {{0, 8}}).size() == 6);
    CHECK(Apply(dims, "Squeeze", {}, {}, {2, 3}).size() == 6);
    CHECK(Apply(dims, "Reshape", {}, {turned}, turned) == Numbers{0, 1, 2, 3, 4, 5});
    CHECK(Apply(With(dims, 1, 0), "Reshape", {{"allowzero", {1}}}, {With(turned, 0, 0)}).empty());
  }
}

TEST_CASE("reductions of tensors of many dimensions") {
  for (const int rank : {9, 17, 33, 65}) {
    const Dims dims = Shape(rank);
    const int last = rank - 1;
    for (const int64_t keep : {0, 1}) {
      CHECK(Apply(dims, "ReduceSum", {{"keepdims", {keep}}}, {{last}}) == Numbers{3, 12});
      CHECK(Apply(dims, "ReduceMax", {{"keepdims", {keep}}, {"axes", {0, last}}}) == Numbers{2, 5});
      CHECK(Apply(dims, "ArgMax", {{"keepdims", {keep}}, {"axis", {last}}}) == Numbers{2, 2});
      CHECK(Apply(dims, "ArgMax",
                  {{"keepdims", {keep}}, {"axis", {last}}, {"select_last_index", {1}}}) ==
            Numbers{2, 2});
    }
    const Numbers softmax = Apply(dims, "Softmax", {{"axis", {last}}}, {}, dims);
    CHECK(softmax[2] == Approx(0.6652409558));
    CHECK(Apply(With(dims, last - 1, 3), "MatMul", {}, {}, With(dims, last - 1, 3))[0] == 15);
  }
}

}  // namespace
}  // namespace yuba::onnx
