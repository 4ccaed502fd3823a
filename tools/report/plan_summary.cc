// The summary that `partition` prints: what moves, memory, and the parts of the model that are cut
// alike.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

constexpr size_t kRows = 16;  // of the table of what moves, at most
// Shares of the bytes: with the first the table has rows enough, below the second it is too fine.
constexpr double kEnough = 0.98, kTooFine = 0.9;
constexpr char kSeveral[] = "several";  // ways to cut outputs

// The groups of a coarser table: those of one operator, and of outputs cut alike or anyhow.
std::vector<NodeGroup> Coarser(const std::vector<NodeGroup>& groups, bool cut_alike) {
  std::vector<NodeGroup> rows;
  std::map<std::pair<std::string, std::string>, size_t> known;
  for (const NodeGroup& group : groups) {
    const auto [it, added] =
        known.emplace(std::make_pair(group.op, cut_alike ? group.split : ""), rows.size());
    if (added) {
      rows.push_back(group);
      continue;
    }
    NodeGroup& row = rows[it->second];
    row.name = "various";
    row.count += group.count;
    row.gathered += group.gathered;
    row.reduced += group.reduced;
    row.weights += group.weights;
    if (row.split != group.split) row.split = kSeveral;
  }
  return rows;
}

int64_t BytesOf(const std::vector<NodeGroup>& groups) {
  int64_t bytes = 0;
  for (const NodeGroup& group : groups) bytes += group.bytes();
  return bytes;
}

// Splits the groups into those that move most, in the order of the program, and the others. What
// moves nothing is in neither.
std::pair<std::vector<NodeGroup>, std::vector<NodeGroup>> Largest(
    const std::vector<NodeGroup>& groups) {
  std::vector<size_t> order;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].bytes() > 0) order.push_back(g);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return groups[a].bytes() > groups[b].bytes(); });
  const double enough = kEnough * static_cast<double>(BytesOf(groups));
  double shown = 0;
  size_t count = 0;
  while (count < order.size() && count < kRows && shown < enough) {
    shown += static_cast<double>(groups[order[count++]].bytes());
  }
  if (order.size() == count + 1) ++count;  // it takes no more space than "the rest"
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
  std::pair<std::vector<NodeGroup>, std::vector<NodeGroup>> parts;
  for (size_t i = 0; i < order.size(); ++i) {
    (i < count ? parts.first : parts.second).push_back(groups[order[i]]);
  }
  return parts;
}

// One row of all that is left.
NodeGroup Rest(const std::vector<NodeGroup>& groups) {
  NodeGroup rest;
  for (const NodeGroup& group : groups) {
    rest.count += group.count;
    rest.gathered += group.gathered;
    rest.reduced += group.reduced;
    rest.weights += group.weights;
  }
  rest.name = "the rest";
  return rest;
}

const char* MostlyText(const NodeGroup& group) {
  const int64_t activations = group.gathered - group.weights;
  if (group.reduced >= std::max(group.weights, activations)) return "partial sums";
  return group.weights >= activations ? "weights" : "activations";
}

std::string MovedTable(const search::PlanFile& plan) {
  const std::vector<NodeGroup> fine = GroupNodes(plan, true);
  const double all = static_cast<double>(BytesOf(fine));
  if (all == 0) return "";
  auto [rows, rest] = Largest(fine);
  for (const bool cut_alike : {true, false}) {
    if (static_cast<double>(BytesOf(rows)) >= kTooFine * all) break;
    std::tie(rows, rest) = Largest(Coarser(fine, cut_alike));
  }
  if (!rest.empty()) rows.push_back(Rest(rest));
  int64_t largest = 0;
  for (const NodeGroup& row : rows) largest = std::max(largest, row.bytes());
  const ByteUnit unit(largest);
  TextTable table(4);
  table.Add({"what moves", "operator", "output split", "mostly", "moved " + unit.name(), "%"});
  for (const NodeGroup& row : rows) {
    table.Add({ShortName(row.name), row.op.empty() ? Counted(row.count, "node") : NodesText(row),
               row.split, MostlyText(row), unit.Text(row.bytes()),
               absl::StrFormat("%.1f", 100 * static_cast<double>(row.bytes()) / all)});
  }
  int quiet = 0;
  for (const NodeGroup& group : fine) {
    if (group.bytes() == 0 && group.op != "copy") quiet += group.count;
  }
  return absl::StrCat(table.ToString("  "),
                      quiet > 0 ? absl::StrCat("  ", QuietText(quiet), "\n") : "");
}

}  // namespace

