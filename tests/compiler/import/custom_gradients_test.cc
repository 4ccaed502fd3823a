// Custom gradients in a user's descriptions: training takes them, and derives the others. Most are
// deliberately not the derivatives, so that the two can be told apart.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::OnnxBuilder;
using compiler::SetInts;

constexpr char kDescriptions[] = R"(
op tripled(x[s..]) -> y[s..]
  y[i..] = 3 * x[i..]

op reversed(x[s..]) -> y[s..]
  y[i..] = 3 * x[i..]
  grad x[i..] = -dy[i..]

op passed(x[s..]) -> y[s..]
  y[i..] = x[i..]
  grad x[i..] = 5 * dy[i..]

op stopped(x[s..]) -> y[s..]
  y[i..] = 3 * x[i..]
  grad x[i..] = 0

op gated(x[n, k], s[k]) -> y[n, k]
  y[i, j] = x[i, j] * s[j]

op half_gated(x[n, k], s[k]) -> y[n, k]
  y[i, j] = x[i, j] * s[j]
  t[i, j] = 2 * dy[i, j]
  grad x[i, j] = t[i, j] * s[j]

op shifted(x[n, k], s[k]) -> y[n, k]
  m[i] = sum(j: k) x[i, j]
  y[i, j] = (x[i, j] - m[i]) * s[j]

op right_shifted(x[n, k], s[k]) -> y[n, k]
  m[i] = sum(j: k) x[i, j]
  y[i, j] = (x[i, j] - m[i]) * s[j]
  t[i] = sum(j: k) dy[i, j] * s[j]
  grad x[i, j] = dy[i, j] * s[j] - t[i]

op two(x[s..]) -> a[s..], b[s..]
  a[i..] = 3 * x[i..]
  b[i..] = x[i..]
  grad x[i..] = 6 * da[i..] + 100 * db[i..]

op product(x[s..], z[s..]) -> y[s..]
  y[i..] = x[i..] * z[i..]

op strange_product(x[s..], z[s..]) -> y[s..]
  y[i..] = x[i..] * z[i..]
  grad x[i..] = 100 * dy[i..]
  grad z[i..] = 100 * dy[i..]
)";

TensorValue Made(const std::vector<int64_t>& dims, double scale) {
  TensorValue value;
  value.type = {ElementType::kF32, dims};
  value.elements.resize(ElementCount(value.type));
  for (size_t e = 0; e < value.elements.size(); ++e)
    value.elements[e].number = scale * static_cast<double>((e * 7 + 3) % 11);
  return value;
}

// [name]: by how much the weights of the model have changed after a step of sgd.
std::map<std::string, std::vector<double>> ChangesOf(const OnnxBuilder& builder) {
  OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  REQUIRE_THAT(library.Add("mine.tdl", kDescriptions), IsOk());
  ImportOptions options;
  options.library = &library;
  options.train = TrainOptions{"sgd", "mse", "", {}};
  const auto model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  const auto outputs = compiler::RunWhole(*model, {Made({6, 4}, 0.1), Made({6, 3}, 0.2)});
  REQUIRE_THAT(outputs, IsOk());
  std::map<std::string, std::vector<double>> changes;
  for (size_t o = 0; o < outputs->size(); ++o) {
    const Tensor& tensor = model->graph.tensors[model->graph.outputs[o]];
    if (!IsCarried(tensor) || tensor.type.dims.empty()) continue;
    std::vector<double>& change = changes[tensor.name];
    for (size_t e = 0; e < (*outputs)[o].elements.size(); ++e)
      change.push_back((*outputs)[o].elements[e].number - 0.1 * static_cast<double>(e + 1));
  }
  return changes;
}

// labels against op(x w, s), which may be more nodes.
template <typename AddNodes>
std::map<std::string, std::vector<double>> ChangesWith(const AddNodes& add_nodes) {
  OnnxBuilder builder;
  builder.Input("x", {6, 4});
  builder.Weight("w", {4, 3});
  builder.Weight("s", {3});
  builder.Node("MatMul", {"x", "w"}, {"h"});
  add_nodes(builder);
  builder.Output("y");
  return ChangesOf(builder);
}

