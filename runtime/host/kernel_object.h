// The shared object inside a program, loaded from memory.
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
  // Errors: a processor that lacks what the program was compiled for, an object that is not one or
  // lacks a function.
  static absl::StatusOr<std::shared_ptr<const KernelObject>> Load(const LoadedProgram& program);
  ~KernelObject();
  KernelObject(const KernelObject&) = delete;

  HostKernel function(int index) const { return functions_[index]; }  // null for library calls

 private:
  KernelObject() = default;
  absl::Status Open(const std::string& bytes);

  void* handle_ = nullptr;
  std::vector<HostKernel> functions_;
};

// Whether `bytes` are a whole ELF shared object for x86-64: its tables lie within it. The system's
// loader does not check and would crash on a truncated one.
absl::Status CheckSharedObject(const std::string& bytes);

// Whether this processor has the features of `target`, where that is an x86-64 level.
absl::Status CheckProcessor(const std::string& target);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_KERNEL_OBJECT_H_
