// For which machine kernels are generated.
#ifndef YUBA_COMPILER_KERNELS_TARGET_H_
#define YUBA_COMPILER_KERNELS_TARGET_H_

#include <string>

#include "opsemantics/oracle/scalar.h"  // Arithmetic

namespace yuba::kernels {

struct KernelTarget {
  bool cuda = false;
  std::string cpu = "x86-64-v3";  // or "sm_80", "sm_90"
  Arithmetic arithmetic = Arithmetic::kFloat;
  std::string dump_dir;  // not empty: MLIR, LLVM IR and assembly of each kernel go there
  int threads = 1;
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_TARGET_H_
