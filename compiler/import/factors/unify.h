// Factor unification over the whole model: every dimension of every value gets the factors that the
// operators on it need, so that plans can cut along whole factors.
//
// Example: x[8, 768] is the result of a product; a reshape reads it as [8, 12, 64]. The dimension
// of 768 gets the factors (12 64) in the reshape's slot, in the value, in the product's slot and,
// along the product's index, in its weight. No reshape is left, and 12 heads can be cut.
//
// How: a position of a dimension is a product of its inner factors, a divisor of its extent ((12
// 64) has the positions 1, 64, 768). A leaf is a flat dimension of a slot; a tie says that a
// dimension of a value and the leaves of a slot that make it up have the same positions. Positions
// are only ever added, along ties and along indices that run along several leaves, to a least
// fixpoint. Where two positions do not nest (6 and 4 in 12), ties give way, those of operators last
// (tie_class.h): the slot then has other factors than its value, and a reshape stands between them
// (build.h).
#ifndef YUBA_COMPILER_IMPORT_FACTORS_UNIFY_H_
#define YUBA_COMPILER_IMPORT_FACTORS_UNIFY_H_

#include <cstdint>
#include <vector>

#include "compiler/import/onnx_graph.h"

namespace yuba::onnx {

using FactorList = std::vector<int64_t>;  // of one dimension, outermost first; {1} for a 1

struct Factors {
  std::vector<std::vector<FactorList>> values;  // [value][dimension]
  // [use][slot][flat dimension of the description]: the factors that it is refined to.
  std::vector<std::vector<std::vector<FactorList>>> leaves;
};

// Never fails: in the worst case a reshape stands at every slot. No dimension of a value gets more
// than four factors. With `factors` false none gets more than one, and reshapes stand where
// operators split a dimension. The result does not depend on names, and on the order of uses only
// where these are equal.
Factors UnifyFactors(const OnnxGraph& graph, bool factors);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FACTORS_UNIFY_H_
