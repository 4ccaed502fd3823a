// The summary that `partition` prints: what moves, memory, and the parts of the model that are cut
// alike.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

// Consecutive nodes whose outputs are cut alike: a row of the table of parts.
struct Segment {
  std::string first, last, split;
  int nodes = 0;
  std::map<std::string, int64_t> moved;  // bytes by kind: "weights", "activations", "partial sums"
  int64_t bytes() const {
    int64_t sum = 0;
    for (const auto& [kind, bytes] : moved) sum += bytes;
    return sum;
  }
};

std::vector<Segment> Segments(const search::PlanFile& plan) {
  const TensorMap tensors = ByName(plan);
  const std::set<std::string> weights = Weights(plan);
  std::unordered_map<std::string, std::map<std::string, int64_t>> moved;
  for (const auto& row : plan.transfers) {
    const bool weight = weights.count(row.tensor) > 0;
    moved[row.node][row.kind == "reduce" ? "partial sums"
                    : weight             ? "weights"
                                         : "activations"] += row.bytes;
  }
  std::vector<Segment> segments;
  for (const auto& node : plan.nodes) {
    const auto it = tensors.find(node.writes);
    std::string split = it == tensors.end() ? "" : SplitOf(plan, *it->second);
    const bool copy = it != tensors.end() && it->second->kind == "copy";
    if (copy && !segments.empty())
      split = segments.back().split;  // a copy is part of the row that it stands in
    if (segments.empty() || segments.back().split != split)
      segments.push_back({node.name, "", split});
    Segment& segment = segments.back();
    segment.last = node.name;
    ++segment.nodes;
    for (const auto& [kind, bytes] : moved[node.name]) segment.moved[kind] += bytes;
  }
  return segments;
}

std::string SegmentsText(const search::PlanFile& plan) {
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
    table.Add({segment.nodes == 1
                   ? ShortName(segment.first)
                   : absl::StrCat(ShortName(segment.first), " … ", ShortName(segment.last)),
               absl::StrCat(segment.nodes), segment.split, mostly, Megabytes(segment.bytes())});
  }
  if (hidden > 0) {
    table.Add({"the rest", absl::StrCat(hidden), "", "", Megabytes(hidden_bytes)});
  }
  return table.ToString("  ");
}

// "               prefill 1.2 MB, decode 16 times 30 kB", where there are several entries.
std::string EntriesText(const search::PlanFile& plan) {
  if (plan.entries.empty()) return "";
  std::vector<std::string> texts;
  for (const search::EntryBytes& entry : plan.entries) {
    texts.push_back(absl::StrCat(entry.name, " ",
                                 entry.times == 1 ? "" : absl::StrCat(entry.times, " times "),
                                 Bytes(entry.bytes)));
  }
  return absl::StrCat("               ", absl::StrJoin(texts, ", "), "\n");
}

}  // namespace

std::string SpaceText(const search::Space& space) {
  std::string text = absl::StrCat(search::WordOf(space.nesting), " nesting, ",
                                  space.factors ? "factors" : "no factors");
  if (space.copies) absl::StrAppend(&text, ", copies");
  if (space.accumulators) absl::StrAppend(&text, ", accumulators");
  if (space.replicate == search::Replicate::kAuto) absl::StrAppend(&text, ", replicas");
  if (space.partials) absl::StrAppend(&text, ", partial sums");
  if (space.memory > 0) absl::StrAppend(&text, ", within ", Bytes(space.memory), " a device");
  if (!space.pins.empty()) absl::StrAppend(&text, ", pinned");
  return text;
}

std::string GapText(int64_t bytes, int64_t lower_bound) {
  if (bytes == lower_bound) return "gap 0";
  if (bytes < lower_bound) return "which is above that: run yuba check";
  const double gap = 100.0 * static_cast<double>(bytes - lower_bound) / static_cast<double>(bytes);
  return gap < 0.01 ? "gap below 0.01 %" : absl::StrFormat("gap %.2f %%", gap);
}

std::string PinsCostText(int64_t bytes, int64_t lower_bound, const search::Unpinned& unpinned) {
  const int64_t least = std::max<int64_t>(0, lower_bound - unpinned.bytes);
  const int64_t most = bytes - unpinned.lower_bound;
  const std::string cost = most == 0       ? "nothing"
                           : least == most ? absl::StrCat(Bytes(least), " a step")
                           : least == 0    ? absl::StrCat("at most ", Bytes(most), " a step")
                                        : absl::StrCat("at least ", Bytes(least), " and at most ",
                                                       Bytes(most), " a step");
  return absl::StrCat(cost, " (without them the best plan found moves ", Bytes(unpinned.bytes),
                      ", and none less than ", Bytes(unpinned.lower_bound), ")");
}

std::string NoBoundText(const std::string& search, int64_t bytes) {
  if (bytes == 0) return "optimal, nothing moves";
  const std::string text = "no bound is known";
  return search == "default" ? text : absl::StrCat(text, ", --search ", search, " looks for none");
}

std::string StoppedText(const search::PlanFile& plan) {
  if (plan.stopped.empty()) return "";
  return absl::StrCat("the search was cut short by ",
                      plan.stopped == search::kTimeLimit ? "its time limit" : "an interrupt",
                      ": this is the best plan by then, more time may find better");
}

std::string SummaryText(const search::PlanFile& plan) {
  const int64_t bytes = plan.cost.bytes();
  const int devices = plan.mesh.devices();
  std::string text =
      absl::StrCat(plan.entries.empty() ? "MOVED a step   " : "MOVED in all   ", Bytes(bytes),
                   " in ", Counted(plan.transfers.size(), "transfer"), ", ", Bytes(bytes / devices),
                   " into each device on average\n", EntriesText(plan));
  if (bytes > 0) {
    absl::StrAppendFormat(
        &text,
        "               weights gathered %s (%d %%), activations gathered %s, "
        "partial sums %s, halos %s\n",
        Bytes(plan.cost.weight), static_cast<int>(std::lround(100.0 * plan.cost.weight / bytes)),
        Bytes(plan.cost.activation), Bytes(plan.cost.partial), Bytes(plan.cost.halo));
  }
  if (!plan.notes.memory.empty()) {
    const search::DeviceMemory* device = &plan.notes.memory[FullestDevice(plan)];
    absl::StrAppend(&text, "MEMORY         ", Bytes(device->peak),
                    " on the fullest device at its peak (weights and inputs are ",
                    Bytes(IdealShare(plan)), " if shared out evenly); ",
                    plan.space.memory == 0 ? "no limit given"
                                           : absl::StrCat("limit ", Bytes(plan.space.memory)),
                    ", the program allocates ", Bytes(device->arena), "\n               stored ",
                    Bytes(device->weights), ", activations ", Bytes(device->activations),
                    ", buffers of transfers ", Bytes(device->buffers), "; peak at ", device->at,
                    "\n");
  }
  const std::vector<ReplicatedTensor> replicated = Replicated(plan);
  if (replicated.empty()) {
    text += "REPLICATED     nothing\n";
  } else {
    int64_t extra = 0;
    for (const auto& tensor : replicated) extra += tensor.bytes;
    absl::StrAppend(&text, "REPLICATED     ", Counted(replicated.size(), "tensor"), ", ",
                    Bytes(extra), " together",
                    plan.space.replicate == search::Replicate::kAuto
                        ? ""
                        : ", with too few elements for every part",
                    " (yuba show --memory lists them)\n");
  }
  text += "TIME           not predicted: no machine given\n\n";
  return text + SegmentsText(plan);
}

}  // namespace yuba::tools
