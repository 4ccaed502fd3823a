// Cost tables of one use: a tensor's cuts against a node's cuts, in bytes. They equal FetchVolume
// and DeliverVolume of transfers.h times the element size, but count by dimension: the overlap of
// two boxes is a product over the dimensions, and few different intervals occur.
#ifndef YUBA_SEARCH_COST_COST_TABLES_H_
#define YUBA_SEARCH_COST_COST_TABLES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// One cut of a tensor, or one node's strategy, for each row or column. The result is row-major
// [tensor cut][node cut]; only the columns in `columns` are filled, the others are 0.
// `boxes[c]` belongs to column columns[c].
struct TableInput {
  const Mesh* mesh;
  const TensorType* type;
  const std::vector<Cut>* tensor_cuts;
  const std::vector<Cut>* node_cuts;
  const std::vector<int>* columns;
  const std::vector<NodeBoxes>* boxes;
};

// What the node fetches of its operand `operand`.
std::vector<int64_t> FetchTable(const TableInput& input, int operand);

// What the node delivers to the owners of its result.
std::vector<int64_t> DeliverTable(const TableInput& input);

// The same for an addend: what moves into the boxes of groups, wherever it is made.
std::vector<int64_t> AddendTable(const TableInput& input);
// And for an accumulator that reads one: what has to move where the addend is cut in another way
// than the accumulator. No plan has that; bounds may.
std::vector<int64_t> RegroupTable(const TableInput& input, int operand);

// And for any other reader of one: a fetch within the groups, which must be those of the node
// (KeepsGroups); else kForbidden.
std::vector<int64_t> FetchAddendTable(const TableInput& input, int operand);

// The size of one element that a node delivers: partial results move in the accumulator's type.
int64_t DeliveredElementSize(ElementType type, int parts);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_COST_TABLES_H_