std::string EntriesText(const search::PlanFile& plan) {
  std::vector<std::string> texts;
  for (const search::EntryBytes& entry : plan.entries) {
    texts.push_back(absl::StrCat(entry.name, " ",
                                 entry.times == 1 ? "" : absl::StrCat(entry.times, " times "),
                                 Bytes(entry.bytes)));
  }
  return absl::StrJoin(texts, ", ");
}

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

std::string WordsOfTransfers(const std::string& indent) {
  return absl::StrCat(
      indent,
      "stored: where a tensor lies between nodes; gathered: what a node reads that others\n",
      indent, "store; sums: the partial results that it sends to where its output is stored\n");
}

std::string GapText(int64_t value, int64_t lower_bound) {
  if (value == lower_bound) return "gap 0";
  if (value < lower_bound) return "which is above that: run yuba check";
  const double gap = 100.0 * static_cast<double>(value - lower_bound) / static_cast<double>(value);
  return gap < 0.01 ? "gap below 0.01 %" : absl::StrFormat("gap %.2f %%", gap);
}

std::string ValueText(search::ObjectiveKind objective, int64_t value) {
  return objective == search::ObjectiveKind::kTime ? Duration(value) : Bytes(value);
}

std::string BoundText(search::ObjectiveKind objective, int64_t value, int64_t lower_bound,
                      int64_t asked_bound) {
  const auto text = [objective](int64_t bound) { return ValueText(objective, bound); };
  if (asked_bound == lower_bound && (asked_bound > 0 || value == 0)) {
    return absl::StrCat("lower bound ", text(lower_bound), ", ", GapText(value, lower_bound));
  }
  if (asked_bound > 0) {
    return absl::StrCat("lower bound ", text(asked_bound), ", ", GapText(value, asked_bound),
                        " (no proof of it is kept; in its space alone ", text(lower_bound), ")");
  }
  if (lower_bound == 0) return "no bound is known";
  return absl::StrCat("lower bound in its space alone ", text(lower_bound),
                      "; no bound is known for all spaces, so no gap");
}

std::string BoundText(const search::PlanFile& plan) {
  const int64_t value = plan.value();
  const auto bound = [&](int64_t of) { return ValueText(plan.space.objective.kind(), of); };
  if (plan.proof.kind == search::ProofKind::kNone) {
    const auto asked = plan.notes.options.find("search");
    return NoBoundText(asked == plan.notes.options.end() ? plan.search : asked->second, value);
  }
  if (plan.lower_bound == 0 && value > 0) return "no bound is known";
  std::string text = absl::StrCat("lower bound in its space ", bound(plan.lower_bound), ", ",
                                  GapText(value, plan.lower_bound));
  if (plan.asked_bound == 0 && value > 0) {
    absl::StrAppend(&text, "; no bound is known for all spaces");
  } else if (plan.asked_bound < plan.lower_bound) {
    absl::StrAppend(&text, "; over all spaces ", bound(plan.asked_bound), ", ",
                    GapText(value, plan.asked_bound), ", says the search, whose proof of that is ",
                    "not in the file");
  }
  return plan.replayed ? text : absl::StrCat(text, ", ", kNotReplayed);
}

std::string PinsCostText(search::ObjectiveKind objective, int64_t value, int64_t lower_bound,
                         const search::Unpinned& unpinned, const char* span) {
  const auto text = [objective](int64_t of) { return ValueText(objective, of); };
  const char* moves = objective == search::ObjectiveKind::kTime ? "takes " : "moves ";
  const int64_t least = std::max<int64_t>(0, lower_bound - unpinned.value);
  const int64_t most = value - unpinned.lower_bound;
  const std::string cost =
      most == 0       ? "nothing"
      : least == most ? absl::StrCat(text(least), " ", span)
      : least == 0    ? absl::StrCat("at most ", text(most), " ", span)
                   : absl::StrCat("at least ", text(least), " and at most ", text(most), " ", span);
  if (unpinned.value == unpinned.lower_bound) {
    return absl::StrCat(cost, " (the best plan without them ", moves, text(unpinned.value), ")");
  }
  return absl::StrCat(cost, " (without them the best plan found ", moves, text(unpinned.value),
                      ", and none less than ", text(unpinned.lower_bound), ")");
}

std::string NoBoundText(const std::string& asked, int64_t value) {
  if (value == 0) return "optimal, nothing moves";
  const std::string text = "no bound is known";
  return asked == "default" ? text : absl::StrCat(text, ", --search ", asked, " looks for none");
}

std::string StoppedText(const search::PlanFile& plan) {
  if (plan.stopped.empty()) return "";
  return absl::StrCat("the search was cut short by ",
                      plan.stopped == search::kTimeLimit ? "its time limit" : "an interrupt",
                      ": this is the best plan by then, more time may find better");
}

