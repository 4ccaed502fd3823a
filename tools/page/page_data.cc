#include "tools/page/page_data.h"

#include <unordered_map>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "opsemantics/sharding/mesh_text.h"
#include "tools/page/fold.h"
#include "tools/report/plan_report.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::ordered_json;
using Numbers = std::unordered_map<std::string, int>;  // of tensors, by name

Json TensorRows(const search::PlanFile& plan, Numbers& numbers) {
  Json rows = Json::array();
  for (const auto& tensor : plan.tensors) {
    numbers.emplace(tensor.name, static_cast<int>(rows.size()));
    Json dims = Json::array();
    size_t flat = 0;
    for (const auto& factors : tensor.dims) {
      Json dim = Json::array();
      for (int64_t factor : factors) {
        const bool known = flat < tensor.sharding.axes.size();
        dim.push_back({factor, known ? tensor.sharding.axes[flat] : AxisList()});
        ++flat;
      }
      dims.push_back(std::move(dim));
    }
    rows.push_back({{"name", tensor.name},
                    {"kind", tensor.kind},
                    {"type", Name(tensor.type)},
                    {"text", ShardingText(plan, tensor)},
                    {"dims", std::move(dims)},
                    {"bytes", WholeBytes(tensor)},
                    {"shard", ShardBytes(plan, tensor)}});
  }
  return rows;
}

Json NodeRows(const search::PlanFile& plan, const Numbers& numbers) {
  Json rows = Json::array();
  for (const auto& node : plan.nodes) {
    Json reads = Json::array();
    for (const std::string& read : node.reads) {
      if (const auto it = numbers.find(read); it != numbers.end()) reads.push_back(it->second);
    }
    const auto writes = numbers.find(node.writes);
    rows.push_back({{"name", node.name},
                    {"op", node.op},
                    {"from", node.from},
                    {"kernel", node.kernel},
                    {"cut", PartitionText(plan, node)},
                    {"reads", std::move(reads)},
                    {"writes", writes == numbers.end() ? -1 : writes->second}});
  }
  return rows;
}

std::string OverText(const Mesh& mesh, const std::vector<std::string>& names) {
  AxisList axes;
  for (const std::string& name : names) {
    for (size_t a = 0; a < mesh.axes.size(); ++a) {
      if (mesh.axes[a].name == name) axes.push_back(static_cast<uint8_t>(a));
    }
  }
  return axes.size() == names.size() ? AxesText(mesh, axes) : absl::StrJoin(names, "+");
}

Json MoveRows(const search::PlanFile& plan, const Numbers& numbers) {
  Numbers nodes;
  for (const auto& node : plan.nodes) nodes.emplace(node.name, static_cast<int>(nodes.size()));
  Json rows = Json::array();
  for (const auto& row : plan.transfers) {
    const auto node = nodes.find(row.node);
    const auto tensor = numbers.find(row.tensor);
    if (node == nodes.end() || tensor == numbers.end()) continue;  // a file that is made up
    rows.push_back({{"node", node->second},
                    {"tensor", tensor->second},
                    {"kind", static_cast<int>(row.counts_as)},  // a number of `kinds`
                    {"reduces", row.kind == "reduce"},
                    {"as", row.collective},
                    {"over", OverText(plan.mesh, row.over)},
                    {"why", row.why},
                    {"bytes", row.bytes}});
  }
  return rows;
}

Json TreeRows(const std::vector<FoldedItem>& items) {
  static constexpr const char* kWords[] = {"unit", "block", "run", "part"};
  Json rows = Json::array();
  for (const FoldedItem& item : items) {
    Json row = {{"kind", kWords[item.kind]}, {"name", item.name}};
    if (!item.prefix.empty()) row["prefix"] = item.prefix;
    if (item.gradient) row["gradient"] = true;
    if (item.kind == FoldedItem::kUnit) {
      row["nodes"] = item.nodes;
    } else {
      row["items"] = TreeRows(item.items);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json MemoryRows(const search::PlanFile& plan) {
  Json rows = Json::array();
  for (const search::DeviceMemory& memory : plan.notes.memory) {
    rows.push_back({memory.peak, memory.weights, memory.activations, memory.state, memory.buffers,
                    memory.arena, memory.at});
  }
  return rows;
}

}  // namespace

Json PageData(const search::PlanFile& plan) {
  Numbers tensors;
  Json mesh = Json::array();
  for (const MeshAxis& axis : plan.mesh.axes) {
    mesh.push_back({{"name", axis.name}, {"size", axis.size}});
  }
  const search::PlanCost& cost = plan.cost;
  Json kinds = Json::array();
  for (const auto& [kind, word] : search::Words<search::CostKind>::kList) kinds.push_back(word);
  Json data = {{"graph", plan.notes.graph_file},
               {"mesh", std::move(mesh)},
               {"meshText", MeshText(plan.mesh)},
               {"devices", plan.mesh.devices()},
               {"space", SpaceText(plan.space)},
               {"stopped", StoppedText(plan)},
               {"bound", BoundText(plan)},
               {"kinds", std::move(kinds)},
               {"bytes", {cost.weight, cost.activation, cost.partial, cost.halo}},
               {"span", SpanText(!plan.entries.empty())},
               {"entries", EntriesText(plan)},
               {"memory", MemoryRows(plan)}};
  data["tensors"] = TensorRows(plan, tensors);
  data["nodes"] = NodeRows(plan, tensors);
  data["moves"] = MoveRows(plan, tensors);
  data["tree"] = TreeRows(FoldNodes(plan));
  return data;
}

std::string ScriptText(const Json& data) {
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  return absl::StrReplaceAll(text, {{"<", "\\u003c"}});
}

}  // namespace yuba::tools
