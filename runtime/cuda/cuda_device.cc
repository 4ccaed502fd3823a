#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/cuda_device.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/types/optional.h"
#include "opsemantics/base/clock.h"
#include "runtime/contraction.h"
#include "runtime/cuda/make_job.h"
#include "runtime/program/kernel_abi.h"
#include "runtime/watched_threads.h"

namespace yuba::cuda {
namespace {

constexpr double kMostSecondsOfFailed = 1.5;
static_assert(kMostSecondsOfFailed < runtime::kGraceSeconds, "the device's thread comes back");
constexpr double kSpinSeconds = 1e-4;
constexpr std::chrono::microseconds kSleep(20);

constexpr int64_t kRecordBytes = sizeof(runtime::IndexRecord);

}  // namespace

absl::Status GpuMemory::Allocate(int64_t bytes) {
  YUBA_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<int64_t>(bytes, 1)));
  return absl::OkStatus();
}

absl::Status GpuMemory::Store(const std::vector<int64_t>& numbers, cudaStream_t stream) {
  const size_t bytes = numbers.size() * sizeof(int64_t);
  YUBA_RETURN_IF_ERROR(Allocate(static_cast<int64_t>(bytes)));
  // From memory of the host that is not pinned: `numbers` have been read when this returns, and
  // arrive later. cudaMemcpy would not do: kernels of `stream`, which does not block, do not wait
  // for it.
  YUBA_CUDA(cudaMemcpyAsync(data_, numbers.data(), bytes, cudaMemcpyHostToDevice, stream));
  return absl::OkStatus();
}

