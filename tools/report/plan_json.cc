// What `show --json` prints: the figures of its tables, from the plan file.
#include <algorithm>

#include "nlohmann/json.hpp"
#include "tools/report/index_legend.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::ordered_json;

Json GroupsJson(const search::PlanFile& plan) {
  Json rows = Json::array();
  for (const NodeGroup& group : GroupNodes(plan, true)) {
    rows.push_back({{"name", group.name},
                    {"first", group.first},
                    {"nodes", group.count},
                    {"operator", group.op},
                    {"partition", group.partition},
                    {"output", group.output},
                    {"output_split", group.split},
                    {"weight", group.weight},
                    {"gathered", group.gathered},
                    {"weights_gathered", group.weights},
                    {"sums", group.reduced},
                    {"bytes", group.bytes()}});
  }
  return rows;
}

Json IndicesJson(const search::PlanFile& plan) {
  Json rows = Json::array();
  for (const IndexMeaning& meaning : IndexMeanings(plan, true)) {
    rows.push_back({{"index", meaning.index},
                    {"operators", meaning.operators},
                    {"runs_along", meaning.runs_along}});
  }
  return rows;
}

Json TransfersJson(const search::PlanFile& plan) {
  Json rows = Json::array();
  for (const auto& row : plan.transfers) {
    rows.push_back({{"tensor", row.tensor},
                    {"node", row.node},
                    {"kind", row.kind},
                    {"collective", row.collective},
                    {"over", row.over},
                    {"bytes", row.bytes},
                    {"counts_as", search::WordOf(row.counts_as)},
                    {"why", row.why}});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
    return a["bytes"].get<int64_t>() > b["bytes"].get<int64_t>();
  });
  return rows;
}

Json CopiesJson(const search::PlanFile& plan) {
  Json rows = Json::array();
  for (const auto& copy : plan.copies) {
    rows.push_back({{"tensor", copy.tensor},
                    {"sharding", copy.sharding},
                    {"first", copy.first},
                    {"last", copy.last},
                    {"readers", copy.readers},
                    {"bytes", copy.bytes}});
  }
  return rows;
}

Json AccumulatorsJson(const search::PlanFile& plan) {
  Json rows = Json::array();
  for (const auto& row : plan.accumulators) {
    rows.push_back({{"accumulator", row.accumulator},
                    {"sharding", row.sharding},
                    {"over", row.over},
                    {"first", row.first},
                    {"last", row.last},
                    {"partials", row.partials},
                    {"bytes", row.bytes}});
  }
  return rows;
}

Json DevicesJson(const search::PlanFile& plan) {
  Json rows = Json::array();
  for (const search::DeviceMemory& memory : plan.notes.memory) {
    rows.push_back({{"peak", memory.peak},
                    {"stored", memory.weights},
                    {"activations", memory.activations},
                    {"buffers", memory.buffers},
                    {"arena", memory.arena},
                    {"unused", memory.arena - memory.peak},
                    {"at", memory.at}});
  }
  return rows;
}

Json ReplicatedJson(const search::PlanFile& plan) {
  Json rows = Json::array();
  for (const ReplicatedTensor& tensor : Replicated(plan)) {
    rows.push_back({{"tensor", tensor.name},
                    {"sharding", tensor.sharding},
                    {"bytes", tensor.bytes},
                    {"copies", tensor.replicas},
                    {"parts", tensor.parts},
                    {"most_parts", tensor.most}});
  }
  return rows;
}

}  // namespace

Json PlanJson(const search::PlanFile& plan) {
  const bool bound = plan.proof.kind != search::ProofKind::kNone || plan.value() == 0;
  const bool all_bound = bound && (plan.asked_bound > 0 || plan.value() == 0);
  return {{"model", plan.notes.graph_file},
          {"graph", plan.notes.graph_hash},
          {"mesh", MeshText(plan.mesh)},
          {"devices", plan.mesh.devices()},
          {"bytes", plan.cost.bytes()},
          {"time", TimeJson(plan)},
          {"lower_bound", bound ? Json(plan.lower_bound) : Json()},
          {"asked_lower_bound", all_bound ? Json(plan.asked_bound) : Json()},
          {"replayed", plan.replayed},
          {"space", SpaceText(plan.space)},
          {"pins", plan.space.pin_texts},
          {"groups", GroupsJson(plan)},
          {"indices", IndicesJson(plan)},
          {"transfers", TransfersJson(plan)},
          {"copies", CopiesJson(plan)},
          {"accumulators", AccumulatorsJson(plan)},
          {"memory", DevicesJson(plan)},
          {"fullest", FullestDevice(plan)},
          {"share_of_stored", IdealShare(plan)},
          {"replicated", ReplicatedJson(plan)}};
}

}  // namespace yuba::tools
