// The tables of `show`: nodes, transfers, memory, kernels.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

std::string OverText(const Mesh& mesh, const std::vector<std::string>& names) {
  AxisList axes;
  for (const std::string& name : names) {
    const auto axis = std::find_if(mesh.axes.begin(), mesh.axes.end(),
                                   [&](const MeshAxis& one) { return one.name == name; });
    if (axis == mesh.axes.end())
      return absl::StrJoin(names, "+");  // the file was not written by this command
    axes.push_back(static_cast<uint8_t>(axis - mesh.axes.begin()));
  }
  return AxesText(mesh, axes);
}

// At most `count` of the rows, those of the most bytes.
template <typename Row>
std::vector<const Row*> LargestOf(const std::vector<Row>& all, size_t count) {
  std::vector<const Row*> rows;
  for (const Row& row : all) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row* a, const Row* b) { return a->bytes > b->bytes; });
  if (rows.size() > count) rows.resize(count);
  return rows;
}

std::string SmallerText(size_t more) {
  return more > 0 ? absl::StrCat(more, " smaller ones.  All: --arena\n") : "";
}

}  // namespace

std::string QuietText(int count) {
  return absl::StrCat(Counted(count, "other node"), count == 1 ? " moves" : " move", " nothing");
}

std::string NodeTableText(const search::PlanFile& plan, bool all) {
  const std::vector<NodeGroup> groups = GroupNodes(plan, !all);
  int64_t largest = 0;
  for (const NodeGroup& group : groups) largest = std::max(largest, group.bytes());
  const ByteUnit unit(largest);
  TextTable table(5);
  table.Add({"node", "splits its", "output as stored", "weight as stored", "operator",
             "gathered " + unit.name(), "sums " + unit.name(), "moved " + unit.name()});
  int quiet = 0;
  for (const NodeGroup& group : groups) {
    if (!all && group.bytes() == 0) {
      if (group.op != "copy") quiet += group.count;
      continue;
    }
    table.Add({ShortName(group.name), group.partition, group.output,
               group.weight.empty() ? "–" : group.weight, NodesText(group),
               unit.Text(group.gathered), unit.Text(group.reduced), unit.Text(group.bytes())});
  }
  std::string text = table.ToString();
  if (quiet > 0) {
    absl::StrAppend(&text, QuietText(quiet), ".  All rows: --all\n");
  }
  return text;
}

std::string LargestTransfersText(const search::PlanFile& plan, size_t count) {
  std::vector<const search::PlanFile::TransferRow*> rows;
  for (const auto& row : plan.transfers) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->bytes > b->bytes; });
  if (rows.size() > count) rows.resize(count);
  if (rows.empty()) return "nothing moves\n";
  TextTable table(4);
  const ByteUnit unit(rows[0]->bytes);
  table.Add({"largest transfers", "what", "as", "because", unit.name()});
  for (const auto* row : rows) {
    table.Add({ShortName(row->node), absl::StrCat(row->kind, " ", ShortName(row->tensor)),
               absl::StrCat(row->collective, row->over.empty() ? "" : " over ",
                            OverText(plan.mesh, row->over)),
               row->why, unit.Text(row->bytes)});
  }
  return table.ToString();
}

std::string TransfersText(const search::PlanFile& plan) {
  return LargestTransfersText(plan, plan.transfers.size());
}

namespace {

std::string FullestText(const search::PlanFile& plan) {
  if (plan.notes.memory.empty()) return "";
  const int fullest = FullestDevice(plan);
  const search::DeviceMemory& memory = plan.notes.memory[fullest];
  return absl::StrCat("each device must fit ", Bytes(memory.arena),
                      ", what its program allocates; the fullest, ", fullest, ", fills ",
                      Bytes(memory.peak),
                      " of it (unused: slots beyond its own boxes, and gaps)\n");
}

}  // namespace

std::string MemoryText(const search::PlanFile& plan) {
  int64_t largest = 0;
  for (const search::DeviceMemory& memory : plan.notes.memory) {
    largest = std::max({largest, memory.peak, memory.arena - memory.peak});
  }
  const ByteUnit unit(largest);
  TextTable table(1);
  table.Add({"device", "peak " + unit.name(), "stored", "activations", "buffers", "unused", "at"});
  for (size_t d = 0; d < plan.notes.memory.size(); ++d) {
    const search::DeviceMemory& memory = plan.notes.memory[d];
    table.Add({absl::StrCat(d), unit.Text(memory.peak), unit.Text(memory.weights),
               unit.Text(memory.activations), unit.Text(memory.buffers),
               unit.Text(memory.arena - memory.peak), ShortName(memory.at)});
  }
  std::string text = absl::StrCat(table.ToString(), FullestText(plan));
  absl::StrAppend(&text, "ideal share of what is stored: ", Bytes(IdealShare(plan)), " a device\n");
  const std::vector<ReplicatedTensor> replicated = Replicated(plan);
  if (replicated.empty()) return text + "replicated: nothing\n";
  TextTable copies(2);
  copies.Add({"replicated", "as stored", "bytes", "copies", "parts", "most parts"});
  for (const auto& tensor : replicated) {
    copies.Add({ShortName(tensor.name), tensor.sharding, absl::StrCat(tensor.bytes),
                absl::StrCat(tensor.replicas), absl::StrCat(tensor.parts),
                absl::StrCat(tensor.most)});
  }
  return text + copies.ToString();
}

std::string CopiesText(const search::PlanFile& plan, size_t count) {
  if (plan.copies.empty()) return "";
  const auto rows = LargestOf(plan.copies, count);
  const ByteUnit unit(rows[0]->bytes);
  TextTable table(3);
  table.Add({"copy of", "sharding", "live", "readers", unit.name() + " a device"});
  for (const auto* copy : rows) {
    table.Add({ShortName(copy->tensor), copy->sharding,
               absl::StrCat(ShortName(copy->first), " … ", ShortName(copy->last)),
               absl::StrCat(copy->readers), unit.Text(copy->bytes)});
  }
  return absl::StrCat("copies\n", table.ToString(), SmallerText(plan.copies.size() - rows.size()),
                      "\n");
}

std::string AccumulatorsText(const search::PlanFile& plan, size_t count) {
  if (plan.accumulators.empty()) return "";
  const auto rows = LargestOf(plan.accumulators, count);
  const ByteUnit unit(rows[0]->bytes);
  TextTable table(4);
  table.Add(
      {"accumulator", "sharding", "groups over", "live", "partials", unit.name() + " a device"});
  for (const auto* row : rows) {
    table.Add({ShortName(row->accumulator), row->sharding, row->over,
               absl::StrCat(ShortName(row->first), " … ", ShortName(row->last)),
               absl::StrCat(row->partials), unit.Text(row->bytes)});
  }
  return absl::StrCat(table.ToString(), SmallerText(plan.accumulators.size() - rows.size()), "\n");
}

std::string KernelsText(const search::PlanFile& plan) {
  TextTable table(3);
  table.Add({"node", "operator", "kernel"});
  for (const auto& node : plan.nodes) table.Add({ShortName(node.name), node.op, node.kernel});
  return table.ToString();
}

}  // namespace yuba::tools
