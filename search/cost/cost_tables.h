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
#include "search/plan/objective.h"

namespace yuba::search {

// What a table is made of. Rows are choices of the tensor, columns choices of the node. Nothing is
// owned.
struct TableInput {
  // The devices that are looked at. Where no choice uses the inner axes of the mesh, those that
  // differ on these alone do the same: one of each `alike` is looked at.
  const Mesh* mesh;
  const Definition* definition;
  int operand;  // of the definition, which the node gathers; below 0: the result, which it reduces
  const std::vector<Choice>* tensor_choices;  // by row
  const std::vector<Choice>* node_choices;    // by column
  const std::vector<int>* columns;            // ascending: those to fill
  const std::vector<NodeBoxes>* boxes;        // boxes[c] belongs to column columns[c]
  int64_t times = 1;                          // how often bytes count
  int64_t alike = 1;                          // how many devices each of the mesh stands for
};

// Bytes, row-major [tensor choice][node choice]; 0 in columns that are not filled. Of partials:
// - a node that writes them moves whatever it writes outside the device's own box;
// - an accumulator whose sharding is not theirs would move whatever devices have outside the box
//   that they read. No plan has such a pair, but a bound may;
// - any other node gathers them inside its groups. kForbidden where the sharding does not keep
//   these (KeepsGroups).
std::vector<int64_t> CostTable(const TableInput& input);

// The same in nanoseconds. kForbidden as above.
std::vector<int64_t> TimeTable(const TableInput& input, const Objective& objective);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_COST_TABLES_H_
