// The nodes that become one kernel: the phase `spmd` makes the kernel of each node alone, and this
// file says which of them can be one, and makes it. The program then has an instruction where it
// had several, and no buffer for a tensor that only this kernel reads.
//
// Example: m = 0.9*m + g and w = w - 0.1*m on two devices that each hold half of all three. Both
// kernels run over the same half, write the buffers m and w, and no exchange stands between them:
// they become one kernel with the operands m, g and w and the results m and w. Had the second one
// to gather m first, they would stay two.
#ifndef YUBA_COMPILER_SPMD_MEMBERS_H_
#define YUBA_COMPILER_SPMD_MEMBERS_H_

#include <string>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// A node and its kernel.
struct Member {
  NodeId node = -1;
  Definition definition;             // what the kernel computes
  program::Kernel kernel;            // of this definition alone; its function is not set
  bool whole = false;                // it reads and computes no partials
  bool direct = false;               // it writes the tensor's own buffer
  const NodeBoxes* boxes = nullptr;  // never null; outlives this
};

// Whether `next`, the next kernel of the program, can be one kernel with `members`, which can,
// where all share their first `shared` indices: on each device it runs over the same values of
// these, it reads of the others' results and writes over the others' operands its own slices alone
// (own_slice.h), and computes no partials.
bool MayJoin(const std::vector<Member>& members, const Member& next, int shared);

// Whether the result of `next` lies where it or one of `members` reads.
bool WritesOverOperands(const std::vector<Member>& members, const Member& next);

// What is computed together: a node, or several that can be one kernel (MayJoin). They share their
// first `shared` indices; one node alone shares none.
struct MemberSection {
  std::vector<Member> members;
  int shared = 0;
};

// Whether `next` may be a section of one kernel (program.proto, Function) with `sections`, of which
// this holds too. On a GPU, that is one launch for all of them. Each thread computes elements of
// its own, or all sections are rows that are alike (own_slice.h); none touches a buffer that
// another one writes; and they are no more than one kernel should hold. `program` has their
// buffers.
//
// Example: the updates of two weights, each with its moments, of 768 and of 768 x 3072 elements.
bool MayStandBeside(const program::Program& program, const std::vector<MemberSection>& sections,
                    const MemberSection& next);

// The kernel of all sections, and the function that it calls; Kernel.function is not set. A tensor
// of the graph that only other members of its section read, and of which a slice is one element,
// becomes internal.
struct JoinedKernel {
  program::Kernel kernel;
  program::Function function;
  std::vector<int> unused;  // the buffers of the internal tensors, which nothing uses any more
};
JoinedKernel JoinMembers(const Graph& graph, const program::Program& program,
                         const std::vector<MemberSection>& sections);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_MEMBERS_H_
