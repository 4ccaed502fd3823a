#include "search/portfolio/check_options.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "search/baselines/baselines.h"
#include "search/plan/price_scale.h"
#include "search/rewrite/partials.h"
#include "search/search.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

absl::Status CheckCountable(const Graph& graph, const Mesh& mesh) {
  for (const Node& node : graph.nodes) {
    const auto times = static_cast<double>(graph.entries[node.entry].times);
    std::vector<TensorId> used = node.operands;
    used.push_back(node.result);
    for (const TensorId id : used) {
      const double bytes = times * MostMovedByUse(graph.tensors[id], mesh.devices());
      if (bytes < static_cast<double>(kForbidden)) continue;
      return UserError("on ", mesh.devices(), " devices ", node.name, " alone could move 10^18 ",
                       "bytes of ", graph.tensors[id].name, " a step or more, which are not ",
                       "counted: use smaller inputs, or fewer devices");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const Graph& graph, const SearchOptions& options) {
  YUBA_RETURN_IF_ERROR(CheckCountable(graph, options.mesh));
  if (HasPartials(graph) &&
      (options.replicate == Replicate::kNone || options.search != "default")) {
    return UserError("sums stay unreduced only with --replicate auto and the default search");
  }
  if (HasPartials(graph) && !(options.pins.empty() && options.pin_texts.empty())) {
    return UserError("pins say nothing of the groups of devices in which sums stay unreduced");
  }
  const std::vector<std::string> engines = EngineNames();
  for (const std::string& name : options.without) {
    if (std::count(engines.begin(), engines.end(), name) > 0) continue;
    return UserError("there is no engine named \"", name, "\"; there are ",
                     absl::StrJoin(engines, ", "));
  }
  if (options.search == "default") return absl::OkStatus();
  const bool recursive = options.search == "recursive";
  if (!recursive && FindBaseline(options.search) == nullptr) {
    return UserError("there is no search named \"", options.search, "\"; there are ",
                     absl::StrJoin(SearchNames(), ", "));
  }
  if (options.memory_limit > 0 || options.replicate == Replicate::kAuto) {
    return UserError("--search ", options.search,
                     " knows neither --memory nor --replicate: use default");
  }
  if (recursive) return absl::OkStatus();
  if (options.pins.empty() && options.pin_texts.empty()) return absl::OkStatus();
  return UserError("--search ", options.search,
                   " does as its authors say and takes no pins; use default ", "or recursive");
}

}  // namespace yuba::search
