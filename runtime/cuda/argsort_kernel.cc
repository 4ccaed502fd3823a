#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/argsort_kernel.h"

#include "runtime/cuda/gpu_memory.h"
#include "runtime/cuda/sort_plan.h"

namespace yuba::cuda {
namespace {

class ArgsortKernel final : public OpaqueKernel {
 public:
  ArgsortKernel(const OpaqueSite& site, const Gpu& gpu)
      : gpu_(gpu), argument_(site.calls.arguments(0).operand()), plan_(site.slices, site.hash) {}

  int64_t workspace_bytes() const override { return plan_.workspace_bytes(); }

  absl::Status Place(const std::vector<char*>& buffers, char* workspace,
                     cudaStream_t stream) override {
    YUBA_RETURN_IF_ERROR(job_.Store(plan_.Job(buffers[argument_], buffers.back()), stream));
    launches_ = plan_.Launches(job_.numbers(), workspace);
    return absl::OkStatus();
  }

  absl::Status Start(cudaStream_t stream) const override {
    for (const SortLaunch& launch : launches_)
      YUBA_RETURN_IF_ERROR(gpu_.LaunchSort(launch, plan_.wide(), stream));
    return absl::OkStatus();
  }

 private:
  const Gpu& gpu_;
  const int argument_;  // the operand that is sorted
  const SortPlan plan_;
  GpuMemory job_;
  std::vector<SortLaunch> launches_;
};

}  // namespace

std::unique_ptr<OpaqueKernel> MakeArgsortKernel(const OpaqueSite& site, const Gpu& gpu) {
  return std::make_unique<ArgsortKernel>(site, gpu);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
