// Products with biases, ReLU and a residual that pass their results on to each other, so that the
// library chooses how these lie in memory: against sums written out. Values are small integers, so
// that f32 is exact in any order.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kImages = 2, kPositions = 35;

struct Layer {
  int64_t inputs, outputs;
  int residual = -1;  // the layer whose result is added; -1: none
  bool bias_first = true;
};

using Values = std::vector<float>;

Values Made(std::mt19937& random, int64_t count) {
  Values values(count);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 3) - 1);
  return values;
}

// y[n, o, p] = max(sum(c) x[n, c, p] * w[o, c] + b[o] + r[n, o, p], 0)
Values Expected(const Layer& layer, const Values& x, const Values& w, const Values& b,
                const Values* r) {
  Values y;
  for (int64_t n = 0; n < kImages; ++n) {
    for (int64_t o = 0; o < layer.outputs; ++o) {
      for (int64_t p = 0; p < kPositions; ++p) {
        float sum = b[o] + (r == nullptr ? 0 : (*r)[y.size()]);
        for (int64_t c = 0; c < layer.inputs; ++c)
          sum += x[(n * layer.inputs + c) * kPositions + p] * w[o * layer.inputs + c];
        y.push_back(std::max(sum, 0.0F));
      }
    }
  }
  return y;
}

program::LibraryCall CallOf(const Layer& layer) {
  program::LibraryCall call;
  call.set_right(1);
  const auto add = [](auto* role, int index, int left, int right, int result) {
    program::LibraryIndex& added = *role->Add();
    added.set_index(index);
    added.set_left_dim(left);
    added.set_right_dim(right);
    added.set_result_dim(result);
  };
  add(call.mutable_rows(), 0, 0, -1, 0);     // n
  add(call.mutable_columns(), 1, -1, 0, 1);  // o
  add(call.mutable_rows(), 2, 2, -1, 2);     // p
  add(call.mutable_inner(), 3, 1, 1, -1);    // c
  const auto add_bias = [&] {
    program::PostOp& step = *call.add_post_ops();
    step.set_operand(2);
    step.add_indices(1);
  };
  if (layer.bias_first) add_bias();
  if (layer.residual >= 0) {
    program::PostOp& step = *call.add_post_ops();
    step.set_operand(3);
    for (const int index : {0, 1, 2}) step.add_indices(index);
  }
  if (!layer.bias_first) add_bias();
  call.add_post_ops()->set_kind(program::PostOp::RELU);
  return call;
}

void Check(const std::vector<Layer>& layers, int threads) {
  std::mt19937 random(7);
  ProgramBuilder builder({1});
  const auto add = [&](const std::string& name, const std::vector<int64_t>& dims) {
    return builder.AddBuffer(name, program::F32, dims, {WholeBox(dims)});
  };
  std::vector<int> stored, results;
  std::vector<Values> contents, expected;
  const auto store = [&](int buffer, int64_t count) {
    builder.message().mutable_buffers(buffer)->set_initialized(true);
    stored.push_back(buffer);
    contents.push_back(Made(random, count));
  };
  int input = add("x", {kImages, layers[0].inputs, kPositions});
  store(input, kImages * layers[0].inputs * kPositions);
  for (size_t l = 0; l < layers.size(); ++l) {
    const Layer& layer = layers[l];
    const std::string number = std::to_string(l);
    std::vector<int> operands = {input, add("w" + number, {layer.outputs, layer.inputs}),
                                 add("b" + number, {layer.outputs})};
    store(operands[1], layer.outputs * layer.inputs);
    store(operands[2], layer.outputs);
    if (layer.residual >= 0) operands.push_back(results[layer.residual]);
    expected.push_back(Expected(layer, l == 0 ? contents[0] : expected[l - 1],
                                contents[contents.size() - 2], contents.back(),
                                layer.residual < 0 ? nullptr : &expected[layer.residual]));
    results.push_back(add("y" + number, {kImages, layer.outputs, kPositions}));
    std::vector<std::vector<Interval>> indices;
    for (const int64_t extent : {kImages, layer.outputs, kPositions, layer.inputs})
      indices.push_back({{0, extent}});
    builder.AddLibraryKernel(CallOf(layer), indices, operands, results.back());
    input = results.back();
  }
  builder.AddOutput("y", results.back());
  RunOptions options;
  options.threads_per_device = threads;
  options.poison = options.guards = true;
  auto session = OpenSession(builder.Load(), options);
  const ArenaLayout layout = SpreadLayout(session->program());
  for (size_t s = 0; s < stored.size(); ++s) {
    REQUIRE_THAT(session->fleet().devices[0]->Write(
                     layout.offsets[stored[s]], reinterpret_cast<const char*>(contents[s].data()),
                     static_cast<int64_t>(4 * contents[s].size())),
                 IsOk());
  }
  for (int step = 0; step < 2; ++step) REQUIRE_THAT(session->Step(), IsOk());
  const auto output = session->Get("y");
  REQUIRE_THAT(output, IsOk());
  CHECK(FloatsOf(*output) == expected.back());
}

TEST_CASE("results that lie as the library likes have the values of plain ones") {
  for (const int threads : {1, 2}) {
    for (const int64_t channels : {32, 20, 1}) {
      for (const bool bias_first : {true, false}) {
        INFO(threads << " threads, " << channels << " channels, bias first: " << bias_first);
        Check({{12, channels}, {channels, 48}, {48, channels, 0, bias_first}, {channels, 16}},
              threads);
        Check({{16, 64, -1, bias_first}, {64, channels}, {channels, 64, 0}, {64, 64, 2}}, threads);
        Check({{16, channels}, {channels, 32}}, threads);
        Check({{channels, 48}}, threads);  // nothing is passed on
      }
    }
  }
}

}  // namespace
}  // namespace yuba::runtime
