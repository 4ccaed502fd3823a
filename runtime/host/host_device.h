// A virtual device: an arena in this process, kernels of the program's shared object, functions of
// opsemantics/opaque, library calls through oneDNN. Its threads share the work of one kernel at a
// time (thread_team.h); oneDNN has threads of its own, as many. Run returns when the kernel has
// finished, so Synchronize has nothing to do.
#ifndef YUBA_RUNTIME_HOST_HOST_DEVICE_H_
#define YUBA_RUNTIME_HOST_HOST_DEVICE_H_

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "runtime/device.h"
#include "runtime/host/convolution.h"
#include "runtime/host/kernel_object.h"
#include "runtime/host/launch_parts.h"
#include "runtime/host/onednn.h"
#include "runtime/host/opaque_kernel.h"
#include "runtime/host/thread_team.h"
#include "runtime/mapped_memory.h"
#include "runtime/reduce.h"

namespace yuba::runtime {

class HostDevice : public Device {
 public:
  // `threads`, at least 1, include the one that calls Run.
  HostDevice(int device, int threads, std::shared_ptr<const KernelObject> kernels)
      : device_(device), kernels_(std::move(kernels)), team_(threads) {}

  char* arena() override { return arena_.data(); }
  absl::Status Write(int64_t offset, const char* data, int64_t bytes) override;
  absl::Status Read(int64_t offset, char* data, int64_t bytes) override;
  absl::Status Fill(int64_t offset, char value, int64_t bytes) override;
  absl::Status Prepare(const LoadedProgram& program, const ArenaLayout& layout) override;
  absl::Status Run(int instruction) override;
  absl::Status Synchronize(const std::atomic<bool>&) override { return absl::OkStatus(); }
  absl::StatusOr<BadIndex> TakeBadIndex() override;
  absl::Status EnterThread() override;
  int64_t workspace_bytes() const override { return workspace_bytes_ + kept_bytes_; }
  int64_t library_calls() const override { return library_calls_; }

 private:
  struct Prepared {
    bool skipped = true;  // not a kernel, or it writes nothing on this device
    HostKernel kernel = nullptr;
    // Addresses: of the operands, then of the results, then of `record` where indices are checked.
    std::vector<void*> buffers;
    std::unique_ptr<IndexRecord> record;  // null where indices are not checked
    // Of each thread that takes part, the arguments of its call.
    std::vector<std::vector<int64_t>> parts;
    std::unique_ptr<OpaqueKernel> opaque;  // null where it calls no opaque function
    bool is_library = false;
    bool remakes_kept = false;  // it is of the entry `init`
    Interval kept;              // of the arena, bytes: what the library may keep a form of
    std::unique_ptr<LibraryKernel> library;  // null in a library call: the result is zeros
    int left = 0, right = 0;                 // of the library call: positions in `buffers`
    BoxWalk zeros;                           // the box that gets zeros
    std::unique_ptr<LibraryShape> post_ops;  // of a library call with post-ops
    std::vector<int> post;                   // of their operands: positions in `buffers`
    ElementType accumulator = ElementType::kF32, type = ElementType::kF32;  // of the result
  };

  absl::Status PrepareLibrary(const LoadedProgram& program, int instruction,
                              const std::vector<bool>& kept);
  absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeProduct(const LibraryShape& shape,
                                                             bool keep_right);
  absl::Status PrepareConvolutions(const LoadedProgram& program, const std::vector<bool>& kept);
  // `kept`: the operand that it may keep, if any.
  void AddLibrary(const LoadedProgram& program, int instruction,
                  std::unique_ptr<LibraryKernel> library, int kept);
  absl::Status RunLibrary(Prepared& prepared);
  // The library's forms of what lies in these bytes of the arena.
  void ForgetKept(const Interval& written);

  const int device_;
  const std::shared_ptr<const KernelObject> kernels_;
  ThreadTeam team_;
  const OneDnn* onednn_ = nullptr;      // null where the program does not call it
  MappedMemory arena_, workspace_;      // the workspace serves one library call at a time
  std::vector<Prepared> instructions_;  // [instruction]
  // By instruction: those that are not prepared yet.
  std::map<int, std::unique_ptr<ConvolutionKernel>> convolutions_;
  int64_t workspace_bytes_ = 0, kept_bytes_ = 0;
  int64_t library_calls_ = 0;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_HOST_DEVICE_H_
