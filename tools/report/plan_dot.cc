// A plan as a graph for Graphviz.
#include <map>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "tools/report/plan_report.h"
#include "tools/report/text_table.h"

namespace yuba::tools {

std::string PlanDot(const search::PlanFile& plan) {
  std::string dot = "digraph plan {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  std::map<std::string, std::string> next;  // a carried tensor -> the node that has computed it
  for (const auto& node : plan.nodes) {
    absl::StrAppend(&dot, "  \"", absl::CEscape(node.name), "\" [label=\"", absl::CEscape(node.op),
                    "\\n", absl::CEscape(PartitionText(plan, node)), "\"];\n");
    for (const std::string& read : node.reads) {
      int64_t bytes = 0;
      for (const auto& move : plan.transfers) {
        if (move.node == node.name && move.tensor == read && move.kind == "gather")
          bytes += move.bytes;
      }
      const std::string& from = next.count(read) > 0 ? next[read] : read;
      absl::StrAppend(&dot, "  \"", absl::CEscape(from), "\" -> \"", absl::CEscape(node.name), "\"",
                      bytes > 0 ? absl::StrCat(" [color=red, label=\"", Bytes(bytes), "\"]") : "",
                      ";\n");
    }
    if (node.writes != node.name) next[node.writes] = node.name;
  }
  return dot + "}\n";
}

}  // namespace yuba::tools
