// The proof that a program computes every element once and reads nothing that is not there. It runs
// the instructions on boxes instead of data, at full scale, for all devices: what it keeps for each
// buffer and device is which elements have been written, and whether they are whole or partial.
//
// What it establishes, for every device and every instruction in order:
// - stored tensors are complete: each element is on some device before the first step;
// - the devices' parts of a kernel tile its iteration space: each point is computed by at least one
//   device, and devices that overlap compute exactly the same points;
// - a kernel or exchange touches only elements that its buffer holds on that device, and reads only
//   elements that were written before;
// - where a kernel runs over a part of its reduction, its result counts as partial, and only a
//   reduction with the same reducer, with each partial exactly once, makes it whole; unreduced
//   partials are read only by kernels that run in the same groups of devices;
// - every element that an exchange brings is offered by a device, and every element that a node
//   wrote reaches an owner;
// - outputs are whole and complete at the end, and so is every stored tensor of which something was
//   written: what comes after its first write reads nothing of the value before.
//
// What it does not assume: a plan, a graph, or anything about how the program was made. It looks at
// the program alone, after program::CheckWellFormed.
//
// What it relies on: box arithmetic (opsemantics/base) and the reading of tables (spmd/tables.h);
// that each device runs the list in order and that exchanges wait for both sides, which is the
// runtime's promise.
//
// What it does not establish: that the kernels are the graph's nodes and that their boxes are what
// the definitions reach (matches_graph.h); that buffers do not overlap in memory (check_memory.h);
// that a mark as a collective is right (the runtime refuses a mark that the boxes do not bear out);
// that the code of a function computes its definition (tests, and `yuba verify` in hash
// arithmetic).
//
// Example: on two devices a kernel reads all 8 rows of w [8, 10], of which each device stores 4. If
// the gather of w is taken out of the program, the kernel's buffer has room for the 8 rows, but
// nothing has written them: "device 0 reads [0, 8) x [0, 10) of gather(w)@y, which nothing has
// written".
#ifndef YUBA_COMPILER_VERIFY_COVERAGE_H_
#define YUBA_COMPILER_VERIFY_COVERAGE_H_

#include "absl/status/status.h"
#include "compiler/verify/unfold.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// OK, or a FailedPrecondition that names the first instruction, device and box at which the proof
// fails. A `repeat` is run twice: its second round reads what the first has written, and no later
// round brings anything new.
absl::Status CheckCoverage(const program::Program& program);
// The same of a well-formed program, unfolded already.
absl::Status CheckCoverage(const Unfolded& unfolded);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_COVERAGE_H_
