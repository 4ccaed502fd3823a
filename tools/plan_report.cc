#include "tools/plan_report.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/text_table.h"

namespace yuba {
namespace {

using TensorMap = std::unordered_map<std::string, const PlanFile::TensorRow*>;

TensorMap ByName(const PlanFile& plan) {
  TensorMap map;
  for (const auto& row : plan.tensors) map[row.name] = &row;
  return map;
}

// "layer3.12.conv" -> "layer3.*.conv" would hide layer3: only the last run of digits between
// punctuation is a position in a repeated block, so every run of digits becomes a star.
std::string Pattern(const std::string& name) {
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

std::string AxesText(const Mesh& mesh, const AxisList& axes) {
  return absl::StrJoin(axes, "", [&](std::string* out, uint8_t axis) {
    absl::StrAppend(out, axis < mesh.axes.size() ? mesh.axes[axis].name : "?");
  });
}

struct Moved {
  int64_t fetched = 0, delivered = 0;
};

std::unordered_map<std::string, Moved> MovedByNode(const PlanFile& plan) {
  std::unordered_map<std::string, Moved> moved;
  for (const auto& row : plan.transfers) {
    (row.kind == "deliver" ? moved[row.node].delivered : moved[row.node].fetched) += row.bytes;
  }
  return moved;
}

// The sharding with the sizes left out, so that layers of different width look alike.
std::string SplitOf(const PlanFile& plan, const PlanFile::TensorRow& row) {
  std::vector<std::string> splits;
  size_t flat = 0;
  for (size_t d = 0; d < row.dims.size(); ++d) {
    int parts = 1;
    for (size_t f = 0; f < row.dims[d].size(); ++f, ++flat) {
      if (flat < row.cut.axes.size()) parts *= PartCount(plan.mesh, row.cut.axes[flat]);
    }
    if (parts > 1) splits.push_back(absl::StrCat("dim ", d, " in ", parts));
  }
  return splits.empty() ? "whole" : absl::StrJoin(splits, " × ");
}

std::string ShortName(const std::string& name) {
  return name.size() <= 40 ? name : absl::StrCat("…", name.substr(name.size() - 39));
}

}  // namespace

std::string MeshText(const Mesh& mesh) {
  if (mesh.axes.empty()) return "one device";
  return absl::StrJoin(mesh.axes, " ", [](std::string* out, const MeshAxis& axis) {
    absl::StrAppend(out, axis.name, "=", axis.size);
  });
}

std::string ShardingText(const PlanFile& plan, const PlanFile::TensorRow& row) {
  return ToString(row.cut, row.dims, plan.mesh);
}

std::string CutText(const PlanFile& plan, const PlanFile::NodeRow& row) {
  if (row.indices.empty()) return "nothing";
  std::vector<std::string> parts;
  for (size_t i = 0; i < row.indices.size(); ++i) {
    parts.push_back(absl::StrCat(row.indices[i], "/", AxesText(plan.mesh, row.axes[i])));
  }
  return absl::StrJoin(parts, " ");
}

int64_t WholeBytes(const PlanFile::TensorRow& row) {
  int64_t bytes = ByteSize(row.type);
  for (const auto& factors : row.dims) {
    for (int64_t factor : factors) bytes *= factor;
  }
  return bytes;
}

int64_t ShardBytes(const PlanFile& plan, const PlanFile::TensorRow& row) {
  int64_t bytes = ByteSize(row.type);
  size_t flat = 0;
  for (const auto& factors : row.dims) {
    for (int64_t factor : factors) {
      const int64_t parts =
          flat < row.cut.axes.size() ? PartCount(plan.mesh, row.cut.axes[flat]) : 1;
      bytes *= (factor + parts - 1) / parts;
      ++flat;
    }
  }
  return bytes;
}

std::vector<NodeGroup> GroupNodes(const PlanFile& plan, bool fold) {
  const TensorMap tensors = ByName(plan);
  const auto moved = MovedByNode(plan);
  std::vector<NodeGroup> groups;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, size_t> known;
  for (const auto& node : plan.nodes) {
    NodeGroup row;
    row.name = row.first = node.name;
    row.op = node.op;
    row.cut = CutText(plan, node);
    std::string split, weight_split;
    if (const auto it = tensors.find(node.name); it != tensors.end()) {
      row.output = ShardingText(plan, *it->second);
      split = SplitOf(plan, *it->second);
    }
    for (const std::string& read : node.reads) {
      const auto it = tensors.find(read);
      if (it == tensors.end() || it->second->kind != "weight" || !row.weight.empty()) continue;
      row.weight = ShardingText(plan, *it->second);
      weight_split = SplitOf(plan, *it->second);
    }
    if (const auto it = moved.find(node.name); it != moved.end()) {
      row.fetched = it->second.fetched;
      row.delivered = it->second.delivered;
    }
    const auto key = std::make_tuple(fold ? Pattern(node.name) : node.name,
                                     absl::StrCat(node.op, " ", row.cut), split, weight_split);
    const auto [it, added] = known.emplace(key, groups.size());
    if (added) groups.push_back(std::move(row));
    NodeGroup& group = groups[it->second];
    if (!added) {
      group.name = Pattern(node.name);
      group.fetched += row.fetched;
      group.delivered += row.delivered;
      if (group.output != row.output) group.output = split;
      if (group.weight != row.weight) group.weight = weight_split;
    }
    ++group.count;
  }
  return groups;
}

std::vector<ReplicatedTensor> Replicated(const PlanFile& plan) {
  std::vector<ReplicatedTensor> result;
  for (const auto& row : plan.tensors) {
    int64_t parts = 1;
    for (const AxisList& axes : row.cut.axes) parts *= PartCount(plan.mesh, axes);
    if (parts >= plan.mesh.devices()) continue;
    result.push_back({row.name, ShardingText(plan, row), WholeBytes(row), plan.mesh.devices() / parts});
  }
  return result;
}

namespace {

struct Segment {
  std::string first, last, split;
  int nodes = 0;
  std::map<std::string, int64_t> moved;  // by kind of what moves
  int64_t bytes() const {
    int64_t sum = 0;
    for (const auto& [kind, bytes] : moved) sum += bytes;
    return sum;
  }
};

std::vector<Segment> Segments(const PlanFile& plan) {
  const TensorMap tensors = ByName(plan);
  std::unordered_map<std::string, std::map<std::string, int64_t>> moved;
  for (const auto& row : plan.transfers) {
    const auto it = tensors.find(row.tensor);
    const bool weight = it != tensors.end() && it->second->kind == "weight";
    moved[row.node][row.kind == "deliver" ? "partial sums" : weight ? "weights" : "activations"] +=
        row.bytes;
  }
  std::vector<Segment> segments;
  for (const auto& node : plan.nodes) {
    const auto it = tensors.find(node.name);
    const std::string split = it == tensors.end() ? "" : SplitOf(plan, *it->second);
    if (segments.empty() || segments.back().split != split) segments.push_back({node.name, "", split});
    Segment& segment = segments.back();
    segment.last = node.name;
    ++segment.nodes;
    for (const auto& [kind, bytes] : moved[node.name]) segment.moved[kind] += bytes;
  }
  return segments;
}

std::string SegmentsText(const PlanFile& plan) {
  std::vector<Segment> segments = Segments(plan);
  constexpr size_t kRows = 12;
  int hidden = 0;
  int64_t hidden_bytes = 0;
  if (segments.size() > kRows) {
    std::vector<int64_t> sizes;
    for (const Segment& segment : segments) sizes.push_back(segment.bytes());
    std::nth_element(sizes.begin(), sizes.begin() + kRows - 1, sizes.end(), std::greater<>());
    const int64_t least = sizes[kRows - 1];
    std::vector<Segment> kept;
    for (Segment& segment : segments) {
      if (segment.bytes() >= least && kept.size() < kRows) {
        kept.push_back(std::move(segment));
      } else {
        hidden += segment.nodes;
        hidden_bytes += segment.bytes();
      }
    }
    segments = std::move(kept);
  }
  TextTable table(4);
  table.Add({"part", "nodes", "output split", "mostly", "moved MB"});
  for (const Segment& segment : segments) {
    std::string mostly;
    int64_t most = 0;
    for (const auto& [kind, bytes] : segment.moved) {
      if (bytes > most) std::tie(mostly, most) = std::make_pair(kind, bytes);
    }
    table.Add({segment.nodes == 1 ? ShortName(segment.first)
                                  : absl::StrCat(ShortName(segment.first), " … ", ShortName(segment.last)),
               absl::StrCat(segment.nodes), segment.split, mostly, Megabytes(segment.bytes())});
  }
  if (hidden > 0) {
    table.Add({"the rest", absl::StrCat(hidden), "", "", Megabytes(hidden_bytes)});
  }
  return table.ToString("  ");
}

const DeviceMemory* LargestDevice(const PlanFile& plan) {
  const auto& memory = plan.notes.memory;
  const auto it = std::max_element(memory.begin(), memory.end(),
                                   [](const auto& a, const auto& b) { return a.peak < b.peak; });
  return it == memory.end() ? nullptr : &*it;
}

int64_t IdealShare(const PlanFile& plan) {
  int64_t stored = 0;
  for (const auto& row : plan.tensors) {
    if (row.kind != "activation") stored += WholeBytes(row);
  }
  return stored / std::max(1, plan.mesh.devices());
}

}  // namespace

std::string SummaryText(const PlanFile& plan) {
  const int64_t bytes = plan.cost.bytes();
  const int devices = plan.mesh.devices();
  std::string text =
      absl::StrCat("MOVED a step   ", Bytes(bytes), " in ", plan.transfers.size(), " transfers, ",
                   Bytes(bytes / devices), " into each device\n");
  if (bytes > 0) {
    absl::StrAppendFormat(&text, "               weights fetched %s (%d %%), activations fetched %s, "
                          "partial sums %s, halos %s\n", Bytes(plan.cost.weight),
                          static_cast<int>(100.0 * plan.cost.weight / bytes + 0.5),
                          Bytes(plan.cost.activation), Bytes(plan.cost.partial), Bytes(plan.cost.halo));
  }
  if (const DeviceMemory* device = LargestDevice(plan)) {
    absl::StrAppend(&text, "MEMORY         ", Bytes(device->peak),
                    " on the fullest device at its peak (weights and inputs are ", Bytes(IdealShare(plan)),
                    " if shared out evenly); no limit given\n               stored ",
                    Bytes(device->weights), ", activations ", Bytes(device->activations),
                    ", fetch and partial buffers ", Bytes(device->buffers), "; peak at ",
                    device->at, "\n");
  }
  const std::vector<ReplicatedTensor> replicated = Replicated(plan);
  if (replicated.empty()) {
    text += "REPLICATED     nothing\n";
  } else {
    int64_t extra = 0;
    for (const auto& tensor : replicated) extra += tensor.bytes;
    absl::StrAppend(&text, "REPLICATED     ", replicated.size(), " tensors, ", Bytes(extra),
                    " together, that have too few elements for every part (yuba show lists them)\n");
  }
  text += "TIME           not predicted: no machine given\n\n";
  return text + SegmentsText(plan);
}

std::string NodeTableText(const PlanFile& plan, bool all) {
  TextTable table(5);
  table.Add({"node", "splits its", "output as stored", "weight as stored", "", "fetch", "sums", "MB"});
  int quiet = 0;
  for (const NodeGroup& group : GroupNodes(plan, !all)) {
    if (!all && group.fetched + group.delivered == 0) {
      quiet += group.count;
      continue;
    }
    table.Add({ShortName(group.name), group.cut, group.output,
               group.weight.empty() ? "–" : group.weight,
               group.count > 1 ? absl::StrCat(group.count, " ", group.op) : group.op,
               Megabytes(group.fetched), Megabytes(group.delivered),
               Megabytes(group.fetched + group.delivered)});
  }
  std::string text = table.ToString();
  if (quiet > 0) absl::StrAppend(&text, quiet, " other nodes move nothing.  All rows: --all\n");
  return text;
}

std::string LargestTransfersText(const PlanFile& plan, size_t count) {
  std::vector<const PlanFile::TransferRow*> rows;
  for (const auto& row : plan.transfers) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->bytes > b->bytes; });
  if (rows.size() > count) rows.resize(count);
  if (rows.empty()) return "nothing moves\n";
  TextTable table(4);
  table.Add({"largest transfers", "what", "as", "because", "MB"});
  for (const auto* row : rows) {
    table.Add({ShortName(row->node), absl::StrCat(row->kind, " ", ShortName(row->tensor)),
               absl::StrCat(row->collective, row->over.empty() ? "" : " over ",
                            absl::StrJoin(row->over, "")),
               row->why, Megabytes(row->bytes)});
  }
  return table.ToString();
}

