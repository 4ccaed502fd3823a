// The shared object that travels inside a program, loaded from memory: its bytes are written to an
// anonymous memory file and opened from there, so no file is left behind. All virtual devices share
// it; it is closed with the last of them.
#ifndef YUBA_RUNTIME_HOST_KERNEL_OBJECT_H_
#define YUBA_RUNTIME_HOST_KERNEL_OBJECT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/program/kernel_abi.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

class KernelObject {
 public:
  // A user's error where this processor lacks what the program was compiled for, the program is for
  // GPUs, the bytes are no shared object, or the object lacks a function. A program without
  // generated code needs no object.
  static absl::StatusOr<std::shared_ptr<const KernelObject>> Load(const LoadedProgram& program);
  ~KernelObject();
  KernelObject(const KernelObject&) = delete;

  // Of Program.functions[index]; null for library calls and opaque functions.
  HostKernel function(int index) const { return functions_[index]; }

 private:
  KernelObject() = default;
  absl::Status Open(const std::string& bytes);

  void* handle_ = nullptr;
  // Open as long as the object: by its name, /proc/self/fd/N, the loader knows the object, and it
  // takes another file of the same name for the same object.
  int file_ = -1;
  std::vector<HostKernel> functions_;
};

// An error unless `bytes` are a whole ELF shared object for x86-64, with its tables and segments
// within it. The system's loader does not check this and would crash on a truncated object.
absl::Status CheckSharedObject(const std::string& bytes);

// An error where the program is for GPUs, or for x86-64-v3 or x86-64-v4 whose features this
// processor lacks. Other processors pass.
absl::Status CheckProcessor(const program::Program& program);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_KERNEL_OBJECT_H_
