// A virtual device: an arena in this process, kernels of the program's shared object, library calls
// through oneDNN. Run returns when the kernel has finished, so Synchronize has nothing to do.
#ifndef YUBA_RUNTIME_HOST_HOST_DEVICE_H_
#define YUBA_RUNTIME_HOST_HOST_DEVICE_H_

#include <atomic>
#include <memory>
#include <vector>

#include "runtime/device.h"
#include "runtime/host/kernel_object.h"
#include "runtime/host/onednn.h"
#include "runtime/reduce.h"

namespace yuba::runtime {

// Anonymous memory, page-aligned and zeroed; freed with the object. Pages that are never touched
// cost nothing.
class MappedMemory {
 public:
  MappedMemory() = default;
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  absl::Status Map(int64_t bytes);
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

class HostDevice : public Device {
 public:
  HostDevice(int device, std::shared_ptr<const KernelObject> kernels)
      : device_(device), kernels_(std::move(kernels)) {}

  char* arena() override { return arena_.data(); }
  absl::Status Write(int64_t offset, const char* data, int64_t bytes) override;
  absl::Status Read(int64_t offset, char* data, int64_t bytes) override;
  absl::Status Fill(int64_t offset, char value, int64_t bytes) override;
  absl::Status Prepare(const LoadedProgram& program, const ArenaLayout& layout) override;
  absl::Status Run(int instruction) override;
  absl::Status Synchronize() override { return absl::OkStatus(); }
  absl::Status EnterThread() override;
  int64_t workspace_bytes() const override { return workspace_bytes_; }
  int64_t library_calls() const override { return library_calls_; }

 private:
  struct Prepared {
    bool skipped = true;  // not a kernel, or it writes nothing on this device
    Launch launch;
    std::vector<void*> buffers;  // the launch's offsets as addresses
    bool is_library = false;
    std::unique_ptr<LibraryKernel> library;  // null in a library call: the result is zeros
    int left = 0, right = 0;                 // of the library call: positions in `buffers`
    BoxWalk zeros;                           // the box that gets zeros
  };

  absl::Status PrepareLibrary(const LoadedProgram& program, const program::Kernel& kernel,
                              Prepared& prepared);
  absl::Status RunLibrary(Prepared& prepared);

  const int device_;
  const std::shared_ptr<const KernelObject> kernels_;
  const OneDnn* onednn_ = nullptr;      // null where the program does not call it
  MappedMemory arena_, workspace_;      // the workspace serves one library call at a time
  std::vector<Prepared> instructions_;  // [instruction]
  int64_t workspace_bytes_ = 0;
  int64_t library_calls_ = 0;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_HOST_DEVICE_H_
