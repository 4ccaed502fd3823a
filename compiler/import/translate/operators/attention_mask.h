// What attention adds to its scores: masks and lengths.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_ATTENTION_MASK_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_ATTENTION_MASK_H_

#include "compiler/import/translate/node.h"

namespace yuba::onnx {

// What the node's mask (operand 3) and its lengths (operand 6) add to the scores of `type`: 0 or a
// number of the mask, -inf where a query does not see a key. [batch or 1, heads or 1, queries,
// keys]; -1 where there is neither. `q` and `k` are the extents [batch, heads, queries or keys,
// size]. Keys behind the end of a short mask are hidden, unless it has one column for all. With
// lengths the causal order is part of it, as it depends on them.
int AddedToScores(NodeContext& node, const Dims& q, const Dims& k, ElementType type);

// The least finite number of a type of floats.
double LeastFinite(ElementType type);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_ATTENTION_MASK_H_
