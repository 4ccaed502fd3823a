// Attention is found by what nodes compute: in models of the zoo, forward and in training, however
// masks and scales are written, and not where something is only like it.
#include "compiler/attention/attention.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/attention/neighbours.h"
#include "compiler/phases.h"
#include "opsemantics/base/files.h"
#include "opsemantics/language/library.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/status_matchers.h"
#include "tools/zoo/zoo.h"

namespace yuba::compiler {
namespace {

const OperatorLibrary& Operators() {
  static const absl::StatusOr<OperatorLibrary> library = OperatorLibrary::BuiltIn();
  REQUIRE_THAT(library, IsOk());
  return *library;
}

Model ModelOf(const std::string& file, const absl::optional<onnx::TrainOptions>& train) {
  Compilation compilation;
  compilation.request.model_file = file;
  compilation.request.import.library = &Operators();
  compilation.request.import.train = train;
  PhaseOptions options;
  options.to = "cluster";
  REQUIRE_THAT(RunPhases(options, compilation), IsOk());
  return std::move(compilation.model);
}

struct ZooCase {
  std::string model;
  zoo::Sizes sizes;
  std::string optimizer;
  absl::optional<ElementType> precision;
};

Model ModelOf(const ZooCase& test) {
  static int files = 0;
  const auto made = zoo::MakeModel(test.model, test.sizes);
  REQUIRE_THAT(made, IsOk());
  const std::string file = TemporaryFile(absl::StrCat("attention", files++, ".onnx"));
  REQUIRE_THAT(WriteFile(file, made->bytes), IsOk());
  if (test.optimizer.empty()) return ModelOf(file, absl::nullopt);
  onnx::TrainOptions train{test.optimizer, made->loss, "", {}};
  train.precision = test.precision;
  return ModelOf(file, train);
}

TEST_CASE("attention of models of the zoo is found, and its gradients") {
  const ZooCase cases[] = {
      {"gpt2", {{"layers", 2}}, "", {}},     {"gpt2", {{"layers", 2}}, "adam", {}},
      {"llama", {{"layers", 2}}, "", {}},    {"llama", {{"layers", 2}}, "adam", ElementType::kBF16},
      {"bert", {{"layers", 2}}, "adam", {}}, {"vit", {{"layers", 2}}, "adam", ElementType::kF16},
  };
  for (const ZooCase& test : cases) {
    INFO(test.model << " " << test.optimizer);
    const Model model = ModelOf(test);
    const std::vector<Attention> found = FindAttention(model);
    REQUIRE(found.size() == 2);
    const bool decoder = test.model != "bert" && test.model != "vit";
    const double width = test.model == "llama" ? 128 : 64;
    for (const Attention& attention : found) {
      CHECK(attention.HasBackward() == !test.optimizer.empty());
      CHECK(attention.scale == Approx(1 / std::sqrt(width)));
      CHECK(attention.mask.causal == decoder);
      CHECK(attention.mask.offset == 0);
      CHECK(attention.mask.bias == -1);
      CHECK(IsForLibrary(model.graph, attention) == test.precision.has_value());
      // Of four tensors of the scores' extents in a training step, and of rows, none is left.
      for (const std::vector<NodeId>* half : {&attention.forward, &attention.backward}) {
        for (const NodeId node : *half) {
          const Tensor& tensor = model.graph.tensors[model.graph.nodes[node].result];
          for (const NodeId reader : tensor.consumers) {
            const bool inside =
                std::count(attention.forward.begin(), attention.forward.end(), reader) +
                    std::count(attention.backward.begin(), attention.backward.end(), reader) >
                0;
            const bool result = node == attention.NodeOf(program::kValues) ||
                                node == attention.NodeOf(program::kValueGradients) ||
                                node == attention.NodeOf(program::kQueryGradients) ||
                                node == attention.NodeOf(program::kKeyGradients);
            CHECK((inside || result));
          }
        }
      }
    }
  }
}

TEST_CASE("nodes of attention become neighbours, and all nodes keep what they need") {
  Model model = ModelOf(ZooCase{"gpt2", {{"layers", 2}}, "adam", ElementType::kBF16});
  std::vector<Attention> found = FindAttention(model);
  REQUIRE(found.size() == 2);
  const std::vector<NodeId> order = NeighboursOrder(model.graph, found);
  REQUIRE(found.size() == 2);
  std::vector<NodeId> number(order.size(), -1);
  std::vector<Node> nodes;
  for (const NodeId id : order) {
    number[id] = static_cast<NodeId>(nodes.size());
    nodes.push_back(model.graph.nodes[id]);
  }
  CHECK(std::count(number.begin(), number.end(), -1) == 0);
  model.graph.nodes = nodes;
  Link(model.graph);
  CheckGraph(model.graph);
  for (Attention& attention : found) {
    Renumber(number, attention);
    for (const std::vector<NodeId>* half : {&attention.forward, &attention.backward})
      CHECK(half->back() - half->front() + 1 == static_cast<NodeId>(half->size()));
  }
}

// A model of attention of 2 examples, 3 heads, 8 positions and 16 elements, in parts that a test
// may replace.
struct Parts {
  // Each adds nodes that make "y" of "x".
  using Step = std::function<void(OnnxBuilder&, const std::string& x, const std::string& y)>;
  Step score;                                // of the products
  int64_t axis = -1;                         // of the softmax
  std::string extra;                         // an output beside the result
  std::vector<int64_t> turn = {0, 1, 3, 2};  // of the keys
};

std::vector<Attention> FindIn(const Parts& parts) {
  OnnxBuilder builder;
  for (const char* name : {"q", "k", "v"}) builder.Input(name, {2, 3, 8, 16});
  SetInts(builder.Node("Transpose", {"k"}, {"kt"}), "perm", parts.turn);
  builder.Node("MatMul", {"q", "kt"}, {"products"});
  parts.score(builder, "products", "scores");
  SetInt(builder.Node("Softmax", {"scores"}, {"weights"}), "axis", parts.axis);
  builder.Node("MatMul", {"weights", "v"}, {"result"});
  builder.Output("result");
  if (!parts.extra.empty()) builder.Output(parts.extra);
  return FindAttention(ModelOf(builder.Save(), absl::nullopt));
}

void AddNumber(OnnxBuilder& builder, const std::string& name, float value) {
  ::onnx::TensorProto& tensor = *builder.proto().mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  tensor.add_float_data(value);
}

Parts::Step Scaled(const std::string& op, float number) {
  return [=](OnnxBuilder& builder, const std::string& x, const std::string& y) {
    AddNumber(builder, y + ".number", number);
    builder.Node(op, {x, y + ".number"}, {y});
  };
}

// Scaled by 1/4, then a bias of these dimensions is added.
Parts::Step Biased(const std::vector<int64_t>& dims) {
  return [=](OnnxBuilder& builder, const std::string& x, const std::string& y) {
    Scaled("Mul", 0.25f)(builder, x, y + ".scaled");
    builder.Input("bias", dims);
    builder.Node("Add", {"bias", y + ".scaled"}, {y});
  };
}

// Where(key `compare` query + offset, scores or `hidden`): `kept` says which of the two comes
// first.
Parts::Step Masked(const std::string& compare, int64_t offset, float hidden, bool kept) {
  return [=](OnnxBuilder& builder, const std::string& x, const std::string& y) {
    const auto scalar = [&](const std::string& name, int64_t value) {
      ::onnx::TensorProto& tensor = *builder.proto().mutable_graph()->add_initializer();
      tensor.set_name(name);
      tensor.set_data_type(::onnx::TensorProto::INT64);
      tensor.add_int64_data(value);
    };
    scalar("zero", 0);
    scalar("eight", 8);
    scalar("one", 1);
    scalar("offset", offset);
    builder.Integers("axis", {1});
    builder.Node("Range", {"zero", "eight", "one"}, {"keys"});
    builder.Node("Add", {"keys", "offset"}, {"moved"});
    builder.Node("Unsqueeze", {"moved", "axis"}, {"queries"});
    builder.Node(compare, {"keys", "queries"}, {"mask"});
    AddNumber(builder, "hidden", hidden);
    builder.Node("Where",
                 kept ? std::vector<std::string>{"mask", x, "hidden"}
                      : std::vector<std::string>{"mask", "hidden", x},
                 {y});
  };
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_CASE("scales, biases and masks are read from what they compute") {
  const auto scaled = FindIn({Scaled("Div", 4)});
  REQUIRE(scaled.size() == 1);
  CHECK(scaled[0].scale == 0.25);
  CHECK(FindIn({Scaled("Mul", 0.25f)})[0].scale == 0.25);
  const auto biased = FindIn({Biased({2, 1, 1, 8})});
  REQUIRE(biased.size() == 1);
  CHECK(biased[0].scale == 0.25);
  CHECK(biased[0].mask.bias >= 0);
  CHECK(biased[0].mask.bias_dims == std::vector<int>{0, -1, -1, 3});
  CHECK(FindIn({Biased({8, 8})})[0].mask.bias_dims == std::vector<int>{2, 3});
  for (const float hidden : {-kInfinity, -1e4f}) {
    for (const int64_t offset : {0, 3}) {
      const std::vector<Attention> found[] = {
          FindIn({Masked("LessOrEqual", offset, hidden, true)}),
          FindIn({Masked("Less", offset + 1, hidden, true)}),
          FindIn({Masked("Greater", offset, hidden, false)}),
          FindIn({Masked("GreaterOrEqual", offset + 1, hidden, false)})};
      for (const std::vector<Attention>& each : found) {
        REQUIRE(each.size() == 1);
        CHECK(each[0].mask.causal);
        CHECK(each[0].mask.offset == offset);
        CHECK(each[0].mask.hidden == hidden);
        CHECK(each[0].mask.query_dim == 2);
        CHECK(each[0].mask.key_dim == 3);
      }
    }
  }
}

TEST_CASE("ONNX's own operator is attention too, also where heads share keys") {
  for (const int64_t causal : {0, 1}) {
    INFO("causal " << causal);
    OnnxBuilder builder(23);
    builder.Input("q", {2, 6, 8, 16});
    for (const char* name : {"k", "v"}) builder.Input(name, {2, 3, 8, 16});
    SetInt(builder.Node("Attention", {"q", "k", "v"}, {"result"}), "is_causal", causal);
    builder.Output("result");
    const std::vector<Attention> found = FindAttention(ModelOf(builder.Save(), absl::nullopt));
    REQUIRE(found.size() == 1);
    CHECK(found[0].scale == 0.25);
    CHECK(found[0].mask.causal == (causal == 1));
    CHECK(found[0].mask.offset == 0);
    CHECK(found[0].mask.bias == -1);
  }
}

TEST_CASE("what is only like attention is not found") {
  const Parts::Step plain = Scaled("Mul", 0.25f);
  REQUIRE(FindIn({plain}).size() == 1);
  CHECK(FindIn({plain, -2}).empty());             // softmax over queries
  CHECK(FindIn({plain, -1, "weights"}).empty());  // weights are kept
  CHECK(FindIn({plain, -1, "scores"}).empty());
  CHECK(FindIn({Scaled("Add", 1)}).size() + FindIn({Scaled("Pow", 2)}).size() == 0);
  // Masks that hide keys before a query, or by other numbers, or all keys of a query.
  CHECK(FindIn({Masked("GreaterOrEqual", 0, -kInfinity, true)}).empty());
  CHECK(FindIn({Masked("LessOrEqual", 0, -100, true)}).empty());
  CHECK(FindIn({Masked("LessOrEqual", 0, kInfinity, true)}).empty());
  CHECK(FindIn({Masked("LessOrEqual", -1, -kInfinity, true)}).empty());
  CHECK(FindIn({Masked("Equal", 0, -kInfinity, true)}).empty());
  // A scale behind the bias is none of the products alone.
  CHECK(FindIn({[](OnnxBuilder& builder, const std::string& x, const std::string& y) {
          Biased({8, 8})(builder, x, y + ".biased");
          Scaled("Mul", 2)(builder, y + ".biased", y);
        }}).empty());
}

}  // namespace
}  // namespace yuba::compiler