std::string TransfersText(const PlanFile& plan) {
  return LargestTransfersText(plan, plan.transfers.size());
}

std::string MemoryText(const PlanFile& plan) {
  TextTable table(1);
  table.Add({"device", "peak MB", "stored", "activations", "buffers", "at"});
  for (size_t d = 0; d < plan.notes.memory.size(); ++d) {
    const DeviceMemory& memory = plan.notes.memory[d];
    table.Add({absl::StrCat(d), Megabytes(memory.peak), Megabytes(memory.weights),
               Megabytes(memory.activations), Megabytes(memory.buffers), ShortName(memory.at)});
  }
  std::string text = table.ToString();
  absl::StrAppend(&text, "ideal share of what is stored: ", Bytes(IdealShare(plan)), " a device\n");
  const std::vector<ReplicatedTensor> replicated = Replicated(plan);
  if (replicated.empty()) return text + "replicated: nothing\n";
  TextTable copies(2);
  copies.Add({"replicated (too few elements)", "as stored", "bytes", "copies"});
  for (const auto& tensor : replicated) {
    copies.Add({ShortName(tensor.name), tensor.sharding, absl::StrCat(tensor.bytes),
                absl::StrCat(tensor.copies)});
  }
  return text + copies.ToString();
}

std::string KernelsText(const PlanFile& plan) {
  TextTable table(3);
  table.Add({"node", "operator", "kernel"});
  for (const auto& node : plan.nodes) table.Add({ShortName(node.name), node.op, node.kernel});
  return table.ToString();
}

