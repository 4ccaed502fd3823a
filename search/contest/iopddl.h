// Problem files of the ASPLOS 2025 contest on intra-operator parallelism (IOPDDL): JSON, plain or
// gzipped. Format: https://github.com/google/iopddl.
#ifndef YUBA_SEARCH_CONTEST_IOPDDL_H_
#define YUBA_SEARCH_CONTEST_IOPDDL_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// The file, unpacked where it is gzipped; at most 4 GiB. `stop` is as ParseJson has it.
absl::StatusOr<std::string> ReadGzip(const std::string& path,
                                     const std::function<bool()>& stop = nullptr);

// Nodes are variables in the file's order; parallel edges stay factors of their own. An error says
// where the text is no such problem, or where its costs may add up to 10^18 or more.
absl::StatusOr<PairwiseProblem> ParseIopddl(const std::string& text,
                                            const std::function<bool()>& stop = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CONTEST_IOPDDL_H_