std::map<std::string, std::vector<double>> ChangesWith(const std::string& op,
                                                       const std::vector<std::string>& operands) {
  return ChangesWith(
      [&](OnnxBuilder& b) { b.Node(op, operands, {"y"}).set_domain("example.org"); });
}

void CheckRatio(const std::vector<double>& a, const std::vector<double>& b, double ratio) {
  REQUIRE(a.size() == b.size());
  REQUIRE(!a.empty());
  for (size_t e = 0; e < a.size(); ++e) CHECK(a[e] == Approx(ratio * b[e]).margin(1e-5));
}

TEST_CASE("training takes the gradient that a description says") {
  const auto derived = ChangesWith("tripled", {"h"});
  CheckRatio(ChangesWith("reversed", {"h"}).at("w"), derived.at("w"), -1.0 / 3);
  const auto stopped = ChangesWith([](OnnxBuilder& b) {
    b.Node("stopped", {"h"}, {"h3"}).set_domain("example.org");
    b.Node("Add", {"h3", "s"}, {"y"});
  });
  CHECK(stopped.count("w") == 1);
  for (const double change : stopped.at("w")) CHECK(change == Approx(0).margin(1e-6));
}

TEST_CASE("what the description does not say is derived") {
  const auto derived = ChangesWith("gated", {"h", "s"});
  const auto custom = ChangesWith("half_gated", {"h", "s"});
  CheckRatio(custom.at("w"), derived.at("w"), 2);
  CheckRatio(custom.at("s"), derived.at("s"), 1);
}

TEST_CASE("the gradient of an output that nothing reads is 0") {
  const auto derived = ChangesWith("tripled", {"h"});
  const auto custom = ChangesWith(
      [](OnnxBuilder& b) { b.Node("two", {"h"}, {"y", "unread"}).set_domain("example.org"); });
  CheckRatio(custom.at("w"), derived.at("w"), 2);
}

TEST_CASE("a value that is two operands gets derived gradients") {
  CheckRatio(ChangesWith("strange_product", {"h", "h"}).at("w"),
             ChangesWith("product", {"h", "h"}).at("w"), 1);
}

TEST_CASE("copies, views and reshapes around an operator do not hide what it says") {
  const auto around = [](const std::string& op) {
    return ChangesWith([&](OnnxBuilder& b) {
      SetInts(b.Node("Transpose", {"h"}, {"t"}), "perm", {1, 0});
      b.Node(op, {"t"}, {"r"}).set_domain("example.org");
      b.Integers("split", {3, 2, 3});
      b.Integers("whole", {3, 6});
      b.Node("Reshape", {"r", "split"}, {"r3"});
      b.Node(op, {"r3"}, {"q"}).set_domain("example.org");
      b.Node("Reshape", {"q", "whole"}, {"q2"});
      SetInts(b.Node("Transpose", {"q2"}, {"y"}), "perm", {1, 0});
    });
  };
  CheckRatio(around("reversed").at("w"), around("tripled").at("w"), 1.0 / 9);
  const auto plain = ChangesWith([](OnnxBuilder& b) { b.Node("Identity", {"h"}, {"y"}); });
  CheckRatio(around("passed").at("w"), plain.at("w"), 25);
}

TEST_CASE("operands that depend on each other get all of their gradients") {
  // The scale of each use is computed from the other operand, between the nodes of the use.
  const auto chained = [](const std::string& op) {
    return ChangesWith([&](OnnxBuilder& b) {
      b.Integers("rows", {0});
      b.Node("ReduceSum", {"h", "rows"}, {"sums"}).set_domain("");
      b.Integers("columns", {3});
      b.Node("Reshape", {"sums", "columns"}, {"scale"});
      b.Node(op, {"h", "scale"}, {"g"}).set_domain("example.org");
      b.Node("Mul", {"s", "s"}, {"s2"});
      b.Node(op, {"g", "s2"}, {"g2"}).set_domain("example.org");
      b.Node("Add", {"g2", "g"}, {"y"});
    });
  };
  const auto derived = chained("shifted"), custom = chained("right_shifted");
  CheckRatio(custom.at("w"), derived.at("w"), 1);
  CheckRatio(custom.at("s"), derived.at("s"), 1);
}

}  // namespace
}  // namespace yuba::onnx
