// The phase `kernels`: each function becomes a library call or machine code.
#ifndef YUBA_COMPILER_KERNELS_ADD_KERNELS_H_
#define YUBA_COMPILER_KERNELS_ADD_KERNELS_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/kernels/target.h"
#include "compiler/model.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {

// Library calls by structure (unless `library` is false, and never in hash arithmetic), generated
// code for the rest. The target's arithmetic must be the program's.
struct KernelChoice {
  KernelTarget target;
  bool library = true;
};
// "onednn" or "loops" (CUDA: "cublas"): which of them AddKernels will choose for a definition.
std::string KernelKind(const Definition& definition, const KernelChoice& choice);
absl::Status AddKernels(const compiler::Model& model, const KernelChoice& choice,
                        program::Program& program);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_ADD_KERNELS_H_
