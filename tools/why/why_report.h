// What `yuba why` says: how one tensor or node is cut, the best plan found in which it is cut
// otherwise, and where that moves more and where less.
#ifndef YUBA_TOOLS_WHY_WHY_REPORT_H_
#define YUBA_TOOLS_WHY_WHY_REPORT_H_

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "opsemantics/definition/graph.h"
#include "search/search.h"

namespace yuba::tools {

// "[96/ab, 64]" of a tensor, "r/a s/bc" of a node, "whole" of one that is not cut. `element`:
// tensors first, then nodes.
std::string CutText(const Graph& graph, const search::Plan& plan, int element);

std::string WhyText(const Graph& graph, const search::Plan& plan, int element,
                    const search::RunnerUp& next);
nlohmann::ordered_json WhyJson(const Graph& graph, const search::Plan& plan, int element,
                               const search::RunnerUp& next);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_WHY_WHY_REPORT_H_