std::string TensorText(const PlanFile& plan, const PlanFile::TensorRow& row) {
  std::string text = absl::StrCat(row.name, "  ", row.kind, " ", Name(row.type), " ",
                                  ShardingText(plan, row), "  ", Bytes(WholeBytes(row)),
                                  ", at most ", Bytes(ShardBytes(plan, row)), " on a device\n");
  for (const auto& node : plan.nodes) {
    if (node.name == row.name) absl::StrAppend(&text, "  made by ", node.name, " (", node.op, ")\n");
    if (std::count(node.reads.begin(), node.reads.end(), row.name) > 0) {
      absl::StrAppend(&text, "  read by ", node.name, " (", node.op, "), which cuts ",
                      CutText(plan, node), "\n");
    }
  }
  for (const auto& move : plan.transfers) {
    if (move.tensor != row.name) continue;
    absl::StrAppend(&text, "  ", move.kind, " for ", move.node, ": ", Bytes(move.bytes), " ",
                    move.collective, ": ", move.why, "\n");
  }
  return text;
}

std::string NodeText(const PlanFile& plan, const PlanFile::NodeRow& row) {
  std::string text = absl::StrCat(row.name, "  ", row.op, " of ", row.from, ", cuts ",
                                  CutText(plan, row), ", kernel ", row.kernel, "\n");
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

std::string DiffText(const PlanFile& plan, const PlanFile& other) {
  std::string text = absl::StrCat("moved: ", Bytes(plan.cost.bytes()), " here, ",
                                  Bytes(other.cost.bytes()), " there\n");
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
  return absl::StrCat(text, table.ToString(), same, " tensors are stored alike\n");
}

}  // namespace yuba
