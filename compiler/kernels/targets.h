// For which machine kernels are generated: one table of targets (targets.cc), and the choice of a
// row, a processor and an arithmetic. What differs between targets is a field of the row, which
// these read: loop_*.cc (the loops), scalars and functions.cc (instructions and <math.h>),
// machine_code.cc (LLVM), add_kernels.cc (the libraries), and make_program.cc and
// phases.cc (which nodes share a kernel, and layouts).
//
// Example: KernelTarget() is the processor's own code for x86-64-v3,
// KernelTarget(*FindTarget("cuda")) PTX for the GPUs of the row's processor and later ones.
#ifndef YUBA_COMPILER_KERNELS_TARGETS_H_
#define YUBA_COMPILER_KERNELS_TARGETS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/kernels/post_op_chains.h"
#include "opsemantics/oracle/scalar.h"  // Arithmetic

namespace yuba::kernels {

// LLVM IR of the functions of C's <math.h>, for a target that has no C library.
struct DeviceLibrary {
  const char* prefix = "";         // of the functions' names: __nv_expf
  const char* name = nullptr;      // for people
  const char* package = nullptr;   // what has to be installed
  const char* variable = nullptr;  // of the environment: the folder where it is installed
  const char* folder = nullptr;    // where it is unless the variable is set
  const char* file = nullptr;      // in this folder
  const char* flag = nullptr;  // a flag of modules, set to 0: denormal numbers stay what they are
};

// What is called in place of generated code, by structure (library_call.h).
struct TargetLibraries {
  const char* products;      // the library of matrix products
  const char* convolutions;  // that of convolutions; null: none has them
  const char* attention;     // that of attention in bf16 and f16; null: none has it
  bool joint_calls;          // whether products may be one call with a second kernel (JointCall of
                             // program.proto)
  bool doubles;              // whether they have f64 too
  bool tf32;                 // whether they may multiply f32 as TF32
  bool channels_last;        // whether convolutions of small floats and TF32 are faster with their
                             // channels innermost in memory
  bool falls_back;           // whether code stands beside each call: the library may be missing
                             // where the program runs, or have nothing for the call
};

struct TargetFacts {
  const char* name;       // of --target, and of the back end that runs the code
  const char* triple;     // LLVM's
  const char* processor;  // LLVM's name of the one for which code is made if no other is asked for
  const char* features;   // LLVM's, beside those of the processor
  unsigned convention;    // llvm::CallingConv of kernels
  const char* assembly;   // the ending of its assembly in dumps
  bool links;             // whether the code is a shared object; else it is the assembly
  bool parallel;  // whether the threads of a device share out a kernel's elements, as on GPUs
  int warp;       // threads that may compute an element together; 0: none do
  bool doubles_have_min;  // whether there are instructions for min and max of f64
  TargetLibraries libraries;
  DeviceLibrary functions;  // of <math.h>
  LibraryPostOps post_ops;  // that the libraries do in their calls
};

// LLVM's name of the newest processor whose code GPUs of this compute capability (90 for 9.0) run
// and for which code can be made: "sm_90" for 9.0 and later. For older ones than any, the oldest.
std::string GpuProcessor(int capability);

const TargetFacts& HostTarget();
const TargetFacts* FindTarget(absl::string_view name);  // null where there is none
std::vector<std::string> TargetNames();                 // "host", "cuda"

struct KernelTarget {
  KernelTarget() : KernelTarget(HostTarget()) {}
  explicit KernelTarget(const TargetFacts& target) : facts(&target), cpu(target.processor) {}

  const TargetFacts* facts;  // a row of the table
  std::string cpu;           // LLVM's name of a processor
  Arithmetic arithmetic = Arithmetic::kFloat;
  bool tiles = true;  // whether threads of GPUs may compute tiles (threads/tiles.h); off to compare
  std::string dump_dir;  // not empty: MLIR, LLVM IR and assembly of each kernel go there
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_TARGETS_H_
