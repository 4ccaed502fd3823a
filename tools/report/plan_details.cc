// One tensor, or one node.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/text_table.h"

namespace yuba::tools {

std::string TensorText(const search::PlanFile& plan, const search::PlanFile::TensorRow& row) {
  std::string text = absl::StrCat(row.name, "  ", row.kind, " ", Name(row.type), " ",
                                  ShardingText(plan, row), "  ", Bytes(WholeBytes(row)),
                                  ", at most ", Bytes(ShardBytes(plan, row)), " on a device\n");
  for (const ReplicatedTensor& tensor : Replicated(plan)) {
    if (tensor.name != row.name) continue;
    absl::StrAppend(&text, "  in ", Counted(tensor.parts, "part"), ", each on ", tensor.replicas,
                    " devices: its dimensions allow ", tensor.most, "\n");
  }
  for (const auto& node : plan.nodes) {
    if (node.writes == row.name) {
      const bool carried = node.name != row.name;
      absl::StrAppend(&text, carried ? "  next value made by " : "  made by ", node.name, " (",
                      node.op, ")\n");
    }
    if (std::count(node.reads.begin(), node.reads.end(), row.name) > 0) {
      absl::StrAppend(&text, "  read by ", node.name, " (", node.op, "), which cuts ",
                      PartitionText(plan, node), "\n");
    }
  }
  for (const auto& move : plan.transfers) {
    if (move.tensor != row.name) continue;
    absl::StrAppend(&text, "  ", move.kind, " for ", move.node, ": ", Bytes(move.bytes), " ",
                    move.collective, ": ", move.why, "\n");
  }
  return text;
}

std::string NodeText(const search::PlanFile& plan, const search::PlanFile::NodeRow& row) {
  std::string text = absl::StrCat(row.name, "  ", row.op, " of ", row.from, ", cuts ",
                                  PartitionText(plan, row), ", kernel ", row.kernel, "\n");
  const TensorMap tensors = ByName(plan);
  for (const std::string& read : row.reads) {
    const auto it = tensors.find(read);
    if (it == tensors.end()) continue;
    absl::StrAppend(&text, "  reads ", read, " ", ShardingText(plan, *it->second), "\n");
  }
  for (const auto& move : plan.transfers) {
    if (move.node != row.name) continue;
    absl::StrAppend(&text, "  ", move.kind, " ", move.tensor, ": ", Bytes(move.bytes), " ",
                    move.collective, ": ", move.why, "\n");
  }
  return text;
}

}  // namespace yuba::tools
