// Code for GPUs as code for processors, thread by thread. For the fake driver (fake_warps.h) the
// object made of it has
//
//   int32_t yuba_thread[4]                 tid.x, ntid.x, ctaid.x, nctaid.x of the running thread
//   int32_t (*yuba_shuffle)(int32_t, int32_t)   of a value with the lane at a distance
//   void (*yuba_barrier)(int32_t)          for the threads of a warp (0) or of a block
//   char NAME_shuffles, NAME_waits         where kernel NAME calls the one, the other for blocks
//
// and NVIDIA's __nv_expf is the processor's expf.
#ifndef YUBA_TESTS_RUNTIME_CUDA_FOR_PROCESSORS_H_
#define YUBA_TESTS_RUNTIME_CUDA_FOR_PROCESSORS_H_

#include <string>

#include "llvm/IR/Module.h"

namespace yuba::kernels {

// The module's variable of that name, zero at first; made where there is none.
llvm::GlobalVariable* Global(llvm::Module& module, const std::string& name, llvm::Type* type);

// Replaces what processors do not have.
void ForProcessors(llvm::Module& module);

}  // namespace yuba::kernels

#endif  // YUBA_TESTS_RUNTIME_CUDA_FOR_PROCESSORS_H_
