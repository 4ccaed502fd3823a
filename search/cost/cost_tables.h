// Cost tables of one use: a tensor's cuts against a node's cuts, in bytes. They equal GatherVolume
// and ReduceVolume of transfers.h times the element size, but count by dimension: the overlap of
// two boxes is a product over the dimensions, and few different intervals occur.
#ifndef YUBA_SEARCH_COST_COST_TABLES_H_
#define YUBA_SEARCH_COST_COST_TABLES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/plan/choice.h"

namespace yuba::search {

// One cut of a tensor, or one node's strategy, for each row or column. The result is row-major
// [tensor cut][node cut]; only the columns in `columns` are filled, the others are 0.
// `boxes[c]` belongs to column columns[c].
struct TableInput {
  const Mesh* mesh;
  const TensorType* type;
  const std::vector<Choice>* tensor_choices;
  const std::vector<Choice>* node_choices;
  const std::vector<int>* columns;
  const std::vector<NodeBoxes>* boxes;
};

// What the node gathers of its operand `operand`.
std::vector<int64_t> GatherTable(const TableInput& input, int operand);

// What the node reduces to the owners of its result.
std::vector<int64_t> ReduceTable(const TableInput& input);

// The same for partials: what moves into the boxes of groups, wherever it is made.
std::vector<int64_t> PartialsTable(const TableInput& input);
// And for an accumulator that reads one: what has to move where the partials is cut in another way
// than the accumulator. No plan has that; bounds may.
std::vector<int64_t> RegroupTable(const TableInput& input, int operand);

// And for any other reader of one: a gather within the groups, which must be those of the node
// (KeepsGroups); else kForbidden.
std::vector<int64_t> GatherPartialsTable(const TableInput& input, int operand);

// The size of one element that a node reduces: partial results move in the accumulator's type.
int64_t ReducedElementSize(ElementType type, int parts);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_COST_TABLES_H_
