#include "tools/report/plan_report.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "search/check/part_counts.h"
#include "tools/report/plan_rows.h"

namespace yuba::tools {
namespace {

struct Moved {
  int64_t gathered = 0, reduced = 0, weights = 0;  // weights: of those gathered
};

std::unordered_map<std::string, Moved> MovedByNode(const search::PlanFile& plan) {
  std::unordered_map<std::string, Moved> moved;
  for (const auto& row : plan.transfers) {
    Moved& node = moved[row.node];
    (row.kind == "reduce" ? node.reduced : node.gathered) += row.bytes;
    if (row.counts_as == search::CostKind::kWeight) node.weights += row.bytes;
  }
  return moved;
}

// Runs of digits, stars, and what stands between them.
std::vector<std::string> Runs(const std::string& name) {
  std::vector<std::string> runs;
  bool numbers = false;
  for (const char c : name) {
    const bool number = c == '*' || std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (runs.empty() || number != numbers) runs.emplace_back();
    runs.back() += c;
    numbers = number;
  }
  return runs;
}

}  // namespace

TensorMap ByName(const search::PlanFile& plan) {
  TensorMap map;
  for (const auto& row : plan.tensors) map[row.name] = &row;
  return map;
}

std::string SplitOf(const search::PlanFile& plan, const search::PlanFile::TensorRow& row) {
  std::vector<std::string> splits;
  size_t flat = 0;
  for (size_t d = 0; d < row.dims.size(); ++d) {
    int parts = 1;
    for (size_t f = 0; f < row.dims[d].size(); ++f, ++flat) {
      if (flat < row.sharding.axes.size()) parts *= PartCount(plan.mesh, row.sharding.axes[flat]);
    }
    if (parts > 1) splits.push_back(absl::StrCat("dim ", d, " in ", parts));
  }
  return splits.empty() ? "whole" : absl::StrJoin(splits, " × ");
}

std::set<std::string> Weights(const search::PlanFile& plan) {
  std::set<std::string> weights, copies;
  for (const auto& row : plan.tensors) {
    if (row.kind == "weight") weights.insert(row.name);
    if (row.kind == "copy") copies.insert(row.name);
  }
  for (const auto& node : plan.nodes) {
    if (copies.count(node.name) == 0 || node.reads.empty()) continue;
    if (weights.count(node.reads[0]) > 0) weights.insert(node.name);
  }
  return weights;
}

// Which run of digits is the position in a repeated block cannot be told, so each becomes a star.
std::string NamePattern(const std::string& name) {
  std::string pattern;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!std::isdigit(static_cast<unsigned char>(name[i]))) {
      pattern += name[i];
    } else if (pattern.empty() || pattern.back() != '*') {
      pattern += '*';
    }
  }
  return pattern;
}

std::string CommonPattern(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = Runs(a), right = Runs(b);
  if (left.size() != right.size()) return NamePattern(a);
  std::string pattern;
  for (size_t i = 0; i < left.size(); ++i) pattern += left[i] == right[i] ? left[i] : "*";
  return pattern;
}

std::string NodesText(const NodeGroup& group) {
  return group.count > 1 ? absl::StrCat(group.count, " x ", group.op) : group.op;
}

std::string ShortName(const std::string& name) {
  return name.size() <= 40 ? name : absl::StrCat("…", name.substr(name.size() - 39));
}

int64_t IdealShare(const search::PlanFile& plan) {
  int64_t stored = 0;
  for (const auto& row : plan.tensors) {
    const bool transient = row.kind == "copy" || row.kind == "partial";
    if (row.kind != "activation" && !transient) stored += WholeBytes(row);
  }
  return stored / std::max(1, plan.mesh.devices());
}

int FullestDevice(const search::PlanFile& plan) {
  const auto& memory = plan.notes.memory;
  const auto fullest = std::max_element(
      memory.begin(), memory.end(), [](const auto& a, const auto& b) { return a.peak < b.peak; });
  return fullest == memory.end() ? 0 : static_cast<int>(fullest - memory.begin());
}

std::string ShardingText(const search::PlanFile& plan, const search::PlanFile::TensorRow& row) {
  return ToString(row.sharding, row.dims, plan.mesh);
}

