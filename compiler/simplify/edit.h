// Edits of definitions and nodes that keep what they compute.
#ifndef YUBA_COMPILER_SIMPLIFY_EDIT_H_
#define YUBA_COMPILER_SIMPLIFY_EDIT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// Replaces reads bottom up: `replace` gets each kRead (its guard already rewritten) and returns
// what stands in its place, null to keep it.
using ReplaceRead = std::function<ExprPtr(const Expr& read)>;
ExprPtr RewriteReads(const ExprPtr& expr, const ReplaceRead& replace);
// The same for the body and for the conditions on data.
void RewriteReads(Definition& definition, const ReplaceRead& replace);

// Calls `visit` for each read of operand `operand` in the body and in the conditions on data.
void VisitReads(const Definition& definition, int operand,
                const std::function<void(const Expr& read)>& visit);

// `expr` with each index i replaced by indices[i], and operand k by operands[k].
ExprPtr Substitute(const ExprPtr& expr, const std::vector<Affine>& indices,
                   const std::vector<int>& operands);
Affine Substitute(const Affine& affine, const std::vector<Affine>& indices);

// Merges operands that are the same tensor and drops those that are not read.
void NormalizeOperands(Node& node, Definition& definition);

// Gives output indices the order of the left side, reduction indices behind them, and drops output
// indices that stand in no left side (of extent 1: they must not occur anywhere).
void OrderIndices(Definition& definition);

// Removes dimensions of 1 from operands and result: drop[operand][flat dim], the result behind the
// operands.
void DropUnitDims(Definition& definition, const std::vector<std::vector<bool>>& drop);

// Nodes of expressions in the body.
int SizeOf(const ExprPtr& expr);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SIMPLIFY_EDIT_H_
