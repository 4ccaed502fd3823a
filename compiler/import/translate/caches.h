// Caches of keys and values: --cache PAST=PRESENT:LENGTH.
//
// Exporters let a cache grow: `present = Concat(past, new)`. No tensor of a program grows, so the
// pair becomes one state of LENGTH rows, and a scalar state, named as the dimension of PAST that
// grows, counts the rows that hold something. An entry that adds S rows
// - writes them at that position, in place of the Concat,
// - hides the rows behind them from every product that makes one element for each row (scores): it
//   sets these to -inf,
// - adds S to the count.
//
// Sizes in the graph are those of full caches: PAST stands for LENGTH - S rows, so that PRESENT and
// masks have LENGTH. Numbers that are computed from the length of PAST (positions, masks) are known
// for full caches only. OnnxValue::one_row_fewer says how they grow, and where they are data they
// are computed from the count. What cannot be said so is an error.
//
// Example: past_key [b, h, past_len, d] with --cache past_key=present_key:64, in an entry of one
// new row: Shape(past_key)[2] is 63, as a size; as data it is the count.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_CACHES_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_CACHES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/options.h"
#include "compiler/import/translate/node.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// A pair of names of --cache, found in the file.
struct CachePair {
  std::string past, present;
  std::string symbol;  // of the dimension that grows
  int axis = 0;        // that dimension
  int64_t length = 0;
};

// The pairs that the flags mean, without those whose input is in `unread`, as nothing of the part
// of the model reads it. The user's error where the file has no such input or output, where
// PRESENT is no Concat of PAST and one more operand, where the dimension has no symbol, where
// pairs differ in symbol or LENGTH, or where PAST has a cache already.
absl::StatusOr<std::vector<CachePair>> FindCaches(const ::onnx::GraphProto& proto,
                                                  const std::set<std::string>& unread,
                                                  const std::vector<CacheOptions>& flags);

// Adds to the graph, whose inputs are there, the states of the pairs and of the count, or takes
// those of earlier entries; `new_rows` is what the entry adds. The inputs PAST must have
// length - new_rows rows.
absl::Status AddCaches(const std::vector<CachePair>& pairs, int64_t new_rows, OnnxGraph& graph);

// The node is Concat(past, new) of a cache, whose slot it is; null where it is something else.
CacheSlot* CacheOf(NodeContext& node, OnnxGraph& graph);
// Translates it: the rows are written into the state. A mistake where the entry adds another number
// of rows than graph.new_rows: graph.new_rows is then that number.
void TranslateCacheWrite(NodeContext& node, CacheSlot& slot, OnnxGraph& graph);

// Once the nodes are translated: the states and what they become are pairs of graph.carried, and
// outputs. The user's error where a Concat was not reached.
absl::Status FinishCaches(NodeContext& context, OnnxGraph& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_CACHES_H_
