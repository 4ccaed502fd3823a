#include "runtime/host/opaque_kernel.h"

#include <algorithm>

#include "opsemantics/base/box.h"
#include "opsemantics/base/check.h"
#include "runtime/host/launch_parts.h"

namespace yuba::runtime {
namespace {

// The slice at the first call.
template <typename Byte>
OpaqueSlice<Byte> SliceOf(const PlacedSlice& placed, const OpaqueType& type, void* buffer) {
  return {static_cast<Byte*>(buffer) + placed.first, type, placed.strides};
}

int64_t ElementsOf(const OpaqueType& type) { return Volume(WholeBox(type.extents)); }

}  // namespace

OpaqueKernel::OpaqueKernel(const LoadedProgram& program, const program::Kernel& kernel, int device,
                           const std::vector<void*>& buffers) {
  const program::OpaqueCalls& opaque = program.message().functions(kernel.function()).opaque();
  function_ = FindOpaqueFunction(opaque.name());
  YUBA_CHECK(function_ != nullptr) << NoOpaqueFunction(opaque.name());
  const OpaqueSlices slices = PlaceSlices(program, kernel, device);
  loops_ = slices.loops;
  calls_ = slices.calls;
  if (calls_ == 0) return;
  const OpaqueSignature& signature = slices.signature;
  first_.attributes = signature.attributes;
  first_.hash = program.hash();
  first_.result = SliceOf<char>(slices.result, signature.result, buffers.back());
  points_ = ElementsOf(signature.result);
  for (int a = 0; a < opaque.arguments_size(); ++a) {
    points_ += ElementsOf(signature.arguments[a]);
    first_.arguments.push_back(SliceOf<const char>(slices.arguments[a], signature.arguments[a],
                                                   buffers[opaque.arguments(a).operand()]));
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
