// One tensor, one node, or the differences of two plans.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/text_table.h"

namespace yuba::tools {

std::string TensorText(const search::PlanFile& plan, const search::PlanFile::TensorRow& row) {
  std::string text = absl::StrCat(row.name, "  ", row.kind, " ", Name(row.type), " ",
                                  ShardingText(plan, row), "  ", Bytes(WholeBytes(row)),
                                  ", at most ", Bytes(ShardBytes(plan, row)), " on a device\n");
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

namespace {

std::string WholeShapeText(const search::PlanFile::TensorRow& row) {
  return absl::StrJoin(row.dims, ", ", [](std::string* out, const std::vector<int64_t>& factors) {
    int64_t whole = 1;
    for (const int64_t factor : factors) whole *= factor;
    absl::StrAppend(out, whole);
  });
}

// What the user's model has, whatever a plan makes of its dimensions: (name, type and shape) of
// inputs and stored tensors.
std::set<std::pair<std::string, std::string>> OfTheModel(const search::PlanFile& plan) {
  std::set<std::pair<std::string, std::string>> tensors;
  for (const auto& row : plan.tensors) {
    if (row.kind == "activation" || row.kind == "copy" || row.kind == "partial") continue;
    tensors.emplace(row.name, absl::StrCat(Name(row.type), " ", WholeShapeText(row)));
  }
  return tensors;
}

std::string ModelName(const search::PlanFile& plan) {
  return absl::StrCat(plan.notes.graph_file, " (graph ", plan.notes.graph_hash.substr(0, 12), ")");
}

}  // namespace

absl::Status CheckSameModel(const search::PlanFile& plan, const search::PlanFile& other) {
  // Plans with and without factors are of two graphs of one model.
  const bool same =
      plan.notes.graph_hash == other.notes.graph_hash || OfTheModel(plan) == OfTheModel(other);
  if (same) return absl::OkStatus();
  return UserError("the plan is of another model, or of other sizes of it: ", ModelName(plan),
                   " here, ", ModelName(other),
                   " there; make both plans of one model with yuba partition, and compare models ",
                   "with yuba info");
}

std::string DiffText(const search::PlanFile& plan, const search::PlanFile& other) {
  std::string text;
  absl::StrAppend(&text, "moved: ", Bytes(plan.cost.bytes()), " here, ", Bytes(other.cost.bytes()),
                  " there\n");
  const TensorMap theirs = ByName(other);
  TextTable table(9);
  table.Add({"tensor", "here", "there"});
  int same = 0;
  for (const auto& row : plan.tensors) {
    const auto it = theirs.find(row.name);
    const std::string mine = ShardingText(plan, row);
    const std::string there = it == theirs.end() ? "–" : ShardingText(other, *it->second);
    if (mine == there) {
      ++same;
    } else {
      table.Add({ShortName(row.name), mine, there});
    }
  }
  return absl::StrCat(text, table.ToString(), Counted(same, "tensor"), same == 1 ? " is" : " are",
                      " stored alike\n");
}

}  // namespace yuba::tools
