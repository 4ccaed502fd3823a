// Units: the definitions of a plan that one node of the model became, with the copies made for
// them. Example: h.0.ln_1.LayerNormalization is a mean, a variance and a last definition in the
// plan.
#ifndef YUBA_TOOLS_PAGE_UNITS_H_
#define YUBA_TOOLS_PAGE_UNITS_H_

#include <string>
#include <vector>

#include "search/file/plan_file.h"

namespace yuba::tools {

struct Unit {
  std::string name;        // of the model's node; of the definition where it has none
  std::string prefix;      // what its name shares with its block's others: "h.0."; "" for none
  bool gradient = false;   // its definitions compute gradients
  int structure = 0;       // equal where units have the same operators in the same order
  std::vector<int> nodes;  // numbers of the plan's nodes, in order
};

// In the plan's order, each where its first node stands. Every node is in one unit.
std::vector<Unit> UnitsOf(const search::PlanFile& plan);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PAGE_UNITS_H_
