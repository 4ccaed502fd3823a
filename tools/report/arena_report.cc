#include "tools/report/arena_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/memory/memory_use.h"
#include "nlohmann/json.hpp"
#include "tools/report/plan_rows.h"

namespace yuba::tools {
namespace {

using compiler::BufferRole;

std::string KindOf(BufferRole role, const std::string& tensor_kind) {
  switch (role) {
    case BufferRole::kWritten: return "written";
    case BufferRole::kGathered: return tensor_kind == "copy" ? "copy" : "gathered";
    case BufferRole::kActivation: return tensor_kind == "partial" ? "partial" : "activation";
    case BufferRole::kStored: break;
  }
  const bool computed = tensor_kind.empty() || tensor_kind == "activation";
  return computed ? "output" : tensor_kind;
}

std::string UsersText(const compiler::Users& users, const std::vector<std::string>& nodes) {
  if (users.none()) return "";
  const std::string &first = nodes[users.first], &last = nodes[users.last];
  return first == last ? first : absl::StrCat(first, " … ", last);
}

}  // namespace

ArenaReport ReportArena(const search::PlanFile& plan, const program::Program& program,
                        int64_t whole) {
  ArenaReport report;
  report.devices = plan.mesh.devices();
  report.fullest = std::min(FullestDevice(plan), report.devices - 1);
  report.arena = program.arena_size();
  report.whole = whole;
  for (const program::Instruction& instruction : program.instructions()) {
    report.nodes.push_back(compiler::NodeOf(instruction));
  }
  compiler::MemoryOverTime memory = compiler::MeasureOverTime(program, report.fullest);
  report.slots = std::move(memory.slots);
  report.own = std::move(memory.own);
  report.peak = std::max_element(report.slots.begin(), report.slots.end()) - report.slots.begin();
  const std::vector<compiler::Users> users = compiler::UsersOf(program);
  const TensorMap tensors = ByName(plan);
  for (int id = 0; id < program.buffers_size(); ++id) {
    const program::Buffer& buffer = program.buffers(id);
    if (buffer.size() == 0) continue;
    const auto tensor = tensors.find(buffer.name());
    ArenaBuffer row;
    row.name = buffer.name();
    row.kind = KindOf(memory.roles[id], tensor == tensors.end() ? "" : tensor->second->kind);
    row.users = UsersText(users[id], report.nodes);
    row.first = buffer.first();
    row.last = buffer.last();
    row.offset = buffer.offset();
    row.slot = buffer.size();
    row.box = memory.boxes[id];
    report.buffers.push_back(std::move(row));
  }
  return report;
}

std::map<std::string, int64_t> HeldAtPeak(const ArenaReport& report) {
  std::map<std::string, int64_t> held;
  for (const ArenaBuffer& buffer : report.buffers) {
    if (buffer.LivesAt(report.peak)) held[buffer.kind] += buffer.slot;
  }
  return held;
}

std::string Ratio(int64_t a, int64_t b) {
  if (b == 0) return "–";
  return absl::StrFormat("%.3f", static_cast<double>(a) / static_cast<double>(b));
}

nlohmann::ordered_json ArenaJson(const ArenaReport& report) {
  using Json = nlohmann::ordered_json;
  Json json = {{"devices", report.devices},
               {"fullest", report.fullest},
               {"arena", report.arena},
               {"live", report.live()},
               {"peak", report.peak},
               {"beyond_boxes", report.beyond()},
               {"between_slots", report.arena - report.live()},
               {"whole", report.whole},
               {"share", report.share()}};
  for (const auto& [kind, bytes] : HeldAtPeak(report)) json["held_at_peak"][kind] = bytes;
  Json& instructions = json["instructions"] = Json::array();
  for (size_t i = 0; i < report.slots.size(); ++i) {
    instructions.push_back({{"node", i < report.nodes.size() ? report.nodes[i] : ""},
                            {"live", report.slots[i]},
                            {"fullest", report.own[i]}});
  }
  Json& buffers = json["buffers"] = Json::array();
  for (const ArenaBuffer& buffer : report.buffers) {
    buffers.push_back({{"name", buffer.name},
                       {"kind", buffer.kind},
                       {"first", buffer.first},
                       {"last", buffer.last},
                       {"offset", buffer.offset},
                       {"slot", buffer.slot},
                       {"box", buffer.box},
                       {"users", buffer.users}});
  }
  return json;
}

}  // namespace yuba::tools
