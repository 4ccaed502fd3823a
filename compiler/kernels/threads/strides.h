// How the accesses of a definition move through memory, as far as it is known when its code is
// generated: what decides which loops are one, and which accesses are of 16 bytes.
//
// Example: z[i, j] = relu(y[i, j]) on f32[8, 4], rows cut in two (known_arguments.h). Both indices
// begin where the buffers do, so both accesses start at 0; a step of i moves them by 4 elements, a
// step of j by 1. As j runs from 0 to 3, the two loops are one of 16 turns with a step of 1.
#ifndef YUBA_COMPILER_KERNELS_THREADS_STRIDES_H_
#define YUBA_COMPILER_KERNELS_THREADS_STRIDES_H_

#include <cstdint>
#include <set>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/kernels/argument_layout.h"
#include "compiler/kernels/loop_plan.h"
#include "compiler/kernels/named_kernel.h"

namespace yuba::kernels {

// Loops over indices of a definition, the last of them innermost, that are run through as one.
struct MergedLoop {
  std::vector<int> indices;
  absl::optional<int64_t> extent;  // turns, where all launches have as many
  friend bool operator==(const MergedLoop& a, const MergedLoop& b) {
    return a.indices == b.indices && a.extent == b.extent;
  }
};
// Neighbouring turns of a loop that a thread takes together, from a multiple of `lanes` on.
struct TakenTurns {
  MergedLoop loop;
  int lanes = 1;
};

// An access of one buffer.
struct Strides {
  int bytes = 0;  // of an element in memory
  bool written = false;
  int64_t elements = 0;  // of the whole tensor
  // In elements from the buffer's start, with all indices at their begins.
  absl::optional<int64_t> start;
  // [index]: elements by which a step moves. 0 also for indices that are looked up or solved.
  std::vector<absl::optional<int64_t>> steps;
  // Whether it lies in the buffer at all points of the ranges, so that it may be read anywhere.
  bool inside = false;
};

// The range of an index that a device computes, after the result's buffer has bounded it.
struct KnownRange {
  absl::optional<KnownArgument> begin;
  absl::optional<int64_t> extent;
};

// One definition of a kernel.
struct DefinitionStrides {
  std::vector<KnownRange> ranges;  // [index]
  std::vector<Strides> accesses;   // of what is read and not handed on in a register, then written
  // Indices whose values matter other than by these strides: of conditions, of bounds, of terms.
  std::set<int> named;
  bool branches = false;  // terms that are computed only where they are needed
};

// Of definition `number`. `hash` floats have 8 bytes.
DefinitionStrides StridesOf(const NamedKernel& kernel, const ArgumentLayout& layout, int number,
                            const LoopPlan& plan, bool hash);

// Of one access at `position` of `tensor`, whose box is at `box` in the arguments.
Strides StridesAt(const std::vector<Affine>& position, const TensorType& tensor, int box,
                  const std::vector<KnownRange>& ranges, const KnownArguments& known);

// The greatest power of two, up to the power `most`, that divides where the first element lies that
// a thread takes, in elements from the buffer's start; 1 where it is not known.
int64_t FirstMultiple(const Strides& access, const std::vector<TakenTurns>& taken, int64_t most);

// Whether definition `number` computes one element at each value of the kernel's shared indices.
bool SliceIsElement(const NamedKernel& kernel, int number);
// The definition before `reader` that computes `tensor`; -1: none does.
int WriterOf(const NamedKernel& kernel, int reader, const KernelTensor& tensor);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_THREADS_STRIDES_H_
