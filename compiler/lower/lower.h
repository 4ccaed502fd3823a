// From graph and plan to a program, in the steps of DESIGN section 7. Each step is one function
// over the program message, and each has a check of what must hold after it.
#ifndef YUBA_COMPILER_LOWER_LOWER_H_
#define YUBA_COMPILER_LOWER_LOWER_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/kernels/kernels.h"
#include "compiler/model.h"
#include "runtime/program.pb.h"
#include "search/plan.h"

namespace yuba {

// cut: buffers (boxes, no offsets), kernels with the parts of their indices, and exchanges where a
// need is not within what a device has or what it made is not what it owns. `arithmetic` is what
// the whole program computes in: memory and kernels follow it.
program::Program CutGraph(const Model& model, const Plan& plan,
                          Arithmetic arithmetic = Arithmetic::kFloat);

// The values of parameters and constants, and the names of the file's inputs; they are in a program
// from the cut on, but not in its text. The program's parameters are the model's, in its order.
void SetInitialValues(const Model& model, program::Program& program);

// recognise: marks the exchanges that equal a collective over some axes.
void RecogniseCollectives(program::Program& program);

// plan memory: first, last, offset and size of each buffer, and the arena's size. Elements of
// floats are 8 bytes in hash arithmetic. `limit`: what the arena is to keep within, in bytes, so
// that less time is taken to make it smaller; 0: none.
void PlanMemory(program::Program& program, int64_t limit = 0);
struct ProgramMemory {
  int64_t arena = 0;        // bytes a device
  int64_t live_bound = 0;   // the largest sum of live slots at any instruction: no plan needs less
  int peak_instruction = 0;
};
ProgramMemory MeasureMemory(const program::Program& program);
// What one device really has live (its boxes, not the slots), in bytes, at its peak: parameters,
// inputs and outputs; activations; fetch and made buffers. `at`: the node whose instruction it is.
struct DeviceUse {
  int64_t peak = 0, stored = 0, activations = 0, buffers = 0;
  std::string at;
};
DeviceUse MeasureDevice(const program::Program& program, int device);

// generate kernels: library calls by structure (unless `library` is false, and never in hash
// arithmetic), generated code for the rest. The target's arithmetic must be the program's.
struct KernelChoice {
  KernelTarget target;
  bool library = true;
};
// "onednn" or "loops" (CUDA: "cublas"): which of them AddKernels will choose for a definition.
std::string KernelKind(const Definition& definition, const KernelChoice& choice);
absl::Status AddKernels(const Model& model, const KernelChoice& choice, program::Program& program);

// The static proof, on the program alone, at full scale, without data: made boxes times reduction
// parts tile each node's iteration space exactly once; every need is within what is owned or
// received; every element made is delivered by each part once; on every device. The error names the
// first instruction, device and box that breaks it.
absl::Status CheckCover(const program::Program& program);

// The kernels are the nodes of `graph` in its order, copies left out; each reads its operands'
// tensors, and at least the boxes that its definition reaches; it makes what its definition makes;
// ports are the graph's.
absl::Status CheckFaithful(const Graph& graph, const program::Program& program);

// After PlanMemory: every slot holds every device's box, lies in the arena and shares bytes with no
// other slot that is live at the same time; every use lies within a life.
absl::Status CheckMemory(const program::Program& program);

}  // namespace yuba

#endif  // YUBA_COMPILER_LOWER_LOWER_H_
