// Library calls made up for tests, and what they compute as sums written out: random dimensions,
// ranges, boxes and types. Values are small integers, so that f32 is exact in any order, and a
// small float is the rounded sum.
//
//   Problem problem = NewProblem(program::LibraryCall::CONTRACTION);
//   AddRole(random, problem, 1, {true, false, true}, problem.call.mutable_rows());
//   ...
//   CheckProblem(random, problem);
#ifndef YUBA_TESTS_RUNTIME_PROGRAM_LIBRARY_PROBLEM_H_
#define YUBA_TESTS_RUNTIME_PROGRAM_LIBRARY_PROBLEM_H_

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/box.h"
#include "opsemantics/base/element_type.h"
#include "runtime/program/library_windows.h"
#include "runtime/program/program.pb.h"

namespace yuba::runtime {

using Random = std::mt19937;

int64_t Pick(Random& random, int64_t low, int64_t high);  // both included

// One tensor of a call: its dimensions, and the box that the device has of it.
struct Dimension {
  int64_t extent = 1;
  Interval held;
};
struct ProblemTensor {
  std::vector<Dimension> dims;

  int Add(int64_t extent, Interval held);  // the number of the new dimension
  Box box() const;
};

// A call on one device, and what each of its indices runs over.
struct Problem {
  std::array<ProblemTensor, 3> tensors;  // [LibraryTensor]
  std::vector<ProblemTensor> post;       // operands of post-ops: 2, 3, ... of the kernel
  program::LibraryCall call;
  std::vector<Interval> indices;
  ElementType type = ElementType::kF32;  // of the operands
  ElementType result_type = ElementType::kF32;

  ProblemTensor& At(LibraryTensor tensor) { return tensors[static_cast<size_t>(tensor)]; }
  const ProblemTensor& At(LibraryTensor tensor) const {
    return tensors[static_cast<size_t>(tensor)];
  }
};
Problem NewProblem(program::LibraryCall::Kind kind);

// f32, f16 or bf16 for the operands, and for the result the same or f32.
void PickTypes(Random& random, Problem& problem);

// A box of a dimension with this extent, perhaps larger than the part that is used.
Interval Around(Random& random, const Interval& part, int64_t extent);

// Adds indices of one role to the call, `in` these tensors, each along a new dimension.
void AddRole(Random& random, Problem& problem, int count, const std::array<bool, 3>& in,
             google::protobuf::RepeatedPtrField<program::LibraryIndex>* role);

// Puts the dimensions of each tensor into a random order.
void ShuffleDimensions(Random& random, Problem& problem);

// Adds up to three post-ops that keep integers to the call, whose tensors are there and not
// shuffled any more: any, or a residual, a bias and ReLU. Operands have some of the result's
// dimensions, all, or none, and its box, or one that is as large at least.
void AddPostOps(Random& random, Problem& problem);

// Runs the problem on one device with buffers of its boxes and returns the result's buffer, whose
// elements outside of what is written stay NaN. `values` are the operands' buffers: the two of the
// product, then those of the post-ops. nullopt where no library of the back end has the call.
absl::optional<std::vector<float>> RunProblem(const Problem& problem,
                                              const std::vector<std::vector<float>>& values,
                                              int64_t expected_calls);

// Runs the problem on random values and compares with the sum written out in the terms of the call.
// What is written is what the indices name within the result's box. False where no library of the
// back end (library_backend.h) has the call.
bool CheckProblem(Random& random, const Problem& problem);

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_PROGRAM_LIBRARY_PROBLEM_H_
