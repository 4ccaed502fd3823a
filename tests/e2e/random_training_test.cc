// Training steps of random models, 20 of them: whole against cut, in arithmetic without rounding
// bit for bit (`yuba verify`), and in floats within a tolerance.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"
#include "tests/support/part.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

using compiler::OnnxBuilder;
using Random = std::mt19937;

constexpr int64_t kClasses = 4;

// A model of f32[batch, width] with branches, shared weights, residuals, recurrences and norms.
class RandomModel {
 public:
  explicit RandomModel(Random& random) : random_(random), batch_(4 * Pick(1, 3)) {
    Matrix x = {"x", 4 * Pick(1, 3)};
    builder_.Input(x.name, {batch_, x.width});
    const int64_t blocks = Pick(2, 4);
    for (int64_t b = 0; b < blocks; ++b) x = Block(x);
    x = Dense(x, kClasses);
    builder_.Output(x.name);
  }
  std::string Save() { return builder_.Save(); }

 private:
  struct Matrix {
    std::string name;
    int64_t width = 0;
  };

  int64_t Pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  std::string Next() { return absl::StrCat("v", values_++); }

  Matrix Node(const std::string& op, const std::vector<std::string>& operands, int64_t width) {
    const Matrix made = {Next(), width};
    builder_.Node(op, operands, {made.name});
    return made;
  }

  // A weight of this shape with values of both signs: a new one, or one that is there already.
  std::string Weight(const std::vector<int64_t>& dims) {
    for (const auto& [name, known] : weights_) {
      if (known == dims && Pick(0, 2) == 0) return name;
    }
    const std::string name = absl::StrCat("w", weights_.size());
    builder_.Weight(name, dims);
    ::onnx::GraphProto& graph = *builder_.proto().mutable_graph();
    ::onnx::TensorProto& tensor = *graph.mutable_initializer(graph.initializer_size() - 1);
    std::normal_distribution<float> normal(0, 0.4f);
    for (float& element : *tensor.mutable_float_data()) element = normal(random_);
    weights_.emplace_back(name, dims);
    return name;
  }

  Matrix Dense(const Matrix& x, int64_t width) {
    const Matrix product = Node("MatMul", {x.name, Weight({x.width, width})}, width);
    return Pick(0, 1) == 0 ? product : Node("Add", {product.name, Weight({width})}, width);
  }

  Matrix Activation(const Matrix& x) {
    const char* const ops[] = {"Relu", "Tanh", "Sigmoid", "Softmax"};
    return Node(ops[Pick(0, 3)], {x.name}, x.width);
  }

  Matrix Norm(const Matrix& x) {
    return Node("LayerNormalization", {x.name, Weight({x.width}), Weight({x.width})}, x.width);
  }

  // h = tanh(h a + x b) over parts of x's columns, with the same a and b each time.
  Matrix Recurrence(const Matrix& x) {
    const int64_t parts = x.width % 3 == 0 ? 3 : 2, width = x.width / parts;
    const std::string a = Weight({4, 4}), b = Weight({width, 4});
    Matrix h;
    for (int64_t p = 0; p < parts; ++p) {
      const std::string begin = Next(), end = Next(), axis = Next();
      builder_.Integers(begin, {p * width});
      builder_.Integers(end, {(p + 1) * width});
      builder_.Integers(axis, {1});
      const Matrix part = Node("Slice", {x.name, begin, end, axis}, width);
      Matrix sum = Node("MatMul", {part.name, b}, 4);
      if (p > 0) sum = Node("Add", {sum.name, Node("MatMul", {h.name, a}, 4).name}, 4);
      h = Node("Tanh", {sum.name}, 4);
    }
    return h;
  }

