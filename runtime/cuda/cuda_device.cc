#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/cuda_device.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/types/optional.h"
#include "opsemantics/base/clock.h"
#include "runtime/contraction.h"
#include "runtime/cuda/library/cublas_lt_tuner.h"
#include "runtime/cuda/make_job.h"
#include "runtime/program/check_attention.h"
#include "runtime/program/check_joint_calls.h"
#include "runtime/program/check_streams.h"
#include "runtime/program/kernel_abi.h"
#include "runtime/program/thread_launch.h"
#include "runtime/watched_threads.h"

namespace yuba::cuda {
namespace {

constexpr double kMostSecondsOfFailed = 1.5;
static_assert(kMostSecondsOfFailed < runtime::kGraceSeconds, "the device's thread comes back");
constexpr double kSpinSeconds = 1e-4;
constexpr std::chrono::microseconds kSleep(20);

constexpr int64_t kRecordBytes = sizeof(runtime::IndexRecord);

}  // namespace

CudaDevice::~CudaDevice() {
  if (!gpu_->Enter().ok()) return;
  if (stream_ != nullptr) cudaStreamSynchronize(stream_);
  instructions_.clear();
  handles_.reset();
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
    cudaError_t state = cudaStreamQuery(stream_);
    if (state == cudaSuccess && streams_ != nullptr) state = cudaStreamQuery(exchange_stream());
    if (state != cudaErrorNotReady) {
      YUBA_RETURN_IF_ERROR(CallStatus(state, "cudaStreamQuery", __FILE__, __LINE__));
      marks_.Settle();
      if (streams_ != nullptr) exchange_marks_.Settle();
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
  YUBA_RETURN_IF_ERROR(EndStep());
  int64_t done = finished();
  absl::optional<Clock::time_point> still_since;  // that it is to give up and nothing has ended
  return WaitUntilIdle([&] {
    if (!give_up) return false;
    if (!still_since.has_value() || finished() != done) still_since = Clock::now();
    done = finished();
    return SecondsSince(*still_since) > kMostSecondsOfFailed;
  });
}

absl::Status CudaDevice::WaitFor(const char* what) {
  const Clock::time_point start = Clock::now();
  const absl::Status status = WaitUntilIdle([&] { return SecondsSince(start) > copy_seconds_; });
  return absl::IsCancelled(status) ? absl::DeadlineExceededError(absl::StrCat(
                                         "device ", device_, ": ", what, " has not ended for ",
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

// Of the workspace, for what generated code leaves in parts.
int64_t BytesOfParts(const runtime::LoadedProgram& program, const program::Kernel& kernel,
                     int device) {
  int64_t most = 0;
  for (const auto& launch : program.message().functions(kernel.function()).launches())
    most =
        std::max(most, launch.parts() * program::PointsOf(program.mesh(), kernel, launch, device) *
                           launch.part_bytes());
  return most;
}

absl::Status CudaDevice::Prepare(const runtime::LoadedProgram& program,
                                 const runtime::ArenaLayout& layout) {
  YUBA_RETURN_IF_ERROR(gpu_->Enter());
  YUBA_RETURN_IF_ERROR(marks_.Open(*gpu_, stream_));
  YUBA_RETURN_IF_ERROR(
      Annotate(arena_.Allocate(arena_bytes_),
               absl::StrCat("device ", device_, ": its arena, ", arena_bytes_, " bytes")));
  YUBA_RETURN_IF_ERROR(Fill(0, 0, arena_bytes_));
  YUBA_RETURN_IF_ERROR(PrepareRecords(program));
  std::vector<int64_t> tables;  // of all launches: pointers to buffers, then arguments
  YUBA_RETURN_IF_ERROR(workspace_.Allocate(workspace_bytes_));
  int64_t record = 0;
  for (size_t p = 0; p < instructions_.size(); ++p) {
    Prepared& prepared = instructions_[p];
    for (const int64_t offset : prepared.joint_offsets)
      prepared.pointers.push_back(arena_.data() + offset);
    if (!program.instructions()[p].has_kernel() || prepared.stood_for) continue;
    const program::Kernel& kernel = program.instructions()[p].kernel();
    const runtime::Launch launch = runtime::LaunchOf(program, layout, static_cast<int>(p), device_);
    const program::Function& function = program.message().functions(launch.function);
    if (prepared.is_library) {
      for (const int64_t offset : launch.offsets)
        prepared.pointers.push_back(arena_.data() + offset);
      YUBA_RETURN_IF_ERROR(PrepareZeros(program, kernel, prepared));
      continue;
    }
    if (function.has_opaque()) {
      if (prepared.opaque == nullptr) continue;  // no slices here
      std::vector<char*> buffers;
      for (int64_t offset : launch.offsets) buffers.push_back(arena_.data() + offset);
      YUBA_RETURN_IF_ERROR(prepared.opaque->Place(buffers, workspace_.data(), stream_));
      continue;
    }
    for (const program::Access& result : kernel.results())
      prepared.elements += Volume(program.BoxOf(result.box(), device_));
    YUBA_RETURN_IF_ERROR(Annotate(PrepareLaunches(program, kernel, prepared),
                                  program.Describe(static_cast<int>(p))));
    prepared.buffers = static_cast<int64_t>(tables.size());
    for (int64_t offset : launch.offsets) {
      tables.push_back(reinterpret_cast<int64_t>(arena_.data() + offset));
    }
    if (function.checks_indices()) {
      tables.push_back(reinterpret_cast<int64_t>(records_.data() + kRecordBytes * record++));
    }
    if (prepared.has_parts) tables.push_back(reinterpret_cast<int64_t>(workspace_.data()));
    prepared.arguments = static_cast<int64_t>(tables.size());
    tables.insert(tables.end(), launch.arguments.begin(), launch.arguments.end());
  }
  return tables_.Store(tables, stream_);
}

absl::Status CudaDevice::PrepareLaunches(const runtime::LoadedProgram& program,
                                         const program::Kernel& kernel, Prepared& prepared) {
  const program::Function& function = program.message().functions(kernel.function());
  if (function.launches().empty())
    return UserError("the program does not say how it is started on GPUs; compile it anew");
  for (const program::ThreadLaunch& launch : function.launches()) {
    const int64_t blocks = program::BlocksOf(program.mesh(), kernel, launch, device_);
    if (launch.beside()) {
      prepared.code.back().blocks += blocks;
      continue;
    }
    StartedCode code;
    YUBA_ASSIGN_OR_RETURN(code.function, gpu_->Find(launch.symbol()));
    code.threads = launch.threads();
    code.blocks = blocks;
    prepared.code.push_back(code);
    prepared.has_parts |= launch.part_bytes() > 0;
  }
  return absl::OkStatus();
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

absl::Status CudaDevice::PlanLibraryCalls(const runtime::LoadedProgram& program,
                                          const runtime::ArenaLayout& layout, Tuning* tuning) {
  YUBA_RETURN_IF_ERROR(gpu_->Enter());
  YUBA_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  handles_ = std::make_unique<LibraryHandles>(*gpu_, stream_);
  if (tuning != nullptr) YUBA_RETURN_IF_ERROR(MakeTuner(*tuning));
  instructions_.resize(program.instructions().size());
  YUBA_RETURN_IF_ERROR(PlanAttention(program, layout));
  for (const program::JointCall& call : program.message().joint_calls()) {
    YUBA_RETURN_IF_ERROR(
        Annotate(PlanJointCall(program, layout, call), program.Describe(call.product())));
  }
  for (int p = 0; p < static_cast<int>(instructions_.size()); ++p) {
    if (!program.instructions()[p].has_kernel() || instructions_[p].stood_for) continue;
    const program::Kernel& kernel = program.instructions()[p].kernel();
    const program::Function& function = program.message().functions(kernel.function());
    if (function.has_opaque()) {
      YUBA_RETURN_IF_ERROR(Annotate(PlanOpaqueCalls(program, p), program.Describe(p)));
      continue;
    }
    if (function.has_library())
      YUBA_RETURN_IF_ERROR(Annotate(PlanLibraryCall(program, layout, p), program.Describe(p)));
    if (!instructions_[p].is_library)
      workspace_bytes_ = std::max(workspace_bytes_, BytesOfParts(program, kernel, device_));
  }
  return absl::OkStatus();
}

absl::Status CudaDevice::MakeTuner(Tuning& tuning) {
  YUBA_ASSIGN_OR_RETURN(
      std::unique_ptr<LtTuner> tuner,
      LtTuner::Make(*gpu_, stream_, tuning, [this] { return WaitFor("a product that is timed"); }));
  handles_->SetTuner(std::move(tuner));
  return absl::OkStatus();
}

absl::Status CudaDevice::PlanAttention(const runtime::LoadedProgram& program,
                                       const runtime::ArenaLayout& layout) {
  bool all = true;
  for (const program::Attention& attention : program.message().attention()) {
    const int values = attention.products(1).instruction();
    absl::StatusOr<AttentionCalls> made =
        AttentionCalls::Make(program, attention, layout, device_, *handles_);
    if (absl::IsUnavailable(made.status()) || absl::IsUnimplemented(made.status())) {
      fallbacks_.push_back(
          {values, "cuDNN", std::string(made.status().message()), "products and a softmax"});
      all = false;
      continue;
    }
    YUBA_RETURN_IF_ERROR(Annotate(made.status(), program.Describe(values)));
    for (const auto& [begin, end] : program::PartsOf(attention)) {
      for (int p = begin; p < end; ++p) instructions_[p].stood_for = true;
      Prepared& last = instructions_[end - 1];
      last.attention = begin == attention.forward_begin() ? made->forward : made->backward;
      if (!last.attention.has_value()) continue;
      last.elements = 1;
      workspace_bytes_ = std::max(workspace_bytes_, last.attention->workspace_bytes());
    }
  }
  arena_bytes_ = layout.size - (all ? layout.substitutes : 0);
  return absl::OkStatus();
}

// Where the library does not have the call, the two kernels run.
absl::Status CudaDevice::PlanJointCall(const runtime::LoadedProgram& program,
                                       const runtime::ArenaLayout& layout,
                                       const program::JointCall& call) {
  const program::Kernel& kernel = program.instructions()[call.product()].kernel();
  const program::Function& function = program.message().functions(kernel.function());
  if (!function.has_library() || function.library().kind() != program::LibraryCall::CONTRACTION)
    return absl::OkStatus();
  const runtime::LibraryShape shape = runtime::ShapeOf(program, kernel, device_);
  if (shape.no_result || shape.no_terms) return absl::OkStatus();
  const JointSite joint = {call, program.instructions()[call.other()].kernel()};
  std::vector<int64_t> offsets =
      runtime::LaunchOf(program, layout, call.product(), device_).offsets;
  const std::vector<int64_t> of_other =
      runtime::LaunchOf(program, layout, call.other(), device_).offsets;
  offsets.push_back(of_other.back());
  if (call.kind() == program::JointCall::SLOPE) offsets.push_back(of_other[call.operand()]);
  absl::StatusOr<std::unique_ptr<LibraryKernel>> made =
      MakeLibraryKernel({program, kernel, device_, shape, offsets, &joint}, *handles_);
  if (absl::IsUnavailable(made.status())) return absl::OkStatus();  // which the product says
  if (absl::IsUnimplemented(made.status())) {
    fallbacks_.push_back({call.product(), "a joint call of cuBLAS",
                          std::string(made.status().message()), "two kernels"});
    return absl::OkStatus();
  }
  if (!made.ok()) return made.status();
  instructions_[call.product()].stood_for = instructions_[call.other()].stood_for = true;
  Prepared& last = instructions_[program::FirstOf(call) + 1];
  last.elements = 1;
  last.library = *std::move(made);
  last.joint_offsets = std::move(offsets);
  workspace_bytes_ = std::max(workspace_bytes_, last.library->workspace_bytes());
  return absl::OkStatus();
}

absl::Status CudaDevice::PlanLibraryCall(const runtime::LoadedProgram& program,
                                         const runtime::ArenaLayout& layout, int instruction) {
  const program::Kernel& kernel = program.instructions()[instruction].kernel();
  const program::Function& function = program.message().functions(kernel.function());
  const program::LibraryCall& call = function.library();
  Prepared& prepared = instructions_[instruction];
  const runtime::LibraryShape shape = runtime::ShapeOf(program, kernel, device_);
  prepared.is_library = true;
  if (shape.no_result) return absl::OkStatus();
  prepared.elements = shape.result.elements();
  prepared.zeros_box = shape.result;
  if (shape.no_terms && call.post_ops().empty()) return absl::OkStatus();
  if (shape.no_terms && !function.symbol().empty()) {  // steps on zeros, which are quickly computed
    prepared = Prepared();
    return absl::OkStatus();
  }
  if (shape.no_terms) return absl::UnimplementedError("post-ops of a product without terms");
  const runtime::Launch launch = runtime::LaunchOf(program, layout, instruction, device_);
  absl::StatusOr<std::unique_ptr<LibraryKernel>> made =
      MakeLibraryKernel({program, kernel, device_, shape, launch.offsets}, *handles_);
  const bool lacking = absl::IsUnavailable(made.status()) || absl::IsUnimplemented(made.status());
  if (lacking && !function.symbol().empty()) {
    fallbacks_.push_back(
        {instruction, LibraryOf(call.kind()), std::string(made.status().message())});
    prepared = Prepared();
    return absl::OkStatus();
  }
  if (!made.ok()) return made.status();
  prepared.library = *std::move(made);
  workspace_bytes_ = std::max(workspace_bytes_, prepared.library->workspace_bytes());
  return absl::OkStatus();
}

absl::Status CudaDevice::PlanOpaqueCalls(const runtime::LoadedProgram& program, int instruction) {
  const program::Kernel& kernel = program.instructions()[instruction].kernel();
  Prepared& prepared = instructions_[instruction];
  prepared.elements = Volume(program.BoxOf(kernel.results(0).box(), device_));
  if (prepared.elements == 0) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(prepared.opaque, MakeOpaqueKernel(program, kernel, device_, *gpu_));
  workspace_bytes_ = std::max(workspace_bytes_, prepared.opaque->workspace_bytes());
  return absl::OkStatus();
}

absl::Status CudaDevice::PrepareZeros(const runtime::LoadedProgram& program,
                                      const program::Kernel& kernel, Prepared& prepared) {
  const bool all_written = prepared.library != nullptr && !prepared.library->has_gaps();
  if (prepared.elements == 0 || all_written) return absl::OkStatus();
  const ElementType type = program.type(kernel.results(0).buffer());
  prepared.zeros = std::make_unique<GpuMemory>();
  return prepared.zeros->Store(CombineJob({Reducer::kSum, type, type, false}, prepared.zeros_box,
                                          {}, prepared.pointers[kernel.operands_size()]),
                               stream_);
}

absl::Status CudaDevice::UseTwoStreams(const runtime::LoadedProgram& program) {
  if (!program::HasStreams(program.message())) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(streams_, TwoStreams::Make(program, *gpu_, stream_));
  // A mark behind each exchange: others ask whom this device waits for.
  return exchange_marks_.Open(*gpu_, streams_->exchanges(), 1);
}

absl::Status CudaDevice::EnterThread() {
  YUBA_RETURN_IF_ERROR(gpu_->Enter());
  return streams_ == nullptr ? absl::OkStatus() : streams_->BeginStep();
}

absl::Status CudaDevice::Run(int instruction) {
  const Prepared& prepared = instructions_[instruction];
  const bool runs = prepared.elements > 0;
  if (!runs && streams_ == nullptr) return absl::OkStatus();
  YUBA_RETURN_IF_ERROR(gpu_->Enter());
  if (streams_ != nullptr) YUBA_RETURN_IF_ERROR(streams_->Wait(instruction));
  if (runs) {
    YUBA_RETURN_IF_ERROR(Start(prepared));
    YUBA_RETURN_IF_ERROR(marks_.Add(instruction));
  }
  // Others that wait for it wait for all before it, which may have run.
  return streams_ == nullptr ? absl::OkStatus() : streams_->Note(instruction);
}

absl::Status CudaDevice::BeforeExchange(int instruction) {
  return streams_ == nullptr ? absl::OkStatus() : streams_->Wait(instruction);
}

absl::Status CudaDevice::StartedExchange(int instruction) {
  if (streams_ == nullptr) return marks_.Add(instruction);
  YUBA_RETURN_IF_ERROR(exchange_marks_.Add(instruction));
  return streams_->Note(instruction);
}

absl::Status CudaDevice::EndStep() {
  if (streams_ == nullptr) return marks_.Close();
  YUBA_RETURN_IF_ERROR(exchange_marks_.Close());
  YUBA_RETURN_IF_ERROR(marks_.Close());
  return streams_->EndStep();
}

// The first of the list that has not ended, on either stream.
runtime::UnfinishedWork CudaDevice::unfinished() const {
  const runtime::UnfinishedWork kernels = marks_.unfinished();
  const runtime::UnfinishedWork exchanges = exchange_marks_.unfinished();
  if (exchanges.none()) return kernels;
  if (kernels.none()) return exchanges;
  return kernels.candidates[0] < exchanges.candidates[0] ? kernels : exchanges;
}

absl::Status CudaDevice::BeginRecording() {
  calls_before_ = library_calls_;
  marks_.BeginRecording();
  if (streams_ == nullptr) return absl::OkStatus();
  exchange_marks_.BeginRecording();
  return streams_->BeginStep();
}

DeviceRecording CudaDevice::EndRecording() {
  DeviceRecording recording;
  recording.instructions = marks_.EndRecording();
  if (streams_ != nullptr) recording.exchanges = exchange_marks_.EndRecording();
  recording.library_calls = library_calls_ - calls_before_;
  library_calls_ = calls_before_;  // none of them was made
  return recording;
}

void CudaDevice::BeginReplay(const DeviceRecording& recording) {
  library_calls_ += recording.library_calls;
  marks_.Replay(recording.instructions);
  if (streams_ != nullptr) exchange_marks_.Replay(recording.exchanges);
}

absl::Status CudaDevice::Start(const Prepared& prepared) {
  if (prepared.attention.has_value()) {
    ++library_calls_;
    return prepared.attention->Run(arena_.data(), workspace_.data());
  }
  if (prepared.zeros != nullptr) {
    YUBA_RETURN_IF_ERROR(gpu_->LaunchJob(prepared.zeros->numbers(), prepared.elements, stream_));
  }
  if (prepared.library != nullptr) {
    ++library_calls_;
    return prepared.library->Run(prepared.pointers, workspace_.data());
  }
  if (prepared.is_library) return absl::OkStatus();
  if (prepared.opaque != nullptr) return prepared.opaque->Start(stream_);
  const int64_t* buffers = tables_.numbers() + prepared.buffers;
  const int64_t* arguments = tables_.numbers() + prepared.arguments;
  void* parameters[] = {&buffers, &arguments};
  for (const StartedCode& code : prepared.code)
    YUBA_RETURN_IF_ERROR(
        gpu_->Launch(code.function, code.blocks, code.threads, parameters, stream_));
  return absl::OkStatus();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
