#include "search/file/read_back.h"

#include <algorithm>
#include <string>

#include "opsemantics/base/status.h"

namespace yuba::search {
namespace {

bool SameProof(const Proof& a, const Proof& b) {
  const auto same_price = [](const MemoryPrice& one, const MemoryPrice& other) {
    return one.time == other.time && one.price == other.price;
  };
  return a.kind == b.kind && a.order == b.order && a.messages == b.messages &&
         std::equal(a.prices.begin(), a.prices.end(), b.prices.begin(), b.prices.end(), same_price);
}

// What of the plan that was read is not as it was written; "" where all of it is.
const char* Difference(const Plan& plan, const Plan& read) {
  if (!(read.mesh.axes == plan.mesh.axes)) return "mesh";
  if (!(read.tensors == plan.tensors)) return "shardings";
  if (!(read.nodes == plan.nodes)) return "partitions";
  if (!(read.space.pins == plan.space.pins)) return "pins";
  if (!SameProof(read.proof, plan.proof)) return "proof";
  if (!(read.space.objective == plan.space.objective)) return "objective";
  if (read.value() != plan.value()) return "cost";
  return read.cost.bytes() == plan.cost.bytes() ? "" : "bytes";
}

}  // namespace

absl::StatusOr<PlanFile> ReadBack(const Graph& graph, const Plan& plan, absl::string_view text) {
  absl::StatusOr<PlanFile> file = ReadPlan(text);
  const absl::StatusOr<Plan> read =
      file.ok() ? AttachPlan(graph, *file, PlanNotes()) : absl::StatusOr<Plan>(file.status());
  if (!read.ok()) {
    return InternalError("the plan cannot be read back: ", read.status().message(),
                         "; this is a fault of yuba, and no plan is written");
  }
  const std::string difference = Difference(plan, *read);
  if (difference.empty()) return file;
  return InternalError("the plan is read back with other ", difference,
                       "; this is a fault of yuba, and no plan is written");
}

}  // namespace yuba::search
