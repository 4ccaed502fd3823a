#include "runtime/host/opaque_kernel.h"

#include <algorithm>

#include "opsemantics/base/check.h"
#include "runtime/host/launch_parts.h"
#include "runtime/program/opaque_calls.h"
#include "runtime/walk.h"

namespace yuba::runtime {
namespace {

// Where one tensor's elements are, by the kernel's indices.
struct Layout {
  int64_t first = 0;           // bytes from the buffer's start to the device's first slice
  std::vector<int64_t> steps;  // [index]: bytes of a step along it, 0 where the tensor lacks it
};

Layout LayoutOf(const LoadedProgram& program, const program::Kernel& kernel,
                const program::OpaqueTensor& tensor, int buffer, int device) {
  const Box box = program.BufferBox(buffer, device);
  const std::vector<int64_t> strides = DenseStrides(box);
  Layout layout;
  layout.steps.assign(kernel.indices_size(), 0);
  for (size_t d = 0; d < box.size(); ++d) {
    const int index = tensor.indices(static_cast<int>(d));
    layout.steps[index] = strides[d] * program.ElementBytes(buffer);
    const int64_t begin = program.IntervalOf(kernel.indices(index), device).begin;
    layout.first += (begin - box[d].begin) * layout.steps[index];
  }
  return layout;
}

// The slice at the first call: `type` has the extents of the dimensions that are not `calls`.
template <typename Byte>
OpaqueSlice<Byte> SliceOf(const program::OpaqueTensor& tensor, const std::vector<bool>& calls,
                          OpaqueType type, const Layout& layout, int64_t element_bytes,
                          void* buffer) {
  OpaqueSlice<Byte> slice;
  slice.data = static_cast<Byte*>(buffer) + layout.first;
  slice.type = std::move(type);
  for (int index : tensor.indices()) {
    if (!calls[index]) slice.strides.push_back(layout.steps[index] / element_bytes);
  }
  return slice;
}

int64_t ElementsOf(const OpaqueType& type) { return Volume(WholeBox(type.extents)); }

}  // namespace

OpaqueKernel::OpaqueKernel(const LoadedProgram& program, const program::Kernel& kernel, int device,
                           const std::vector<void*>& buffers) {
  const program::Function& function = program.message().functions(kernel.function());
  const program::OpaqueCalls& opaque = function.opaque();
  function_ = FindOpaqueFunction(opaque.name());
  YUBA_CHECK(function_ != nullptr) << NoOpaqueFunction(opaque.name());
  const std::vector<bool> calls = CallIndices(function);
  for (int i = 0; i < kernel.indices_size(); ++i) {
    if (!calls[i]) continue;
    loops_.push_back({program.IntervalOf(kernel.indices(i), device).size(), {}, 0});
    calls_ *= loops_.back().extent;
  }
  if (calls_ == 0) return;  // the buffers may hold nothing
  OpaqueSignature signature = SignatureOf(program, kernel);
  first_.attributes = signature.attributes;
  first_.hash = program.hash();
  points_ = ElementsOf(signature.result);
  for (int a = 0; a < opaque.arguments_size(); ++a) {
    const program::OpaqueTensor& argument = opaque.arguments(a);
    const int buffer = kernel.operands(argument.operand()).buffer();
    const Layout layout = LayoutOf(program, kernel, argument, buffer, device);
    points_ += ElementsOf(signature.arguments[a]);
    first_.arguments.push_back(SliceOf<const char>(argument, calls, signature.arguments[a], layout,
                                                   program.ElementBytes(buffer),
                                                   buffers[argument.operand()]));
    auto loop = loops_.begin();
    for (int i = 0; i < kernel.indices_size(); ++i) {
      if (calls[i]) (loop++)->argument_steps.push_back(layout.steps[i]);
    }
  }
  const int buffer = kernel.results(0).buffer();
  const Layout layout = LayoutOf(program, kernel, opaque.result(), buffer, device);
  first_.result = SliceOf<char>(opaque.result(), calls, signature.result, layout,
                                program.ElementBytes(buffer), buffers.back());
  auto loop = loops_.begin();
  for (int i = 0; i < kernel.indices_size(); ++i) {
    if (calls[i]) (loop++)->result_step = layout.steps[i];
  }
}

void OpaqueKernel::Run(ThreadTeam& team) const {
  const int64_t worth = points_ == 0 ? 1 : std::max<int64_t>(1, kPointsPerThread / points_);
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(team.threads(), calls_ / worth));
  team.Run(static_cast<int>(parts), [this, parts](int part) {
    RunCalls(calls_ * part / parts, calls_ * (part + 1) / parts);
  });
}

void OpaqueKernel::RunCalls(int64_t begin, int64_t end) const {
  OpaqueCall call = first_;
  for (int64_t number = begin; number < end; ++number) {
    int64_t rest = number;
    for (size_t a = 0; a < call.arguments.size(); ++a) {
      call.arguments[a].data = first_.arguments[a].data;
    }
    call.result.data = first_.result.data;
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      const int64_t at = rest % loop->extent;
      rest /= loop->extent;
      for (size_t a = 0; a < call.arguments.size(); ++a) {
        call.arguments[a].data += at * loop->argument_steps[a];
      }
      call.result.data += at * loop->result_step;
    }
    function_->run(call);
  }
}

}  // namespace yuba::runtime
