// Convolutions, their data gradients and their weight gradients as the gradients of definitions
// have them: each becomes the library call of its kind, and on whole ranges and random parts of
// them the library computes what the interpreter computes. A part is what a device runs:
// with halos, cut channels, cut taps and cut outputs. Values are small integers, so f32 is exact in
// any order.
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "absl/types/optional.h"
#include "compiler/kernels/library_call.h"
#include "opsemantics/gradient/gradient.h"
#include "opsemantics/oracle/interpret.h"
#include "opsemantics/regions/boxes.h"
#include "tests/compiler/kernels/convolution_backend.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::kernels {
namespace {

using program::LibraryCall;
using runtime::ProgramBuilder;

constexpr int kParts = 12;  // at random, of each definition

struct Spatial {
  int64_t extent, taps, stride, dilation, low, high;
};
struct Layer {
  int64_t images, groups, outputs, inputs;  // channels are those of a group
  std::vector<Spatial> spatial;
};

const std::vector<Layer>& Layers() {
  static const std::vector<Layer>* const layers = new std::vector<Layer>{
      {2, 1, 3, 4, {{9, 3, 1, 1, 1, 1}}},
      {2, 1, 3, 4, {{11, 3, 2, 1, 1, 0}}},
      {3, 2, 2, 3, {{12, 3, 3, 2, 2, 1}}},
      {2, 1, 16, 16, {{9, 2, 1, 3, 0, 2}}},
      {2, 1, 3, 4, {{8, 1, 2, 1, 0, 0}}},
      {2, 2, 1, 2, {{11, 2, 4, 1, 0, 0}}},
      {1, 1, 3, 2, {{8, 3, 1, 1, 2, 2}}},
      {2, 1, 3, 2, {{7, 3, 2, 1, 1, 1}, {6, 2, 1, 2, 1, 0}}},
      {2, 4, 1, 1, {{7, 3, 1, 1, 1, 1}, {8, 3, 2, 1, 0, 1}}},
      {2, 1, 3, 2, {{5, 1, 1, 1, 0, 0}, {6, 3, 1, 1, 1, 1}}},
      {2, 1, 2, 2, {{5, 2, 1, 1, 1, 0}, {4, 2, 2, 1, 0, 0}, {5, 3, 1, 2, 2, 2}}},
  };
  return *layers;
}

// y[n, a, o, p..] = sum(c, u..) (x[n, a, c, p*stride + u*dilation - low ..] else 0) * f[a, o, c,
// u..]
Definition Forward(const Layer& layer) {
  const int windows = static_cast<int>(layer.spatial.size());
  std::vector<int64_t> extents = {layer.images, layer.groups, layer.outputs};
  std::vector<int64_t> x = {layer.images, layer.groups, layer.inputs};
  std::vector<int64_t> f = {layer.groups, layer.outputs, layer.inputs};
  for (const Spatial& s : layer.spatial) {
    extents.push_back((s.extent + s.low + s.high - s.dilation * (s.taps - 1) - 1) / s.stride + 1);
    x.push_back(s.extent);
    f.push_back(s.taps);
  }
  extents.push_back(layer.inputs);
  for (const Spatial& s : layer.spatial) extents.push_back(s.taps);
  const Affine channel = IndexAffine(3 + windows);
  std::vector<Affine> read = {IndexAffine(0), IndexAffine(1), channel};
  std::vector<Affine> filter = {IndexAffine(1), IndexAffine(2), channel};
  for (int w = 0; w < windows; ++w) {
    const Spatial& s = layer.spatial[w];
    const Affine tap = IndexAffine(4 + windows + w);
    read.push_back(IndexAffine(3 + w) * s.stride + tap * s.dilation - ConstantAffine(s.low));
    filter.push_back(tap);
  }
  return Define(extents, 3 + windows, Reducer::kSum, {x, f},
                Call(Function::kMul, {Read(0, read, Number(0)), Read(1, filter)}));
}

// The same with a constraint in the place of each window, and an index for the input.
Definition Constrained(Definition definition) {
  Expr read = *definition.body->args[0];
  read.args.clear();
  for (Affine& position : read.position) {
    if (position.BareIndex() >= 0) continue;
    const int index = static_cast<int>(definition.indices.size());
    const size_t d = &position - read.position.data();
    definition.indices.push_back({"q", definition.operands[0].dims[d], true});
    definition.where.push_back({position - IndexAffine(index), true});
    position = IndexAffine(index);
  }
  definition.body =
      Call(Function::kMul, {std::make_shared<const Expr>(read), definition.body->args[1]});
  return definition;
}

TensorValue SmallIntegers(const TensorType& type, std::mt19937& random) {
  TensorValue value{type, {}};
  value.elements.resize(ElementCount(type));
  for (Scalar& element : value.elements)
    element.number = static_cast<double>(static_cast<int>(random() % 9) - 4);
  return value;
}

std::vector<Interval> RandomPart(const Definition& definition, std::mt19937& random) {
  std::vector<Interval> ranges;
  for (const Index& index : definition.indices) {
    const int64_t begin = random() % index.extent;
    ranges.push_back({begin, begin + 1 + static_cast<int64_t>(random() % (index.extent - begin))});
    if (random() % 3 == 0) ranges.back() = {0, index.extent};
  }
  return ranges;
}

Box Held(const Box& box) { return IsEmpty(box) ? Box(box.size(), Interval{0, 0}) : box; }

// Elements of the box, in row-major order.
std::vector<float> ElementsOf(const TensorValue& value, const Box& box) {
  std::vector<float> elements;
  ForEachPoint(box, [&](const std::vector<int64_t>& point) {
    int64_t place = 0;
    for (size_t d = 0; d < point.size(); ++d) place = place * value.type.dims[d] + point[d];
    elements.push_back(static_cast<float>(value.elements[place].number));
  });
  return elements;
}

// What the library makes of the part, on buffers that are as large as the boxes; nothing where it
// does not take the part.
absl::optional<std::vector<float>> RunCall(const LibraryCall& call, const Definition& definition,
                                           const std::vector<Interval>& ranges, const Boxes& boxes,
                                           const std::vector<TensorValue>& operands) {
  ProgramBuilder builder({1});
  std::vector<int> buffers;
  for (size_t k = 0; k < operands.size(); ++k) {
    buffers.push_back(builder.AddBuffer("x" + std::to_string(k), program::F32,
                                        operands[k].type.dims, {Held(boxes.reads[k])}));
    builder.message().mutable_buffers(buffers[k])->set_initialized(true);
  }
  const int result = builder.AddBuffer("y", program::F32, definition.result.dims, {boxes.writes});
  std::vector<std::vector<Interval>> indices;
  for (const Interval& range : ranges) indices.push_back({range});
  builder.AddLibraryKernel(call, indices, buffers, result);
  runtime::RunOptions options = ConvolutionOptions();
  options.poison = options.guards = true;
  const auto opened = runtime::Session::Open(builder.Load(), options);
  if (absl::IsUnimplemented(opened.status())) return absl::nullopt;
  REQUIRE_THAT(opened, IsOk());
  const auto& session = *opened;
  const runtime::ArenaLayout layout = runtime::SpreadLayout(session->program());
  runtime::Device& device = *session->fleet().devices[0];
  for (size_t k = 0; k < operands.size(); ++k) {
    const std::vector<float> elements = ElementsOf(operands[k], Held(boxes.reads[k]));
    REQUIRE_THAT(device.Write(layout.offsets[k], reinterpret_cast<const char*>(elements.data()),
                              static_cast<int64_t>(elements.size() * sizeof(float))),
                 IsOk());
  }
  const absl::Status status = session->Step();
  REQUIRE_THAT(status, IsOk());
  std::vector<float> computed(Volume(boxes.writes));
  REQUIRE_THAT(device.Read(layout.offsets.back(), reinterpret_cast<char*>(computed.data()),
                           static_cast<int64_t>(computed.size() * sizeof(float))),
               IsOk());
  return computed;
}

void CheckDefinition(const Definition& definition, LibraryCall::Kind kind, std::mt19937& random) {
  INFO(ToString(definition));
  LibraryFeatures features;
  features.convolutions = true;
  const auto call = LibraryCallFor(definition, features);
  REQUIRE(call.has_value());
  CHECK(call->kind() == kind);
  for (int part = 0; part <= kParts; ++part) {
    const std::vector<Interval> ranges =
        part == 0 ? WholeRanges(definition) : RandomPart(definition, random);
    INFO(ToString(Box(ranges)));
    const Boxes boxes = AnalyzeBoxes(definition, ranges);
    if (IsEmpty(boxes.writes)) continue;
    std::vector<TensorValue> operands;
    std::vector<const TensorValue*> pointers;
    for (const TensorType& type : definition.operands)
      operands.push_back(SmallIntegers(type, random));
    for (const TensorValue& operand : operands) pointers.push_back(&operand);
    TensorValue expected{definition.result, std::vector<Scalar>(ElementCount(definition.result))};
    Interpret(definition, ranges, pointers, Arithmetic::kFloat, expected);
    const auto computed = RunCall(*call, definition, ranges, boxes, operands);
    if (part == 0 || TakesAllParts()) REQUIRE(computed.has_value());
    if (computed.has_value()) CHECK(*computed == ElementsOf(expected, boxes.writes));
  }
}

Definition GradientBy(const Definition& definition, int operand) {
  const auto gradient = GradientOf(definition, {operand == 0, operand == 1});
  REQUIRE_THAT(gradient, IsOk());
  REQUIRE(gradient->shares.size() == 1);
  return gradient->shares[0].definition;
}

TEST_CASE("convolutions are library calls, by positions and by constraints") {
  std::mt19937 random(1);
  for (const Layer& layer : Layers()) {
    CheckDefinition(Forward(layer), LibraryCall::CONVOLUTION, random);
    CheckDefinition(Constrained(Forward(layer)), LibraryCall::CONVOLUTION, random);
  }
}

TEST_CASE("data gradients of convolutions are library calls") {
  std::mt19937 random(2);
  for (const Layer& layer : Layers())
    CheckDefinition(GradientBy(Forward(layer), 0), LibraryCall::DATA_GRADIENT, random);
}

TEST_CASE("weight gradients of convolutions are library calls") {
  std::mt19937 random(3);
  for (const Layer& layer : Layers())
    CheckDefinition(GradientBy(Forward(layer), 1), LibraryCall::WEIGHT_GRADIENT, random);
}

// A transposed convolution is the data gradient of one, and its data gradient a convolution whose
// windows are constraints.
TEST_CASE("gradients of data gradients are library calls") {
  std::mt19937 random(4);
  for (const Layer& layer : Layers()) {
    const Definition transposed = GradientBy(Forward(layer), 0);
    const auto gradient = GradientOf(transposed, {true, true});
    REQUIRE_THAT(gradient, IsOk());
    REQUIRE(gradient->shares.size() == 2);  // by the filter, and by what was a gradient
    CheckDefinition(gradient->shares[0].definition, LibraryCall::WEIGHT_GRADIENT, random);
    CheckDefinition(gradient->shares[1].definition, LibraryCall::CONVOLUTION, random);
  }
}

// y[n, o, p] = sum(c, d, u) x[n, d, c, p + u] * f[d, o, c, u]: no routine has two indices for the
// input's channels.
TEST_CASE("what several calls of a routine compute is added up") {
  std::mt19937 random(5);
  const Affine n = IndexAffine(0), o = IndexAffine(1), p = IndexAffine(2), c = IndexAffine(3),
               d = IndexAffine(4), u = IndexAffine(5);
  CheckDefinition(
      Define({2, 3, 7, 4, 2, 3}, 3, Reducer::kSum, {{2, 2, 4, 9}, {2, 3, 4, 3}},
             Call(Function::kMul, {Read(0, {n, d, c, p + u}, Number(0)), Read(1, {d, o, c, u})})),
      LibraryCall::CONVOLUTION, random);
}

TEST_CASE("what a library has besides is asked of it only where it has it") {
  Definition definition = Forward(Layers()[0]);
  LibraryFeatures features;
  CHECK_FALSE(LibraryCallFor(definition, features).has_value());
  features.convolutions = true;
  CHECK_FALSE(LibraryCallFor(definition, features)->tf32());
  features.tf32 = true;
  CHECK(LibraryCallFor(definition, features)->tf32());
  for (TensorType& operand : definition.operands) operand.type = ElementType::kF64;
  definition.result.type = ElementType::kF64;
  CHECK_FALSE(LibraryCallFor(definition, features).has_value());
  features.doubles = true;
  const auto doubles = LibraryCallFor(definition, features);
  REQUIRE(doubles.has_value());
  CHECK(doubles->type() == program::F64);
  CHECK(doubles->accumulator() == program::F64);
  CHECK_FALSE(doubles->tf32());
}

}  // namespace
}  // namespace yuba::kernels
