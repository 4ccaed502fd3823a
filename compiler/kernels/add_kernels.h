// The phase `kernels`: each function of a program becomes a library call, machine code, or calls of
// an opaque function. A function serves every device, so this phase knows no boxes and no plan: it
// takes the definitions of each function from the graph, and asks library_call.h, opaque_calls.h or
// kernels.h.
#ifndef YUBA_COMPILER_KERNELS_ADD_KERNELS_H_
#define YUBA_COMPILER_KERNELS_ADD_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/kernels/targets.h"
#include "compiler/model.h"
#include "opsemantics/regions/post_ops.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {

// In which order the dimensions of tensors lie in memory (compiler/layout).
enum class MemoryOrder : uint8_t {
  kAuto,  // channels innermost round convolutions of those types that the target's library
          // computes faster so, else row-major
  kRowMajor,
  kChannelsLast  // channels innermost round all convolutions
};
// As --layouts has them: "auto", "row-major", "channels-last".
std::vector<std::string> MemoryOrderNames();
MemoryOrder MemoryOrderOf(const std::string& name);  // one of these names

// Which products are one call with a second kernel, where the target's library has such calls
// (compiler/calls/joint_calls.h).
enum class JointCalls : uint8_t {
  kAuto,  // with the sums of an operand, those of bf16 and f16
  kAll,   // of f32 too, and GELU and its gradient
  kNone
};
// As --joint-calls has them: "auto", "all", "none".
std::vector<std::string> JointCallsNames();
JointCalls JointCallsOf(const std::string& name);  // one of these names

struct KernelChoice {
  KernelTarget target;
  bool tf32 = false;    // libraries may round operands of f32 to TF32, where the target's do
  bool library = true;  // false: generated code for everything, as always in hash arithmetic
  // Whether kernels for GPUs that can be one move next to each other (compiler/order/follow.h,
  // gather.h); false: the order is as it was planned.
  bool gathers = true;
  // Whether exchanges of GPUs get their place beside the kernels (compiler/streams); false: each
  // comes right before its reader, or behind what it is of.
  bool overlap = true;
  MemoryOrder order = MemoryOrder::kAuto;
  JointCalls joint_calls = JointCalls::kAuto;
  bool code = true;  // false: none is generated, so that the program can be predicted
                     // (runtime/model) and looked at, and not run
};

// What AddKernels chooses for a definition: "loops" (generated code), "opaque", or a library of the
// target, "onednn", or "cublaslt or loops" where there is generated code beside the call.
std::string KernelKind(const Definition& definition, const KernelChoice& choice);

// Whether the target's library computes the product, and may compute the sums of an operand in the
// same call.
bool MayHaveOperandSums(const Definition& product, const KernelChoice& choice);

// Whether the target's library may compute the product with these steps in one call and store what
// the last one, an activation, is of.
bool MayStoreArgument(const Definition& product, const std::vector<PostOp>& steps,
                      const KernelChoice& choice);

// Of products with the maps behind them (compiler/cluster/products.h) the beginnings that are one
// call of the target's library: what MakeSpmdProgram may make one kernel of, but for a product with
// a slope behind it (opsemantics/gradient/slopes.h), which is a joint call of two.
std::vector<compiler::Cluster> LibraryProducts(const Graph& graph,
                                               const std::vector<compiler::Cluster>& products,
                                               const KernelChoice& choice);

// Gives each function of `program`, which has none yet, a library call, calls of an opaque function
// or the symbol of generated code, or a symbol beside the library call, and the program its code.
// `program` must be of model.graph (its kernels are the nodes in order), and
// choice.target.arithmetic must be the program's. Opaque functions for GPUs are a user's error,
// which names the node, and so is TF32 where the target has none; else it returns what
// GenerateKernels returns.
absl::Status AddKernels(const compiler::Model& model, const KernelChoice& choice,
                        program::Program& program);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_ADD_KERNELS_H_
