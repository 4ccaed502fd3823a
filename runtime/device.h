// A device: one arena of memory, and kernels and library calls on it. Offsets are bytes from the
// arena's start, the same for a buffer on every device.
#ifndef YUBA_RUNTIME_DEVICE_H_
#define YUBA_RUNTIME_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// One kernel instruction on one device: what the calling convention of kernel_abi.h wants.
struct Launch {
  int function = 0;                // in Program.functions
  std::vector<int64_t> offsets;    // of the operands' buffers, then the result's
  std::vector<int64_t> arguments;  // parts of the indices, then origins and extents of the boxes
};

// Where buffers lie: as the program says, or spread out by SpreadBuffers to find stray writes.
struct ArenaLayout {
  std::vector<int64_t> offsets;  // by buffer
  int64_t size = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  // The arena in the device's address space.
  virtual char* arena() = 0;

  // Between host memory and the arena; done on return.
  virtual absl::Status Write(int64_t offset, const char* data, int64_t bytes) = 0;
  virtual absl::Status Read(int64_t offset, char* data, int64_t bytes) = 0;
  virtual absl::Status Fill(int64_t offset, char value, int64_t bytes) = 0;

  // Prepares the launches of the program on this device: one for each place, null for the others.
  virtual absl::Status Prepare(const LoadedProgram& program, const ArenaLayout& layout) = 0;

  // Runs the kernel at `place`; may return before it has finished.
  virtual absl::Status Run(int instruction) = 0;

  // Everything that was started has finished.
  virtual absl::Status Synchronize() = 0;

  // For each thread that calls Run, before its first call.
  virtual absl::Status EnterThread() = 0;

  virtual int64_t workspace_bytes() const = 0;  // outside the arena, for libraries
  virtual int64_t library_calls() const = 0;    // made so far
};

Launch LaunchOf(const LoadedProgram& program, const ArenaLayout& layout, int instruction,
                int device);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_DEVICE_H_