CudaDevice::~CudaDevice() {
  if (!gpu_->Enter().ok()) return;
  if (stream_ != nullptr) cudaStreamSynchronize(stream_);
  if (cublas_ != nullptr) (*Cublas::Open())->cublasDestroy_v2(cublas_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

// Copies to and from memory that is not pinned may block in the driver until the stream has come to
// them: the stream is waited for before, where there is a limit.

absl::Status CudaDevice::Write(int64_t offset, const char* data, int64_t bytes) {
  YUBA_RETURN_IF_ERROR(WaitForCopy());
  YUBA_CUDA(cudaMemcpyAsync(arena_.data() + offset, data, bytes, cudaMemcpyHostToDevice, stream_));
  return WaitForCopy();
}

absl::Status CudaDevice::Read(int64_t offset, char* data, int64_t bytes) {
  YUBA_RETURN_IF_ERROR(WaitForCopy());
  YUBA_CUDA(cudaMemcpyAsync(data, arena_.data() + offset, bytes, cudaMemcpyDeviceToHost, stream_));
  return WaitForCopy();
}

absl::Status CudaDevice::Fill(int64_t offset, char value, int64_t bytes) {
  YUBA_RETURN_IF_ERROR(gpu_->Enter());
  YUBA_CUDA(cudaMemsetAsync(arena_.data() + offset, value, bytes, stream_));
  return WaitForCopy();
}

absl::Status CudaDevice::WaitUntilIdle(const std::function<bool()>& give_up) {
  YUBA_RETURN_IF_ERROR(gpu_->Enter());
  const Clock::time_point start = Clock::now();
  while (true) {
    const cudaError_t state = cudaStreamQuery(stream_);
    if (state != cudaErrorNotReady) {
      YUBA_RETURN_IF_ERROR(CallStatus(state, "cudaStreamQuery", __FILE__, __LINE__));
      marks_.Settle();
      return absl::OkStatus();
    }
    if (give_up()) break;
    // Short waits are the usual ones, and sleeping takes longer than asked for.
    if (SecondsSince(start) < kSpinSeconds)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kSleep);
  }
  hangs_ = true;
  return absl::CancelledError("the work of the device does not end");
}

absl::Status CudaDevice::Synchronize(const std::atomic<bool>& give_up) {
  YUBA_RETURN_IF_ERROR(gpu_->Enter());
  YUBA_RETURN_IF_ERROR(marks_.Close());
  int64_t finished = marks_.finished();
  absl::optional<Clock::time_point> still_since;  // that it is to give up and nothing has ended
  return WaitUntilIdle([&] {
    if (!give_up) return false;
    if (!still_since.has_value() || marks_.finished() != finished) still_since = Clock::now();
    finished = marks_.finished();
    return SecondsSince(*still_since) > kMostSecondsOfFailed;
  });
}

absl::Status CudaDevice::WaitForCopy() {
  const Clock::time_point start = Clock::now();
  const absl::Status status = WaitUntilIdle([&] { return SecondsSince(start) > copy_seconds_; });
  return absl::IsCancelled(status)
             ? absl::DeadlineExceededError(absl::StrCat(
                   "device ", device_, ": a copy to or from the host has not ended for ",
                   copy_seconds_, " s; --timeout allows longer"))
             : status;
}

absl::Status CudaDevice::Usable() const {
  if (hangs_) {
    return absl::InternalError(
        absl::StrCat("device ", device_, " on GPU ", gpu_->number(), " hangs"));
  }
  if (stream_ == nullptr) return absl::OkStatus();
  YUBA_RETURN_IF_ERROR(gpu_->Enter());
  const cudaError_t state = cudaStreamQuery(stream_);
  if (state == cudaSuccess || state == cudaErrorNotReady) return absl::OkStatus();
  return Annotate(CallStatus(state, "cudaStreamQuery", __FILE__, __LINE__),
                  "the GPU cannot be used by this process any more");
}

int64_t Ceiling(int64_t count, int64_t each) { return (count + each - 1) / each; }

// How many points of a kernel a device computes.
int64_t PointsOf(const runtime::LoadedProgram& program, const program::Kernel& kernel,
                 const program::ThreadLaunch& launch, int device) {
  int64_t points = 1;
  for (const int index : launch.indices())
    points *= program.IntervalOf(kernel.indices(index), device).size();
  return points;
}

absl::Status CudaDevice::Prepare(const runtime::LoadedProgram& program,
                                 const runtime::ArenaLayout& layout) {
  YUBA_RETURN_IF_ERROR(gpu_->Enter());
  YUBA_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  YUBA_RETURN_IF_ERROR(marks_.Open(stream_));
  YUBA_RETURN_IF_ERROR(
      Annotate(arena_.Allocate(layout.size),
               absl::StrCat("device ", device_, ": its arena, ", layout.size, " bytes")));
  YUBA_RETURN_IF_ERROR(Fill(0, 0, layout.size));
  YUBA_RETURN_IF_ERROR(PrepareRecords(program));
  std::vector<int64_t> tables;       // of all launches: pointers to buffers, then arguments
  std::vector<size_t> in_workspace;  // places there that get the workspace's address
  int64_t record = 0;
  instructions_.resize(program.instructions().size());
  for (size_t p = 0; p < instructions_.size(); ++p) {
    if (!program.instructions()[p].has_kernel()) continue;
    const program::Kernel& kernel = program.instructions()[p].kernel();
    Prepared& prepared = instructions_[p];
    const runtime::Launch launch = runtime::LaunchOf(program, layout, static_cast<int>(p), device_);
    const program::Function& function = program.message().functions(launch.function);
    if (function.has_library()) {
      YUBA_RETURN_IF_ERROR(Annotate(PrepareLibrary(program, kernel, launch, prepared),
                                    program.Describe(static_cast<int>(p))));
      continue;
    }
    if (function.has_opaque()) {
      return absl::UnimplementedError(
          absl::StrCat(program.Describe(static_cast<int>(p)), " calls the opaque function '",
                       function.opaque().name(), "', which runs on processors only; compile with ",
                       "--target host and run it with --backend host"));
    }
    YUBA_ASSIGN_OR_RETURN(prepared.function, gpu_->Find(function.symbol()));
    prepared.elements = Volume(program.BoxOf(kernel.results(0).box(), device_));
    if (!function.has_launch()) {
      return UserError(program.Describe(static_cast<int>(p)),
                       ": the program does not say how it is started on GPUs; compile it anew");
    }
    prepared.threads = function.launch().threads();
    const program::ThreadLaunch& threads = function.launch();
    const int64_t points = PointsOf(program, kernel, threads, device_);
    prepared.blocks = Ceiling(points, threads.points()) * std::max(threads.parts(), 1);
    if (threads.parts() > 0) {
      YUBA_ASSIGN_OR_RETURN(prepared.sum,
                            gpu_->Find(absl::StrCat(function.symbol(), runtime::kSumOfParts)));
      prepared.sum_blocks = Ceiling(points, runtime::kSumThreads);
      workspace_bytes_ =
          std::max(workspace_bytes_, threads.parts() * points * threads.part_bytes());
    }
    prepared.buffers = static_cast<int64_t>(tables.size());
    for (int64_t offset : launch.offsets) {
      tables.push_back(reinterpret_cast<int64_t>(arena_.data() + offset));
    }
    if (function.checks_indices()) {
      tables.push_back(reinterpret_cast<int64_t>(records_.data() + kRecordBytes * record++));
    }
    if (threads.parts() > 0) {
      in_workspace.push_back(tables.size());
      tables.push_back(0);
    }
    prepared.arguments = static_cast<int64_t>(tables.size());
    tables.insert(tables.end(), launch.arguments.begin(), launch.arguments.end());
  }
  YUBA_RETURN_IF_ERROR(workspace_.Allocate(workspace_bytes_));
  for (const size_t place : in_workspace)
    tables[place] = reinterpret_cast<int64_t>(workspace_.data());
  return tables_.Store(tables, stream_);
}

absl::Status CudaDevice::PrepareRecords(const runtime::LoadedProgram& program) {
  for (int p = 0; p < program.instructions().size(); ++p) {
    if (!program.instructions()[p].has_kernel()) continue;
    const program::Kernel& kernel = program.instructions()[p].kernel();
    if (program.message().functions(kernel.function()).checks_indices()) checking_.push_back(p);
  }
  if (checking_.empty()) return absl::OkStatus();
  const int64_t bytes = kRecordBytes * static_cast<int64_t>(checking_.size());
  YUBA_RETURN_IF_ERROR(records_.Allocate(bytes));
  YUBA_CUDA(cudaMemsetAsync(records_.data(), 0, bytes, stream_));
  return absl::OkStatus();
}

absl::StatusOr<runtime::Device::BadIndex> CudaDevice::TakeBadIndex() {
  BadIndex first;
  if (checking_.empty()) return first;
  std::vector<runtime::IndexRecord> records(checking_.size());
  const size_t bytes = kRecordBytes * records.size();
  YUBA_RETURN_IF_ERROR(gpu_->Enter());
  YUBA_CUDA(
      cudaMemcpyAsync(records.data(), records_.data(), bytes, cudaMemcpyDeviceToHost, stream_));
  YUBA_RETURN_IF_ERROR(WaitForCopy());
  for (size_t i = 0; i < records.size() && first.instruction < 0; ++i) {
    if (records[i].found != 0) first = {checking_[i], records[i]};
  }
  if (first.instruction >= 0) YUBA_CUDA(cudaMemsetAsync(records_.data(), 0, bytes, stream_));
  return first;
}

absl::Status CudaDevice::PrepareLibrary(const runtime::LoadedProgram& program,
                                        const program::Kernel& kernel,
                                        const runtime::Launch& launch, Prepared& prepared) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  if (call.kind() != program::LibraryCall::CONTRACTION) {
    return absl::UnimplementedError(
        "convolutions by a library are not there for GPUs; compile with --target cuda, which "
        "generates their code");
  }
  if (!call.post_ops().empty()) {
    return absl::UnimplementedError(
        "post-ops of library calls are not there for GPUs; compile with --target cuda, which "
        "generates their code");
  }
  const runtime::LibraryShape shape = runtime::ShapeOf(program, kernel, device_);
  if (shape.no_result) return absl::OkStatus();
  prepared.elements = shape.result.elements();
  prepared.left = arena_.data() + launch.offsets[call.left()];
  prepared.right = arena_.data() + launch.offsets[call.right()];
  prepared.result = arena_.data() + launch.offsets.back();
  if (shape.no_terms) {
    prepared.zeros = std::make_unique<GpuMemory>();
    return prepared.zeros->Store(
        CombineJob({Reducer::kSum, shape.result_type, shape.result_type, false}, shape.result, {},
                   prepared.result),
        stream_);
  }
  YUBA_ASSIGN_OR_RETURN(const Cublas* cublas, Cublas::Open());
  if (cublas_ == nullptr) {
    YUBA_CUDA(cublas->cublasCreate_v2(&cublas_));
    YUBA_CUDA(cublas->cublasSetStream_v2(cublas_, stream_));
    // What is added up in f32 is not rounded to a small float between parts of a sum.
    YUBA_CUDA(cublas->cublasSetMathMode(
        cublas_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                           CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
  }
  prepared.product = std::make_unique<CublasProduct>(*gpu_, *cublas, cublas_, stream_, shape);
  workspace_bytes_ = std::max(workspace_bytes_, prepared.product->workspace_bytes());
  return absl::OkStatus();
}

absl::Status CudaDevice::Run(int instruction) {
  const Prepared& prepared = instructions_[instruction];
  if (prepared.elements == 0) return absl::OkStatus();
  YUBA_RETURN_IF_ERROR(gpu_->Enter());
  YUBA_RETURN_IF_ERROR(Start(prepared));
  return Started(instruction);
}

absl::Status CudaDevice::Start(const Prepared& prepared) {
  if (prepared.zeros != nullptr) {
    return gpu_->LaunchJob(prepared.zeros->numbers(), prepared.elements, stream_);
  }
  if (prepared.product != nullptr) {
    ++library_calls_;
    return prepared.product->Run(prepared.left, prepared.right, prepared.result, workspace_.data());
  }
  const int64_t* buffers = tables_.numbers() + prepared.buffers;
  const int64_t* arguments = tables_.numbers() + prepared.arguments;
  void* parameters[] = {&buffers, &arguments};
  YUBA_RETURN_IF_ERROR(
      gpu_->Launch(prepared.function, prepared.blocks, prepared.threads, parameters, stream_));
  if (prepared.sum == nullptr) return absl::OkStatus();
  return gpu_->Launch(prepared.sum, prepared.sum_blocks, runtime::kSumThreads, parameters, stream_);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
