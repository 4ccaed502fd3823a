// Factor unification over the whole flow: every dimension of every value gets the factors that the
// operators on it need, so that cuts are made on them (LANGUAGE: "Unification").
//
// A position of a dimension is a product of its inner factors: a divisor. Positions are only ever
// added, along indices that run along several dimensions and along the ties between a value and its
// slots, to a least fixpoint. Where two of them do not nest, ties give way, those of operators
// last: the slot then has other factors than its value, and a reshape stands between them.
#ifndef YUBA_COMPILER_IMPORT_FACTORS_UNIFY_H_
#define YUBA_COMPILER_IMPORT_FACTORS_UNIFY_H_

#include <cstdint>
#include <vector>

#include "compiler/import/onnx_graph.h"

namespace yuba::onnx {

using FactorList = std::vector<int64_t>;  // of one dimension, outermost first; {1} for a 1

struct Factors {
  std::vector<std::vector<FactorList>> values;               // [value][dimension]
  std::vector<std::vector<std::vector<FactorList>>> leaves;  // [use][slot][flat dim as written]
};

// Without `factors` no dimension of a value has more than one: reshapes stand where operators split
// one.
Factors UnifyFactors(const OnnxGraph& graph, bool factors);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FACTORS_UNIFY_H_
