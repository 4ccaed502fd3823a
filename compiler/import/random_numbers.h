// What random numbers are made of in a graph. A `rand()` of a description becomes
//
//   random(seed[] + stream[], step[], element)
//
// with three scalars of i64 that are states: the seed of the run, which is 0 until a caller sets it
// (opsemantics/base/random_state.h); the step, which a node at the end of the graph counts; and the
// stream, a number that this use of `rand()` shares with no other. Streams are numbered by the
// graph alone, so that no name and no order of the file decides what is drawn, and they are values,
// not part of definitions, so that equal layers stay equal.
#ifndef YUBA_COMPILER_IMPORT_RANDOM_NUMBERS_H_
#define YUBA_COMPILER_IMPORT_RANDOM_NUMBERS_H_

#include "absl/status/status.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/model.h"

namespace yuba::onnx {

// The value for a slot of that role (kSeed, kStep or kStream): for each kStream a new one, for the
// others the graph's.
int RandomScalar(SlotRole role, OnnxGraph& graph);

// Gives stream n of the graph the value n * 2^32: the seed has the lower half of the key for
// itself. Streams are in the order in which the uses that the outputs need stand in post-order from
// the outputs; of one use in the order of its slots. The order is taken before dimensions have
// factors and before maps are composed, so neither changes a number. An error of the user where a
// value of the file has the name of the seed or the step.
absl::Status NumberStreams(OnnxGraph& graph);

// Appends the node that counts steps where the graph reads the step: step[] = step[] + 1.
void CountSteps(Graph& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_RANDOM_NUMBERS_H_
