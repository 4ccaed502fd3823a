// The first of the two interfaces of a back end: a device, which has one arena of memory and runs
// kernels and library calls on it. (The second is communicator.h.) Offsets are bytes from the
// arena's start; a buffer has the same offset on every device.
//
// Threads: a device is used by one thread at a time, except that other devices' communicators read
// its arena while an exchange allows it, and that finished and unfinished may be asked by any
// thread. Errors are final for a step, and for the device only where Usable says so: what the arena
// holds afterwards is unspecified. The device owns its arena, workspace and prepared kernels and
// frees them in its destructor.
#ifndef YUBA_RUNTIME_DEVICE_H_
#define YUBA_RUNTIME_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/program/kernel_abi.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// One kernel instruction on one device: the tables of kernel_abi.h, with offsets for pointers.
struct Launch {
  int function = 0;                // in Program.functions
  std::vector<int64_t> offsets;    // bytes: of the operands' buffers, then of the results'
  std::vector<int64_t> arguments;  // ranges of the indices, then origins and extents of the boxes
};

// Where buffers lie: as the program says (PlannedLayout), or spread out to find stray writes
// (SpreadLayout, arena_watch.h).
struct ArenaLayout {
  std::vector<int64_t> offsets;  // [buffer] bytes
  int64_t size = 0;              // of the arena, bytes
  // Bytes at its end that only kernels use for which calls of attention stand (program.proto).
  int64_t substitutes = 0;
};

// Of a device whose work goes on after Run has returned: what was started and is not known to have
// ended.
struct UnfinishedWork {
  // Instructions in the order in which they were started, one of which is the first that has not
  // ended; empty: there is none.
  std::vector<int> candidates;

  bool none() const { return candidates.empty(); }
};

class Device {
 public:
  virtual ~Device() = default;

  // The start of the arena in the device's address space; null before Prepare.
  virtual char* arena() = 0;

  // Copy between host memory and the arena, or fill bytes of it; block until it is done. Callers
  // keep [offset, offset + bytes) within the arena.
  virtual absl::Status Write(int64_t offset, const char* data, int64_t bytes) = 0;
  virtual absl::Status Read(int64_t offset, char* data, int64_t bytes) = 0;
  virtual absl::Status Fill(int64_t offset, char value, int64_t bytes) = 0;

  // Called once, before all else: allocates the arena, zeroed, and prepares each kernel instruction
  // of the program, so that Run only starts it. ResourceExhausted where memory is missing,
  // Unavailable where a library is. Program and layout are not kept.
  virtual absl::Status Prepare(const LoadedProgram& program, const ArenaLayout& layout) = 0;

  // Runs the kernel of `instruction`. It may return before the kernel has finished; kernels and
  // copies of one device take effect in the order in which they were started. A failure may show
  // only in a later call.
  virtual absl::Status Run(int instruction) = 0;

  // Blocks until everything that was started has finished. Returns the failure of any of it. Once
  // `give_up` is true, it waits only as long as the work gets on; where that ends, the device
  // hangs.
  virtual absl::Status Synchronize(const std::atomic<bool>& give_up) = 0;

  // Of a device whose work goes on after Run has returned: how many instructions it has finished
  // since it was opened, as far as is known, and what comes next.
  virtual int64_t finished() const { return 0; }
  virtual UnfinishedWork unfinished() const { return {}; }

  // OK where the device can run another step; else why not: what runs on it does not end, or its
  // memory is lost. Nothing may wait for such a device any more.
  virtual absl::Status Usable() const { return absl::OkStatus(); }

  // What kernels noted of indices outside of their extents since the last call: the record of the
  // first instruction, in program order, that has one. Called after Synchronize, when all is well.
  struct BadIndex {
    int instruction = -1;  // -1: no kernel noted any
    IndexRecord record;
  };
  virtual absl::StatusOr<BadIndex> TakeBadIndex() = 0;

  // Every thread that calls Run calls this first, once a step.
  virtual absl::Status EnterThread() = 0;

  virtual int64_t workspace_bytes() const = 0;  // memory for libraries, outside the arena
  virtual int64_t library_calls() const = 0;    // made so far
};

// InvalidArgument with the tensor, the index and the extent of a record that a kernel of
// `instruction` filled: "ids holds 99 at [3, 5], which is no index into 64 elements (-64 to 63)",
// "labels holds 10 at [7], which is no label of 10 classes (0 to 9; -100 is ignored)", or, where
// the ignored label is a class, "lengths holds 6 at [1], which is not one of 0 to 5".
absl::Status BadIndexError(const LoadedProgram& program, int instruction,
                           const IndexRecord& record);

// The launch of `instruction`, which is a kernel, on `device`.
Launch LaunchOf(const LoadedProgram& program, const ArenaLayout& layout, int instruction,
                int device);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_DEVICE_H_