std::string PartitionText(const search::PlanFile& plan, const search::PlanFile::NodeRow& row) {
  if (row.indices.empty()) return "nothing";
  std::vector<std::string> parts;
  for (size_t i = 0; i < row.indices.size(); ++i) {
    parts.push_back(absl::StrCat(row.indices[i], "/", AxesText(plan.mesh, row.axes[i])));
  }
  return absl::StrJoin(parts, " ");
}

int64_t WholeBytes(const search::PlanFile::TensorRow& row) {
  int64_t bytes = ByteSize(row.type);
  for (const auto& factors : row.dims) {
    for (int64_t factor : factors) bytes *= factor;
  }
  return bytes;
}

int64_t ShardBytes(const search::PlanFile& plan, const search::PlanFile::TensorRow& row) {
  int64_t bytes = ByteSize(row.type);
  size_t flat = 0;
  for (const auto& factors : row.dims) {
    for (int64_t factor : factors) {
      const int64_t parts =
          flat < row.sharding.axes.size() ? PartCount(plan.mesh, row.sharding.axes[flat]) : 1;
      bytes *= (factor + parts - 1) / parts;
      ++flat;
    }
  }
  return bytes;
}

std::vector<NodeGroup> GroupNodes(const search::PlanFile& plan, bool fold) {
  const TensorMap tensors = ByName(plan);
  const std::set<std::string> weights = Weights(plan);
  const auto moved = MovedByNode(plan);
  std::vector<NodeGroup> groups;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, size_t> known;
  for (const auto& node : plan.nodes) {
    NodeGroup row;
    row.name = row.first = node.name;
    row.op = node.op;
    row.partition = PartitionText(plan, node);
    std::string weight_split;
    if (const auto it = tensors.find(node.writes); it != tensors.end()) {
      row.output = ShardingText(plan, *it->second);
      row.split = SplitOf(plan, *it->second);
    }
    for (const std::string& read : node.reads) {
      const auto it = tensors.find(read);
      if (it == tensors.end() || weights.count(read) == 0 || !row.weight.empty()) continue;
      row.weight = ShardingText(plan, *it->second);
      weight_split = SplitOf(plan, *it->second);
    }
    if (const auto it = moved.find(node.name); it != moved.end()) {
      row.gathered = it->second.gathered;
      row.reduced = it->second.reduced;
      row.weights = it->second.weights;
    }
    const auto key =
        std::make_tuple(fold ? NamePattern(node.name) : node.name,
                        absl::StrCat(node.op, " ", row.partition), row.split, weight_split);
    const auto [it, added] = known.emplace(key, groups.size());
    if (added) {
      groups.push_back(std::move(row));
    } else {
      NodeGroup& group = groups[it->second];
      group.name = CommonPattern(node.name, group.name);
      group.gathered += row.gathered;
      group.reduced += row.reduced;
      group.weights += row.weights;
      if (group.output != row.output) group.output = group.split;
      if (group.weight != row.weight) group.weight = weight_split;
    }
    ++groups[it->second].count;
  }
  return groups;
}

namespace {

// The most parts that the dimensions of the tensor can be cut into.
int64_t MostParts(const search::PlanFile& plan, const search::PlanFile::TensorRow& row) {
  Tensor tensor;
  for (const auto& factors : row.dims) {
    tensor.type.dims.insert(tensor.type.dims.end(), factors.begin(), factors.end());
  }
  int64_t most = 1;
  for (const search::Grid& grid : search::EveryTensorGrid(plan.mesh, tensor, false, {})) {
    most = std::max(most, search::Product(search::PartsOf(grid)));
  }
  return most;
}

}  // namespace

std::vector<ReplicatedTensor> Replicated(const search::PlanFile& plan) {
  std::vector<ReplicatedTensor> result;
  std::map<std::vector<std::vector<int64_t>>, int64_t> most;  // by dimensions
  for (const auto& row : plan.tensors) {
    int64_t parts = 1;
    for (const AxisList& axes : row.sharding.axes) parts *= PartCount(plan.mesh, axes);
    if (parts >= plan.mesh.devices() || row.kind == "copy" || row.kind == "partial") continue;
    const auto [it, is_new] = most.emplace(row.dims, 0);
    if (is_new) it->second = MostParts(plan, row);
    result.push_back({row.name, ShardingText(plan, row), WholeBytes(row), parts,
                      plan.mesh.devices() / parts, it->second});
  }
  return result;
}

}  // namespace yuba::tools
