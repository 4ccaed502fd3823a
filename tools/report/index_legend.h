// What the letters of "splits its q/c" are: along which dimensions of its tensors each index of a
// node runs, by the plan file, which has it from the node's definition.
#ifndef YUBA_TOOLS_REPORT_INDEX_LEGEND_H_
#define YUBA_TOOLS_REPORT_INDEX_LEGEND_H_

#include <string>
#include <vector>

#include "search/file/plan_file.h"

namespace yuba::tools {

// The indices of that name of nodes with these operators run alike:
//   {"q", {"linear"}, "dimension 1 of operand 1 of 2, 1 of the weight; none of the output: ..."}
struct IndexMeaning {
  std::string index;
  std::vector<std::string> operators;
  std::string runs_along;  // in words
};

// Of the indices that nodes split, ordered by name: of all nodes, or of those that move something.
// Copies are left out. Empty where the file does not say.
std::vector<IndexMeaning> IndexMeanings(const search::PlanFile& plan, bool all);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_INDEX_LEGEND_H_