namespace {

// "17 tensors, 5.2 kB together: ...": what is stored more than once, and why.
std::string ReplicatedText(const search::PlanFile& plan, const Alternatives& alternatives) {
  constexpr char kLabel[] = "REPLICATED     ", kIndent[] = "               ";
  const std::vector<ReplicatedTensor> replicated = Replicated(plan);
  std::string text = absl::StrCat(kLabel, "nothing\n");
  if (!replicated.empty()) {
    int64_t bytes = 0, fewer = 0;
    const ReplicatedTensor* largest = nullptr;  // of those in fewer parts than they allow
    for (const ReplicatedTensor& tensor : replicated) {
      bytes += tensor.bytes;
      if (tensor.parts == tensor.most) continue;
      ++fewer;
      if (largest == nullptr || tensor.bytes > largest->bytes) largest = &tensor;
    }
    text = absl::StrCat(kLabel, Counted(replicated.size(), "tensor"), ", ", Bytes(bytes),
                        " together (yuba show --arena lists them)\n");
    if (plan.space.replicate != search::Replicate::kAuto) {
      const auto short_ones = static_cast<int64_t>(replicated.size()) - fewer;
      if (short_ones > 0) {
        absl::StrAppend(&text, kIndent, short_ones, short_ones == 1 ? " has" : " have",
                        " no dimension long enough for more parts\n");
      }
      if (fewer > 0) {
        absl::StrAppend(&text, kIndent, fewer, fewer == 1 ? " is" : " are",
                        " in fewer parts than the dimensions allow, as ", ShortName(largest->name),
                        " ", largest->sharding, " in ", largest->parts, " of ", largest->most,
                        ";\n", kIndent, "in the most parts ", fewer == 1 ? "it" : "they",
                        " would move at most ", Bytes(alternatives.bytes_of_most_parts), " more ",
                        SpanText(!plan.entries.empty()), "\n");
      }
    }
  }
  if (!alternatives.replicas.empty()) {
    absl::StrAppend(&text, kIndent, alternatives.replicas, "\n");
  }
  return text;
}

// A line where the plan has tensors of f16 or bf16; "" where it has none.
std::string SmallFloatsText(const search::PlanFile& plan) {
  const bool small = std::any_of(
      plan.tensors.begin(), plan.tensors.end(), [](const search::PlanFile::TensorRow& tensor) {
        return tensor.type == ElementType::kF16 || tensor.type == ElementType::kBF16;
      });
  return small ? "               on processors f16 and bf16 take up to 2.5 times as long as f32 "
                 "(docs/host_speed.md)\n"
               : "";
}

}  // namespace

std::string SummaryText(const search::PlanFile& plan, const Alternatives& alternatives) {
  const int64_t bytes = plan.cost.bytes();
  const int devices = plan.mesh.devices();
  std::string text = absl::StrCat("MOVED ", SpanText(!plan.entries.empty()), "   ", Bytes(bytes),
                                  " in ", Counted(plan.transfers.size(), "transfer"), ", ",
                                  Bytes(bytes / devices), " into each device on average\n");
  if (!plan.entries.empty()) absl::StrAppend(&text, "               ", EntriesText(plan), "\n");
  if (bytes > 0) {
    absl::StrAppendFormat(&text,
                          "               weights gathered %s (%d %%), activations gathered %s, "
                          "partial sums %s, halos %s\n%s",
                          Bytes(plan.cost.weight),
                          static_cast<int>(std::lround(100.0 * plan.cost.weight / bytes)),
                          Bytes(plan.cost.activation), Bytes(plan.cost.partial),
                          Bytes(plan.cost.halo), WordsOfTransfers("               "));
  }
  if (!plan.notes.memory.empty()) {
    const search::DeviceMemory& device = plan.notes.memory[FullestDevice(plan)];
    absl::StrAppend(&text, "MEMORY         ", Bytes(device.arena),
                    " must fit on each device: what its program allocates; ",
                    plan.space.memory == 0 ? "no limit given"
                                           : absl::StrCat("limit ", Bytes(plan.space.memory)),
                    "\n               the fullest fills ", Bytes(device.peak),
                    " of it at its peak, at ", device.at, ":\n               stored ",
                    Bytes(device.weights), " (weights and inputs are ", Bytes(IdealShare(plan)),
                    " if shared out evenly), activations ", Bytes(device.activations),
                    ", buffers of transfers ", Bytes(device.buffers), "\n");
  }
  if (!alternatives.copies.empty()) {
    absl::StrAppend(&text, "               ", alternatives.copies, "\n");
  }
  text += ReplicatedText(plan, alternatives);
  absl::StrAppend(&text, TimeText(plan, alternatives.no_machine), SmallFloatsText(plan), "\n");
  return text + MovedTable(plan);
}

}  // namespace yuba::tools
