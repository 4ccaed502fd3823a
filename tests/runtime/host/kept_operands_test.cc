// A filter that does not change is reordered once and kept; when its value is set again, or an
// instruction writes it, the new one counts.
#include "runtime/host/kept_operands.h"

#include <catch2/catch.hpp>
#include <random>

#include "opsemantics/base/half.h"
#include "runtime/arena_watch.h"
#include "runtime/program/enums.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kChannels = 16, kInput = 8, kTaps = 3, kOutput = 6;

// y = convolution of x by w, both of `type`, y f32; w is a parameter, or an input.
std::shared_ptr<const LoadedProgram> ConvolutionProgram(bool filter_is_parameter,
                                                        program::ElementType type = program::F32) {
  ProgramBuilder builder({1});
  const auto add = [&](const char* name, program::ElementType of,
                       const std::vector<int64_t>& dims) {
    return builder.AddBuffer(name, of, dims, {WholeBox(dims)});
  };
  const int x = add("x", type, {kChannels, kInput, kInput});
  const int w = add("w", type, {kChannels, kChannels, kTaps, kTaps});
  const int y = add("y", program::F32, {kChannels, kOutput, kOutput});
  program::LibraryCall call;
  call.set_right(1);
  call.set_kind(program::LibraryCall::CONVOLUTION);
  program::LibraryIndex* out = call.add_columns();
  out->set_left_dim(-1);
  program::LibraryIndex* in = call.add_inner();
  in->set_index(1);
  in->set_right_dim(1);
  in->set_result_dim(-1);
  std::vector<std::vector<Interval>> indices = {{{0, kChannels}}, {{0, kChannels}}};
  for (int d = 0; d < 2; ++d) {
    program::LibraryWindow* window = call.add_windows();
    window->set_output(2 + 2 * d);
    window->set_kernel(3 + 2 * d);
    window->set_stride(1);
    window->set_dilation(1);
    window->set_input_dim(1 + d);
    window->set_filter_dim(2 + d);
    window->set_output_dim(1 + d);
    window->set_input(-1);
    indices.push_back({{0, kOutput}});
    indices.push_back({{0, kTaps}});
  }
  builder.AddLibraryKernel(call, indices, {x, w}, y);
  builder.AddInput("x", x);
  builder.AddOutput("y", y);
  for (int operand : {x, w}) builder.message().mutable_buffers(operand)->set_initialized(true);
  program::Port* port = filter_is_parameter ? builder.message().add_parameters()->mutable_port()
                                            : builder.AddInput("w", w);
  port->set_name("w");
  port->set_buffer(w);
  port->clear_shape();
  for (int64_t dim : {kChannels, kChannels, kTaps, kTaps}) port->add_shape(dim);
  return builder.Load();
}

TensorData SmallIntegers(ElementType type, const std::vector<int64_t>& shape, uint32_t seed) {
  std::mt19937 random(seed);
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 9) - 4);
  if (type == ElementType::kF32) return FloatTensor(shape, values);
  std::vector<uint16_t> halves;
  for (float value : values) halves.push_back(ToBF16(value));
  TensorData tensor;
  tensor.type = type;
  tensor.dims = shape;
  tensor.data.assign(reinterpret_cast<const char*>(halves.data()), halves.size() * 2);
  return tensor;
}

// The outputs of steps with filter 1, filter 1 again, filter 2.
std::vector<std::vector<float>> Outputs(Session& session, ElementType type) {
  std::vector<std::vector<float>> outputs;
  REQUIRE_THAT(session.Set("x", SmallIntegers(type, {kChannels, kInput, kInput}, 9)), IsOk());
  for (uint32_t filter : {1, 1, 2}) {
    const TensorData w = SmallIntegers(type, {kChannels, kChannels, kTaps, kTaps}, filter);
    if (outputs.size() != 1) REQUIRE_THAT(session.Set("w", w), IsOk());
    REQUIRE_THAT(session.Step(), IsOk());
    const absl::StatusOr<TensorData> y = session.Get("y");
    REQUIRE_THAT(y, IsOk());
    outputs.push_back(FloatsOf(*y));
  }
  return outputs;
}

TEST_CASE("a kept filter gives what a filter that is reordered in each step gives") {
  for (ElementType type : {ElementType::kF32, ElementType::kBF16}) {
    INFO(Name(type));
    auto keeping = OpenSession(ConvolutionProgram(true, ToProto(type)));
    auto plain = OpenSession(ConvolutionProgram(false, ToProto(type)));
    const auto outputs = Outputs(*keeping, type);
    CHECK(outputs == Outputs(*plain, type));
    CHECK(outputs[0] == outputs[1]);
    CHECK(outputs[0] != outputs[2]);
  }
}

TEST_CASE("filters that are kept are counted beside the workspace") {
  auto keeping = OpenSession(ConvolutionProgram(true));
  auto plain = OpenSession(ConvolutionProgram(false));
  if (plain->statistics().workspace_bytes == 0) {
    WARN("SKIP: the library takes the filter as it lies on this processor");
    return;
  }
  CHECK(keeping->statistics().workspace_bytes >= kChannels * kChannels * kTaps * kTaps * 4);
}

// Parameters a, b and c, each of 16 bytes, of which an exchange writes b.
TEST_CASE("a parameter is kept where no instruction writes a byte of it") {
  ProgramBuilder builder({1});
  std::vector<int> buffers;
  for (const char* name : {"a", "b", "c", "d"}) {
    buffers.push_back(builder.AddBuffer(name, program::F32, {4}, {WholeBox({4})}));
  }
  for (const char* name : {"a", "b", "c"}) {
    program::Port* port = builder.message().add_parameters()->mutable_port();
    port->set_name(name);
    port->set_buffer(static_cast<int>(name[0] - 'a'));
    port->add_shape(4);
    builder.message().mutable_buffers(name[0] - 'a')->set_initialized(true);
  }
  builder.AddExchange(buffers[0], buffers[1]);
  builder.AddExchange(buffers[0], buffers[3]);
  const auto program = builder.Load();
  ArenaLayout layout = PlannedLayout(*program);
  CHECK(KeptBuffers(*program, layout) == std::vector<bool>{true, false, true, false});
  layout.offsets[3] = layout.offsets[2] + 8;  // half of c's bytes
  CHECK(KeptBuffers(*program, layout) == std::vector<bool>{true, false, false, false});
  layout.offsets[3] = layout.offsets[2] - 8;
  CHECK(KeptBuffers(*program, layout) == std::vector<bool>{true, false, false, false});
}

}  // namespace
}  // namespace yuba::runtime
