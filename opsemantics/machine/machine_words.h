// The words of machine files.
#ifndef YUBA_OPSEMANTICS_MACHINE_MACHINE_WORDS_H_
#define YUBA_OPSEMANTICS_MACHINE_MACHINE_WORDS_H_

#include "opsemantics/machine/machine.h"

namespace yuba {

inline constexpr char kMachineFormat[] = "yuba-machine/1";

// "product", "convolution", "map", "reduction".
inline const char* KernelClassName(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::kProduct: return "product";
    case KernelClass::kConvolution: return "convolution";
    case KernelClass::kMap: return "map";
    case KernelClass::kReduction: return "reduction";
  }
  return "";
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_MACHINE_WORDS_H_
