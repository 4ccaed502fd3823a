#include "tools/report/library_call.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "opsemantics/base/element_type.h"
#include "runtime/contraction.h"
#include "runtime/convolution_geometry.h"

namespace yuba::tools {
namespace {

using nlohmann::ordered_json;
using runtime::LibraryTensor;
using runtime::StridedIndex;

int64_t Times(const std::vector<StridedIndex>& loops) {
  int64_t times = 1;
  for (const StridedIndex& loop : loops) times *= loop.extent;
  return times;
}

void AddProduct(const runtime::LibraryShape& shape, ordered_json& json) {
  const runtime::ProductPlan plan = runtime::PlanProduct(shape);
  json["times"] = Times(plan.sums);  // loops are a batch
  json["m"] = plan.m;
  json["n"] = plan.n;
  json["k"] = plan.k;
  std::vector<int64_t> batch, a, b;
  for (const StridedIndex& loop : plan.loops) {
    batch.push_back(loop.extent);
    a.push_back(plan.swapped ? loop.right : loop.left);
    b.push_back(plan.swapped ? loop.left : loop.right);
  }
  a.insert(a.end(), {plan.a.row_step, plan.a.column_step});
  b.insert(b.end(), {plan.b.row_step, plan.b.column_step});
  json["batch"] = batch;
  json["a"] = a;
  json["b"] = b;
}

// A step from one channel to the next in a tensor that has those of all groups, where groups follow
// one another without a gap.
int64_t ChannelStep(const StridedIndex& of_group, const StridedIndex& group, LibraryTensor tensor) {
  return StepIn(of_group.extent > 1 ? of_group : group, tensor);
}

void AddConvolution(const runtime::ConvolutionGeometry& geometry,
                    const runtime::ConvolutionTensors& tensors, ordered_json& json) {
  json["times"] = Times(geometry.loops) * Times(geometry.sums);
  json["images"] = geometry.batch.extent;
  json["groups"] = geometry.group.extent;
  json["inner"] = geometry.inner.extent;
  json["channels"] = geometry.channel.extent;
  std::vector<int64_t> input = {StepIn(geometry.batch, tensors.input),
                                ChannelStep(geometry.inner, geometry.group, tensors.input)};
  std::vector<int64_t> filter = {ChannelStep(geometry.channel, geometry.group, tensors.filter),
                                 StepIn(geometry.inner, tensors.filter)};
  std::vector<int64_t> output = {StepIn(geometry.batch, tensors.output),
                                 ChannelStep(geometry.channel, geometry.group, tensors.output)};
  json["windows"] = ordered_json::array();
  for (const runtime::LocalWindow& window : geometry.windows) {
    json["windows"].push_back({{"input", window.input},
                               {"taps", window.taps},
                               {"outputs", window.outputs},
                               {"stride", window.stride},
                               {"dilation", window.dilation},
                               {"before", window.pad_left},
                               {"behind", window.pad_right}});
    input.push_back(window.input_step);
    filter.push_back(window.tap_step);
    output.push_back(window.output_step);
  }
  json["input"] = input;
  json["filter"] = filter;
  json["output"] = output;
}

}  // namespace

ordered_json LibraryCallJson(const runtime::LoadedProgram& program, const program::Kernel& kernel,
                             int device) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  const bool product = call.kind() == program::LibraryCall::CONTRACTION;
  ordered_json json;
  json["call"] =
      product ? "product" : absl::AsciiStrToLower(program::LibraryCall::Kind_Name(call.kind()));
  if (!product && call.windows().empty()) return json;
  const runtime::LibraryShape shape = runtime::ShapeOf(program, kernel, device);
  if (shape.no_result || shape.no_terms) return nullptr;
  json["type"] = Name(shape.type);
  json["result"] = Name(shape.result_type);
  json["tf32"] = call.tf32();
  json["post_ops"] = call.post_ops_size();
  if (product) {
    AddProduct(shape, json);
    return json;
  }
  const runtime::ConvolutionGeometry geometry =
      runtime::GeometryOf(program, kernel, shape, device, runtime::FilterGroups::kWithChannels);
  if (geometry.no_terms) return nullptr;
  AddConvolution(geometry, runtime::TensorsOf(call.kind()), json);
  return json;
}

}  // namespace yuba::tools
