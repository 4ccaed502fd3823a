// Runs generated kernels on tensor values and compares them with the interpreter: the oracle of
// kernel generation. Works on the host only.
#ifndef YUBA_TESTS_COMPILER_KERNELS_KERNEL_RUNNER_H_
#define YUBA_TESTS_COMPILER_KERNELS_KERNEL_RUNNER_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/kernels/kernels.h"
#include "opsemantics/oracle/interpret.h"
#include "runtime/program/kernel_abi.h"

namespace yuba::kernels {

// A shared object loaded from memory; its functions may be called while it lives.
class LoadedObject {
 public:
  static absl::StatusOr<std::unique_ptr<LoadedObject>> Load(const std::string& bytes);
  ~LoadedObject();
  runtime::HostKernel Find(const std::string& symbol) const;  // nullptr: not there

 private:
  LoadedObject(void* handle, int file) : handle_(handle), file_(file) {}
  void* handle_;
  int file_;  // open as long as the object, which the loader knows by the file's name
};

// Values that tell apart what can be confused: floats of both signs, integers that serve as
// indices, some of them out of range.
TensorValue RandomTensor(const TensorType& type, Arithmetic arithmetic, std::mt19937_64& random);

// [index]: the whole extent, or a random part of it.
std::vector<Interval> RandomRanges(const Definition& definition, std::mt19937_64& random);

// Runs `kernel` on `ranges`, with buffers that hold the boxes that are read and written and a bit
// more, surrounded by guard bytes; elements outside of these boxes are poison. Returns "" where the
// kernel computes what the interpreter computes and leaves everything else as it was, else what is
// wrong.
std::string CompareWithInterpreter(const Definition& definition, runtime::HostKernel kernel,
                                   const std::vector<Interval>& ranges, Arithmetic arithmetic,
                                   std::mt19937_64& random);

// Generates the kernels of all definitions for processor `cpu` and compares each, whole and on
// `parts` random parts. Returns a line for each that is wrong, "" for none.
std::string CheckKernels(const std::vector<Definition>& definitions, Arithmetic arithmetic,
                         int parts, const std::string& cpu = "x86-64-v3");

}  // namespace yuba::kernels

#endif  // YUBA_TESTS_COMPILER_KERNELS_KERNEL_RUNNER_H_
