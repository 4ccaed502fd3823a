// Cost tables of one use: all choices of a tensor against all choices of a node that reads or
// writes it, in bytes.
//
// A cell equals GatherVolume or ReduceVolume of opsemantics/base/transfers.h times the element
// size, but is counted by dimension: the overlap of two boxes is a product over the dimensions, and
// few different intervals occur. Example: x f32[4, 8] on one axis a=2, read whole by a node of two
// choices. Its row [4/a, 8] holds 128 bytes twice: each of 2 devices lacks 16 elements of 4 bytes.
#ifndef YUBA_SEARCH_COST_COST_TABLES_H_
#define YUBA_SEARCH_COST_COST_TABLES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/plan/choice.h"

namespace yuba::search {

// What all tables are made of. Rows are choices of the tensor, columns choices of the node. Every
// function below returns bytes, row-major [tensor choice][node choice]; it fills only the columns
// listed in `columns` and leaves 0 in the others. Nothing is owned.
struct TableInput {
  const Mesh* mesh;
  const TensorType* type;                     // of the tensor
  const std::vector<Choice>* tensor_choices;  // by row
  const std::vector<Choice>* node_choices;    // by column
  const std::vector<int>* columns;            // ascending: those to fill
  const std::vector<NodeBoxes>* boxes;        // boxes[c] belongs to column columns[c]
};

// What the node gathers of its operand `operand`.
std::vector<int64_t> GatherTable(const TableInput& input, int operand);

// What the node reduces to the owners of its result.
std::vector<int64_t> ReduceTable(const TableInput& input);

// What a node that writes partials moves into the boxes of its groups: whatever it writes outside
// the device's own box.
std::vector<int64_t> PartialsTable(const TableInput& input);
// What would move if an accumulator read partials whose sharding is not its own: whatever devices
// have outside the box that they read. No plan has such a pair, but a bound may.
std::vector<int64_t> RegroupTable(const TableInput& input, int operand);

// What any other node gathers of partials that it reads: only inside its groups. kForbidden where
// the sharding does not keep the node's groups (KeepsGroups).
std::vector<int64_t> GatherPartialsTable(const TableInput& input, int operand);

// The bytes of one element that a node reduces when its reduction is cut into `parts`: partials
// move in the accumulator's type.
int64_t ReducedElementSize(ElementType type, int parts);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_COST_TABLES_H_
