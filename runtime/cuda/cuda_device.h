// A device on a GPU: an arena and a stream of its own, and another one where ranks exchange beside
// their kernels. A library call for which there is no
// library is run as the generated code that stands beside it. Run starts a kernel on the stream and
// does not wait for it; Write, Read, Fill and Synchronize wait for the whole stream, the first
// three for `copy_seconds` at most.
#ifndef YUBA_RUNTIME_CUDA_CUDA_DEVICE_H_
#define YUBA_RUNTIME_CUDA_CUDA_DEVICE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/cuda/gpu.h"
#include "runtime/cuda/gpu_memory.h"
#include "runtime/cuda/library/attention_calls.h"
#include "runtime/cuda/library/library_kernel.h"
#include "runtime/cuda/marks.h"
#include "runtime/cuda/opaque_kernel.h"
#include "runtime/cuda/tuning.h"
#include "runtime/cuda/two_streams.h"
#include "runtime/device.h"

namespace yuba::cuda {

// A library call that is run as something else.
struct Fallback {
  int instruction = -1;
  std::string library, cause;  // for people
  std::string as = "generated code";
};

// What a device does in a recorded step.
struct DeviceRecording {
  std::vector<int> instructions, exchanges;  // in order; exchanges, if they have their own stream
  int64_t library_calls = 0;
};

class CudaDevice : public runtime::Device {
 public:
  CudaDevice(int device, std::shared_ptr<const Gpu> gpu, double copy_seconds)
      : device_(device), copy_seconds_(copy_seconds), gpu_(std::move(gpu)) {}
  ~CudaDevice() override;

  char* arena() override { return arena_.data(); }
  absl::Status Write(int64_t offset, const char* data, int64_t bytes) override;
  absl::Status Read(int64_t offset, char* data, int64_t bytes) override;
  absl::Status Fill(int64_t offset, char value, int64_t bytes) override;

  // To be called once, before Prepare: chooses how library calls are run, after which it is known
  // how much memory Prepare allocates. Takes none of the GPU's but what libraries take for
  // themselves, and, with a tuning that lacks a product, what timing it takes, which is free again
  // afterwards. Null: nothing is tuned.
  absl::Status PlanLibraryCalls(const runtime::LoadedProgram& program,
                                const runtime::ArenaLayout& layout, Tuning* tuning);
  const std::vector<Fallback>& fallbacks() const { return fallbacks_; }
  // Of the arena: without what is there for kernels for which calls of attention stand, where none
  // of them runs.
  int64_t arena_bytes() const { return arena_bytes_; }
  absl::Status Prepare(const runtime::LoadedProgram& program,
                       const runtime::ArenaLayout& layout) override;
  absl::Status Run(int instruction) override;
  absl::Status Synchronize(const std::atomic<bool>& give_up) override;
  int64_t finished() const override { return marks_.finished() + exchange_marks_.finished(); }
  runtime::UnfinishedWork unfinished() const override;
  absl::Status Usable() const override;
  absl::StatusOr<BadIndex> TakeBadIndex() override;
  absl::Status EnterThread() override;
  int64_t workspace_bytes() const override { return workspace_bytes_ + library_bytes_; }
  int64_t library_calls() const override { return library_calls_; }

  const Gpu& gpu() const { return *gpu_; }
  cudaStream_t stream() const { return stream_; }
  // To be called after Prepare by who starts exchanges on a stream of their own, where the program
  // is for two; else they belong on `stream`.
  absl::Status UseTwoStreams(const runtime::LoadedProgram& program);
  cudaStream_t exchange_stream() const {
    return streams_ == nullptr ? stream_ : streams_->exchanges();
  }
  void AddLibraryMemory(int64_t bytes) { library_bytes_ += bytes; }
  // To be called before an exchange is started on its stream, and when all of it has been.
  absl::Status BeforeExchange(int instruction);
  absl::Status StartedExchange(int instruction);
  // To be called when all of a step has been.
  absl::Status EndStep();

