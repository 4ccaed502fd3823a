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

// Of what takes longer than an operation, as a field of a kernel model.
inline const char* ExtraName(Extra extra) {
  switch (extra) {
    case Extra::kRoot: return "root";
    case Extra::kFunction: return "function";
    case Extra::kPower: return "power";
    case Extra::kRun: return "run";
    case Extra::kTurned: return "turned";
  }
  return "";
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_MACHINE_WORDS_H_
