// The phase `spmd`: graph and plan become one program that all devices run (single program,
// multiple data). Values keep their global types; what differs between devices are boxes, and boxes
// are tables over mesh coordinates (tables.h). Wherever a device does not have what it reads, or
// does not own what it writes, an exchange is added: this is where a plan turns into communication.
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j] on two devices, everything cut by rows over axis a,
// so x is [8/a, 6], w is [6/a, 10], y is [8/a, 10], and the node cuts i. Each device has the rows
// of x that it reads and writes the rows of y that it owns. Of w it has 3 of the 6 rows that it
// reads, so the program has two instructions: an exchange that gathers w into the buffer
// "gather(w)@y", whose box is [0, 6) x [0, 10) on both devices, and the kernel. Had the node cut k
// instead, each device would write a partial of all of y into "written(y)", and a reduce exchange
// would combine them into y.
#ifndef YUBA_COMPILER_SPMD_SPMD_H_
#define YUBA_COMPILER_SPMD_SPMD_H_

#include <vector>

#include "compiler/layout/layouts.h"
#include "compiler/model.h"
#include "opsemantics/oracle/scalar.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

// Which clusters become one kernel.
enum class Joins : uint8_t {
  kNone,  // each node has a kernel of its own
  kRows,  // those of which threads of a GPU can share out each row; what is next to each other and
          // has nothing to do with each other is one kernel too, of several sections
  kAll
};

// The program of model.graph under `plan`, which must have a sharding for each of its tensors and a
// partition for each of its nodes. The result has
// - buffers: one for each tensor (its shards), one for each gather and for each result that is not
//   written straight into its shards; a copy that is sharded like its tensor has none. Boxes are
//   set, lives and offsets are not (memory/);
// - instructions in the order of the graph's nodes: the gathers of a node, its kernel, its
//   reduction; with the graph's entries, where it has several;
// - accumulators of a few terms (short_sums.h);
// - exchanges that are all plain (recognise.h marks the collectives);
// - functions, one for each distinct definition or cluster, without code (kernels/);
// - one kernel for nodes of one of model.clusters, as far as `joins` says, where no exchange stands
//   between them and each device runs them over the same parts (members.h). Tensors that nothing
//   else reads have no buffer then. So too for `products`, those that the target's library
//   computes in one call (kernels::LibraryProducts).
// `arithmetic` is what the whole program computes in: memory and kernels follow it. `layouts`: of
// the graph's tensors those whose dimensions are not in their users' order (compiler/layout).
program::Program MakeSpmdProgram(const Model& model, const search::Plan& plan,
                                 Arithmetic arithmetic = Arithmetic::kFloat,
                                 Joins joins = Joins::kAll,
                                 const std::vector<Cluster>& products = {},
                                 const Layouts& layouts = {});

// The program with a kernel for each node, without the values of parameters, the names of the
// file's inputs and the graph's hash: what suffices to say how much memory it needs.
program::Program ProgramWithoutValues(const Graph& graph, const search::Plan& plan,
                                      Arithmetic arithmetic = Arithmetic::kFloat);

// Sets the values of the program's parameters and constants, and the names of the file's inputs, to
// those of the model, and what else a program has of its model. The program's parameters must be
// the model's parameters and constants, in the order of their tensor numbers.
void SetInitialValues(const Model& model, program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_SPMD_H_