  // From here on the streams record what is started on them; `stream` does already.
  absl::Status BeginRecording();
  // What was recorded. EndStep comes before it where that is to be replayed.
  DeviceRecording EndRecording();
  // It is started next, by somebody else, and on an idle stream.
  void BeginReplay(const DeviceRecording& recording);

 private:
  // Code as it is started (ThreadLaunch of program.proto).
  struct StartedCode {
    CUfunction function = nullptr;
    int64_t blocks = 0;
    int threads = 0;  // in each
  };
  struct Prepared {
    std::vector<StartedCode> code;  // of a generated kernel, one after the other
    bool stood_for = false;  // by a call of attention or a joint one, of a later one or its own
    absl::optional<AttentionCall> attention;
    bool has_parts = false;                  // it leaves parts of sums in the workspace
    int64_t elements = 0;                    // of all results; 0: nothing is run
    int64_t buffers = 0, arguments = 0;      // positions in tables_
    bool is_library = false;                 // a library call, by none of the above
    std::unique_ptr<LibraryKernel> library;  // null: all of its result is zeros
    std::unique_ptr<OpaqueKernel> opaque;    // calls of an opaque function, by none of the above
    runtime::BoxWalk zeros_box;              // of a library call: what it writes
    std::unique_ptr<GpuMemory> zeros;        // a job that writes zeros there; null: none is needed
    std::vector<int64_t> joint_offsets;      // of a joint call (LibrarySite::offsets)
    std::vector<char*> pointers;             // of a library call: to its buffers (Launch::offsets)
  };

  absl::Status Start(const Prepared& prepared);
  // Blocks until the stream is idle, or until `give_up`, which is asked often, says so.
  absl::Status WaitUntilIdle(const std::function<bool()>& give_up);
  absl::Status WaitForCopy() { return WaitFor("a copy to or from the host"); }
  // Until the stream is idle, for copy_seconds_ at most; `what`, for people, has not ended then.
  absl::Status WaitFor(const char* what);
  absl::Status MakeTuner(Tuning& tuning);
  absl::Status PrepareLaunches(const runtime::LoadedProgram& program, const program::Kernel& kernel,
                               Prepared& prepared);
  absl::Status PrepareRecords(const runtime::LoadedProgram& program);
  absl::Status PlanAttention(const runtime::LoadedProgram& program,
                             const runtime::ArenaLayout& layout);
  absl::Status PlanJointCall(const runtime::LoadedProgram& program,
                             const runtime::ArenaLayout& layout, const program::JointCall& call);
  absl::Status PlanLibraryCall(const runtime::LoadedProgram& program,
                               const runtime::ArenaLayout& layout, int instruction);
  absl::Status PlanOpaqueCalls(const runtime::LoadedProgram& program, int instruction);
  absl::Status PrepareZeros(const runtime::LoadedProgram& program, const program::Kernel& kernel,
                            Prepared& prepared);

  const int device_;
  const double copy_seconds_;  // that a copy may take
  const std::shared_ptr<const Gpu> gpu_;
  cudaStream_t stream_ = nullptr;
  Marks marks_;                          // of stream_
  Marks exchange_marks_;                 // of the other one
  std::unique_ptr<TwoStreams> streams_;  // null: exchanges are on stream_ too
  std::atomic<bool> hangs_{false};
  std::unique_ptr<LibraryHandles> handles_;  // outlives the library kernels
  GpuMemory arena_, workspace_;
  GpuMemory tables_;                    // of all launches: pointers to buffers, then arguments
  GpuMemory records_;                   // one for each of checking_
  std::vector<int> checking_;           // instructions that check indices, in order
  std::vector<Prepared> instructions_;  // [instruction]
  std::vector<Fallback> fallbacks_;
  int64_t arena_bytes_ = 0;
  int64_t workspace_bytes_ =
      0;                       // of library calls, and of sums that generated code leaves in parts
  int64_t library_bytes_ = 0;  // that libraries have taken by themselves
  int64_t library_calls_ = 0;
  int64_t calls_before_ = 0;  // the recording
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_CUDA_DEVICE_H_
