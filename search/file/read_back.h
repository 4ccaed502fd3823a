// What is written is read again: names stand for tensors, nodes and indices in a plan file, so a
// plan is in it only where they say which is meant.
#ifndef YUBA_SEARCH_FILE_READ_BACK_H_
#define YUBA_SEARCH_FILE_READ_BACK_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "search/file/plan_file.h"

namespace yuba::search {

// Reads the text that WritePlan has made of the plan of this graph, and compares mesh, shardings,
// partitions, pins, bytes and proof. Returns what was read; Internal where it is another plan.
absl::StatusOr<PlanFile> ReadBack(const Graph& graph, const Plan& plan, absl::string_view text);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_FILE_READ_BACK_H_
