// For which machine kernels are generated, in which arithmetic, and what is shown on the way.
#ifndef YUBA_COMPILER_KERNELS_TARGET_H_
#define YUBA_COMPILER_KERNELS_TARGET_H_

#include <string>

#include "opsemantics/oracle/scalar.h"  // Arithmetic

namespace yuba::kernels {

struct KernelTarget {
  bool cuda = false;              // PTX for a GPU instead of object code for the host
  std::string cpu = "x86-64-v3";  // an LLVM processor name; with `cuda` "sm_80", "sm_90", ...
  Arithmetic arithmetic = Arithmetic::kFloat;
  std::string dump_dir;  // not empty: MLIR, LLVM IR and assembly of each kernel go there
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_TARGET_H_