  Matrix Block(const Matrix& x) {
    switch (Pick(0, 5)) {
      case 0: return Recurrence(x);
      case 1: return Norm(x);
      case 2: {  // a residual
        const Matrix inner = Dense(Activation(Dense(x, 4 * Pick(1, 2))), x.width);
        return Node("Add", {x.name, inner.name}, x.width);
      }
      case 3: {  // branches
        const Matrix left = Activation(Dense(x, 4)), right = Dense(x, 8);
        const Matrix both = Node("Concat", {left.name, right.name}, 12);
        compiler::SetInt(*builder_.proto().mutable_graph()->mutable_node()->rbegin(), "axis", 1);
        return both;
      }
      case 4: return Node("Mul", {x.name, Activation(Dense(x, x.width)).name}, x.width);
      default: return Activation(Dense(x, 4 * Pick(1, 3)));
    }
  }

  Random& random_;
  const int64_t batch_;
  OnnxBuilder builder_;
  int values_ = 0;
  std::vector<std::pair<std::string, std::vector<int64_t>>> weights_;
};

std::string OneOf(const std::vector<std::string>& texts, Random& random) {
  return texts[random() % texts.size()];
}

// Whether all tensors of the checkpoints are equal within a share of their largest values.
void CheckSameStates(const std::string& whole, const std::string& cut) {
  const auto a = ReadSafetensors(whole), b = ReadSafetensors(cut);
  REQUIRE_THAT(a, IsOk());
  REQUIRE_THAT(b, IsOk());
  CHECK(a->tensors.size() == b->tensors.size());
  for (const auto& [name, stored] : a->tensors) {
    INFO(name);
    REQUIRE(b->tensors.count(name) == 1);
    const auto left = ReadRange(stored.bytes), right = ReadRange(b->tensors.at(name).bytes);
    REQUIRE_THAT(left, IsOk());
    REQUIRE_THAT(right, IsOk());
    const TensorData expected{stored.type, stored.dims, *left},
        found{stored.type, stored.dims, *right};
    double largest = 0, difference = 0;
    bool finite = true;
    const int64_t elements = stored.bytes.length / ByteSize(stored.type);
    for (int64_t i = 0; i < elements; ++i) {
      finite &= std::isfinite(ValueAt(expected, i)) && std::isfinite(ValueAt(found, i));
      largest = std::max(largest, std::abs(ValueAt(expected, i)));
      difference = std::max(difference, std::abs(ValueAt(expected, i) - ValueAt(found, i)));
    }
    CHECK(finite);
    CHECK(difference <= 1e-3 * largest + 1e-6);
  }
}

TEST_CASE("20 steps of random models are equal, whole and cut") {
  const std::string scratch = ScratchFolder("random_training");
  Random random(20);
  for (int m = 0; m < (TriesAll() ? 36 : 6); ++m) {
    const std::string model = RandomModel(random).Save(), plan = scratch + "/plan.json";
    const std::string train =
        "yuba partition " + model + " --loss softmax-cross-entropy --lr 0.05 --train " +
        OneOf({"sgd", "momentum", "adam:eps=0.01", "adamw:eps=0.01"}, random) +
        OneOf({"", "", " --clip 0.5", " --micro-batches 2", " --micro-batches 4 --clip 1"}, random);
    const std::string cut =
        " --devices " + std::to_string(2 + random() % 7) +
        OneOf({"", "", " --search recursive", " --replicate auto", " --space copies=none"}, random);
    INFO("model " << m << ": " << train << cut);
    const auto run = [&](const std::string& states) {
      return Succeed("yuba run " + model + " " + plan + " --random=3 --steps 20 --json --save " +
                     states);
    };
    Succeed(train + " --devices 1 -o " + plan);
    run(scratch + "/whole.st");
    Succeed(train + cut + " -o " + plan);
    const CommandResult verified = Succeed("yuba verify " + model + " " + plan + " --steps 20");
    CHECK(verified.out.find("bit for bit") != std::string::npos);
    CHECK(verified.out.find("after 20 steps") != std::string::npos);
    run(scratch + "/cut.st");
    CheckSameStates(scratch + "/whole.st", scratch + "/cut.st");
  }
}

}  // namespace
}  // namespace yuba
