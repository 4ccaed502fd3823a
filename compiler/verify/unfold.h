// A program in which each definition has a kernel of its own: what the proofs look at. A kernel of
// several definitions becomes one kernel for each, in their order, and its internal tensors become
// buffers. So coverage.h and matches_graph.h know nothing of clusters: what one definition reads of
// another must have been written, on the same device, as if a kernel of its own had done so. What
// is left to prove of a cluster is that its definitions may be computed value by value
// (interleaving.h).
//
// Example: a kernel of m[i] = max(j) x[i, j] and y[i, j] = x[i, j] - m[i] with the internal tensor
// m becomes a kernel that writes a buffer m and one that reads it, of each device the box that the
// kernel says of m.
#ifndef YUBA_COMPILER_VERIFY_UNFOLD_H_
#define YUBA_COMPILER_VERIFY_UNFOLD_H_

#include <vector>

#include "runtime/program/program.pb.h"

namespace yuba::compiler {

class Unfolded {
 public:
  // `program` is well formed (runtime/program/well_formed.h) and outlives this.
  explicit Unfolded(const program::Program& program);

  // Each of its functions is one definition, whose indices and operands are its kernels', in order,
  // and each kernel has one result. It has no values, code or offsets. The program itself where it
  // is so already.
  const program::Program& program() const { return is_new_ ? unfolded_ : program_; }
  // [instruction]: its number in the list that `program` had.
  const std::vector<int>& numbers() const { return numbers_; }

 private:
  using Instructions = google::protobuf::RepeatedPtrField<program::Instruction>;
  void AddFunctions();
  void AddInstructions();
  void AddKernels(const program::Kernel& kernel, Instructions& unfolded);

  const program::Program& program_;
  program::Program unfolded_;
  bool is_new_ = false;
  std::vector<int> first_;  // [function]: the number of its first definition
  std::vector<int> numbers_;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_UNFOLD_H_
