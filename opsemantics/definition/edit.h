// Edits of definitions: the steps of which import, the simplifications and gradients are made.
// Expressions are shared and never changed in place; what is edited is copied.
//
// Example: Substitute in x[i + 1] with indices {2*j} and operands {3} gives operand 3 read at
// 2*j + 1.
#ifndef YUBA_OPSEMANTICS_DEFINITION_EDIT_H_
#define YUBA_OPSEMANTICS_DEFINITION_EDIT_H_

#include <functional>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

// Replaces the reads of the body and of the conditions on data, bottom up: `replace` gets each read
// once (an `else` value already rewritten), however often it is used, and returns what stands in
// its place; null keeps the read. Equal terms of the result are one node.
using ReplaceRead = std::function<ExprPtr(const Expr& read)>;
void RewriteReads(Definition& definition, const ReplaceRead& replace);

// Calls `visit` for each read of operand `operand` in the body and in the conditions on data.
void VisitReads(const Definition& definition, int operand,
                const std::function<void(const Expr& read)>& visit);

// `expr` with each index i replaced by indices[i], and each operand k by operands[k].
ExprPtr Substitute(const ExprPtr& expr, const std::vector<Affine>& indices,
                   const std::vector<int>& operands);
Affine Substitute(const Affine& affine, const std::vector<Affine>& indices);

// Merges operands that are the same tensor and drops those that are not read. `tensors` is parallel
// to the definition's operands, before and after; equal numbers are the same tensor.
void NormalizeOperands(std::vector<int>& tensors, Definition& definition);

// Puts the output indices into the order of the left side, with the reduction indices behind them,
// and drops output indices that the left side does not name. Those must have extent 1 and occur
// nowhere.
void OrderIndices(Definition& definition);

// Removes dimensions of extent 1 from operands and result. drop: [operand][flat dimension], with
// one more entry behind the operands for the result.
void DropUnitDims(Definition& definition, const std::vector<std::vector<bool>>& drop);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_EDIT_H_
