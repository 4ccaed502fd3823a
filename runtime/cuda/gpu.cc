#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/gpu.h"

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace yuba::cuda {
namespace {

constexpr int kBlock = 256;      // threads of the runtime's own kernels
constexpr int kBlocksEach = 16;  // on each multiprocessor; threads go round for the rest
constexpr int kLogBytes = 8192;  // of the PTX compiler's words

}  // namespace

absl::StatusOr<std::shared_ptr<const Gpu>> Gpu::Open(int number,
                                                     const runtime::LoadedProgram& program) {
  std::shared_ptr<Gpu> gpu(new Gpu(number));
  YUBA_RETURN_IF_ERROR(gpu->Load(program));
  return std::shared_ptr<const Gpu>(std::move(gpu));
}

Gpu::~Gpu() {
  if (cudaSetDevice(number_) != cudaSuccess) return;
  if (program_ != nullptr) driver_->cuModuleUnload(program_);
  if (own_ != nullptr) driver_->cuModuleUnload(own_);
}

absl::Status Gpu::Enter() const {
  YUBA_CUDA(cudaSetDevice(number_));
  return absl::OkStatus();
}

absl::Status Gpu::Load(const runtime::LoadedProgram& program) {
  YUBA_ASSIGN_OR_RETURN(driver_, Driver::Open());
  YUBA_RETURN_IF_ERROR(Enter());
  YUBA_CUDA(cudaFree(nullptr));  // makes the context that modules are loaded into
  cudaDeviceProp properties = {};
  YUBA_CUDA(cudaGetDeviceProperties(&properties, number_));
  processors_ = properties.multiProcessorCount;
  const int sm = properties.major * 10 + properties.minor;
  const program::Program& message = program.message();
  int wanted = 0;
  if (absl::SimpleAtoi(absl::StripPrefix(message.processor(), "sm_"), &wanted) && wanted > sm) {
    return absl::UnavailableError(absl::StrCat("the program is compiled for ", message.processor(),
                                               ", and GPU ", number_, " (", properties.name,
                                               ") is sm_", sm));
  }
  if (message.target() == "cuda" && !message.code().empty()) {
    YUBA_ASSIGN_OR_RETURN(program_, Compile(message.code(), "the program's"));
  }
  if (kOwnKernels[0] == '\0') {
    return absl::UnavailableError("built without nvcc, which makes the runtime's kernels");
  }
  YUBA_ASSIGN_OR_RETURN(own_, Compile(kOwnKernels, "the runtime's"));
  YUBA_CUDA(driver_->cuModuleGetFunction(&job_, own_, "yuba_job"));
  YUBA_CUDA(driver_->cuModuleGetFunction(&matrix_, own_, "yuba_matrix"));
  YUBA_CUDA(driver_->cuModuleGetFunction(&mark_, own_, "yuba_mark"));
  for (const bool wide : {false, true}) {
    YUBA_CUDA(
        driver_->cuModuleGetFunction(&sort_[wide], own_, wide ? "yuba_sort_8" : "yuba_sort_4"));
    YUBA_CUDA(
        driver_->cuModuleGetFunction(&merge_[wide], own_, wide ? "yuba_merge_8" : "yuba_merge_4"));
  }
  return absl::OkStatus();
}

absl::StatusOr<CUmodule> Gpu::Compile(const std::string& ptx, const char* what) const {
  char log[kLogBytes] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(static_cast<uintptr_t>(kLogBytes))};
  CUmodule module = nullptr;
  const absl::Status status =
      CallStatus(driver_->cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values),
                 "cuModuleLoadDataEx", __FILE__, __LINE__);
  if (!status.ok()) {
    return Annotate(status, absl::StrCat("compiling ", what, " kernels: ", log));
  }
  return module;
}

absl::StatusOr<CUfunction> Gpu::Find(const std::string& symbol) const {
  CUfunction function = nullptr;
  if (program_ == nullptr ||
      driver_->cuModuleGetFunction(&function, program_, symbol.c_str()) != CUDA_SUCCESS) {
    return UserError("the program has no kernel ", symbol,
                     " for GPUs; compile it with --target cuda");
  }
  return function;
}

absl::Status Gpu::Launch(CUfunction function, int64_t blocks, int threads, void** parameters,
                         cudaStream_t stream) const {
  if (blocks <= 0) return absl::OkStatus();
  if (blocks > std::numeric_limits<int32_t>::max())
    return UserError("a kernel needs ", blocks, " blocks of threads, more than a GPU starts");
  YUBA_CUDA(driver_->cuLaunchKernel(function, static_cast<unsigned>(blocks), 1, 1, threads, 1, 1, 0,
                                    stream, parameters, nullptr));
  return absl::OkStatus();
}

absl::Status Gpu::LaunchRound(CUfunction function, int64_t elements, void** parameters,
                              cudaStream_t stream) const {
  const int64_t blocks =
      std::min<int64_t>((elements + kBlock - 1) / kBlock, int64_t{processors_} * kBlocksEach);
  return Launch(function, blocks, kBlock, parameters, stream);
}

absl::Status Gpu::LaunchJob(const int64_t* job, int64_t elements, cudaStream_t stream) const {
  void* parameters[] = {&job};
  return LaunchRound(job_, elements, parameters, stream);
}

absl::Status Gpu::LaunchMatrixCopy(const MatrixCopy& copy, cudaStream_t stream) const {
  MatrixCopy parameter = copy;
  void* parameters[] = {&parameter};
  return LaunchRound(matrix_, copy.rows * copy.columns, parameters, stream);
}

absl::Status Gpu::LaunchMark(int64_t* to, int64_t number, cudaStream_t stream) const {
  void* parameters[] = {&to, &number};
  return Launch(mark_, 1, 1, parameters, stream);
}

absl::Status Gpu::LaunchSort(const SortLaunch& launch, bool wide, cudaStream_t stream) const {
  RowSort parameter = launch.sort;
  void* parameters[] = {&parameter};
  return Launch(launch.merges ? merge_[wide] : sort_[wide], launch.blocks, launch.threads,
                parameters, stream);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
