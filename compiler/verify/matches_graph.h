// The proof that a program's kernels are the nodes of its graph. With CheckCoverage it is the whole
// proof that program and graph say the same, short of the arithmetic inside a kernel.
//
// What it establishes:
// - the kernels are the nodes of the graph, each once, in the graph's order, copies left out and
//   sums of many partials added up a few at a time (spmd/short_sums.h);
// - each kernel has its definition's indices (extents, which are reductions) and its reducer;
// - each operand's buffer holds the tensor that the node reads, followed from the program's inputs
//   and parameters through every kernel and exchange; an operand is read as partial exactly where
//   the definition reads partials;
// - of a carried tensor (graph.h) each kernel reads the value that the graph says, that before the
//   step or the next one; no kernel writes over what it has yet to read; nothing but the next value
//   is written to its buffer, with which the next step begins. Other buffers hold one value each;
// - on each device, the boxes that the program says a kernel reads contain all that the definition
//   reaches for that device's part of the indices, and the box it writes is what the definition
//   writes; along what an opaque function sees whole nothing is cut;
// - inputs, parameters and outputs are those of the graph, in order.
//
// What it does not assume: a plan, or that the program was made from this graph; any program that
// is well formed may come in.
//
// What it relies on: the box analysis of opsemantics/regions, which the planner uses too, and which
// tests compare with the elements that the interpreter reads.
//
// What it does not establish: that what a kernel reads has arrived by then (coverage.h); that a
// function's code or library call computes the definition (tests, and `yuba verify` in hash
// arithmetic); that the graph is the model's file, or that the plan is a good one.
#ifndef YUBA_COMPILER_VERIFY_MATCHES_GRAPH_H_
#define YUBA_COMPILER_VERIFY_MATCHES_GRAPH_H_

#include "absl/status/status.h"
#include "compiler/verify/unfold.h"
#include "opsemantics/definition/graph.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// OK, or a FailedPrecondition that names the first kernel or port that differs. `graph` is the one
// that the plan is of, with its copies and accumulators.
absl::Status CheckMatchesGraph(const Graph& graph, const program::Program& program);
// The same; `unfolded` is of `program`, which is well-formed.
absl::Status CheckMatchesGraph(const Graph& graph, const program::Program& program,
                               const Unfolded& unfolded);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_MATCHES_GRAPH_H_
