// What happens to the graph before anyone plans it: these rewrites (front_end.cc has their order),
// then the hash. Each takes and leaves a well-formed graph (linked) and keeps the values of all
// outputs; only HideUnusedRows can fail. They remove what would only cost the search time and the
// program buffers: constants, views, chains of elementwise maps, and any trace of names and of the
// order in the file.
//
// Example: y = relu(transpose(x) + 0) with a fill of 0 in the file is, at the end, the one node
// y[i, j] = max(x[j, i] + 0, 0).
#ifndef YUBA_COMPILER_SIMPLIFY_SIMPLIFY_H_
#define YUBA_COMPILER_SIMPLIFY_SIMPLIFY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/model.h"

namespace yuba::compiler {

// Constants of one element, and constants of equal elements that maps read, become literals in the
// bodies that read them. Calls that a literal makes simpler are replaced by exact equivalents: x to
// the power of 2 becomes a square, x times 1 becomes x.
void ReplaceLiterals(Model& model);

// Whether the graph is still to be differentiated. Before that a map that only copies, and whose
// definition has no gradient (`nograd`), is more than a copy.
enum class Gradients { kNone, kToCome };

// Removes nodes that only name their operand's elements along other flat dimensions (transposes,
// added or dropped dimensions of 1): the readers of such a node read its operand instead, or, where
// its result is an output, the operand's producer writes that result. A view stays where neither is
// possible.
void RemoveViews(Model& model, Gradients gradients = Gradients::kNone);

// A map that one other map reads, each element once, becomes part of it; a map that reads nothing
// (a fill, a range, a band) becomes part of every map that reads it, and so does one that only
// draws random numbers, where each element is read once. A map that only makes floats wider becomes
// part of all its readers but sums of products, opaque definitions and reads with an `else`, so
// that the narrow ones are stored and moved. Bodies grow to at most 64 distinct terms; one that is
// used twice is one node (shared_terms.h). Nodes that stay apart may still share a kernel
// (compiler/cluster).
void ComposeMaps(Model& model, Gradients gradients = Gradients::kNone);

// A map that several nodes read, each point of them one element, becomes part of all of them, maps
// or reductions, where that neither moves nor holds more bytes than the result that would be
// stored: what they read more is at most what is read and written for the result, and operands that
// would live longer are no larger than it. For training steps, whose backward passes read what the
// forward pass computed. Where some readers cannot, as products, the others do that read one large
// tensor for it in its place, if that lives as long anyhow.
//
// Example: of y = (x - m) * r, with vectors m and r, that a ReLU of the forward pass and two nodes
// of the backward pass read, x is kept for these, and y is computed three times.
void RecomputeMaps(Model& model);

// Gives conditions on data that read constants of at most 4,096 integers alone their values
// (DataCondition::table), so that box analysis knows where they hold. Index tables of gathers,
// rolls and resizes are such constants. Those keep their bytes in the model (InitialValue::kData).
void KnowConditions(Model& model);

// The user's error where constants of the model, or ranges that it counts, are indices outside of
// their extents, as rows 0 to 64 of a table of 64: node, index and extent. What a step computes is
// checked while it runs (runtime/program/kernel_abi.h).
absl::Status CheckKnownIndices(const Model& model);

// Drops what no output needs, and numbers the rest: nodes in post-order from the outputs, tensors
// in the order in which these nodes name them, inputs first. The order depends on no name and on no
// order in the file. Inputs stay, also where nothing reads them.
void PutInCanonicalOrder(Model& model);

// The rows of a cache (import/translate/caches.h) after an entry has added some.
struct CachedRows {
  TensorId tensor = -1;  // the cache with the new rows
  int dim = 0;           // the dimension of the rows, as the user knows it
  TensorId count = -1;   // a scalar: how many rows held something when the entry began
  int64_t new_rows = 0;
  int64_t length = 0;  // how many rows the cache has
  int entry = 0;
};
// Sets the scores of rows that hold nothing to -inf: of each node of the entry that reads the
// cache, perhaps through maps, beside something else, and makes one element for each row. Nodes
// that add over the rows get shares of them, which softmax then makes 0. To be called between
// RemoveViews and ComposeMaps. The user's error where a node uses the rows in another way.
absl::Status HideUnusedRows(Model& model, const std::vector<CachedRows>& caches);

// A stored tensor and the result of a node that is its value for the next step. Both have one type.
struct CarriedPair {
  TensorId state = -1, next = -1;
  std::string next_name;  // what the user calls the next value; empty: as `next` is named
};
// Makes each pair one carried tensor (graph.h), which the producer of `next` computes; the tensors
// `next` are gone. Each is an output of the graph. A next value is in one pair, a state in one pair
// of each entry. Nodes that read a state are put before its producer, others stay in their order.
// Where a node that reads a state needs its next value too, that is impossible: then `next` stays,
// and a node behind all others copies it to the state.
//
// Example: with n' = n + 1 and d = n' - n, d needs both values of n. So n' stays, and the graph
// ends with the node n[] = n'[].
void CarryStates(Model& model, const std::vector<CarriedPair>& pairs);

// 32 hexadecimal digits of structure, shapes and types, without names and values. `graph` must be
// in canonical order: equal models then have equal hashes, whatever their files name things.
std::string HashOfGraph(const Graph& graph);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SIMPLIFY_SIMPLIFY_H_
