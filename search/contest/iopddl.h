// Problem files of the ASPLOS 2025 contest on intra-operator parallelism (IOPDDL): JSON, plain or
// gzipped. Format: https://github.com/google/iopddl.
//
// A file comes in, a pairwise problem goes out: the contest's nodes are variables, their strategies
// values, node costs factors of one variable, edge costs factors of two, and usages during
// intervals with a limit the rows of memory. The units are the contest's.
#ifndef YUBA_SEARCH_CONTEST_IOPDDL_H_
#define YUBA_SEARCH_CONTEST_IOPDDL_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// The text of the file, unpacked where it is gzipped. An error where it cannot be opened or read,
// or has more than 4 GiB. `stop`, which may be empty, is asked once a MiB; once it returns true the
// error is Cancelled.
absl::StatusOr<std::string> ReadGzip(const std::string& path,
                                     const std::function<bool()>& stop = nullptr);

// The problem. Variables are in the file's order; parallel edges stay factors of their own; equal
// lists of costs share their cells; costs of 10^18 and more are kForbidden. InvalidArgument, with
// the place, where the text is no such problem or its finite costs may add up to 10^18 or more.
// `stop` as in ParseJson (opsemantics/base/json_reader.h).
absl::StatusOr<PairwiseProblem> ParseIopddl(const std::string& text,
                                            const std::function<bool()>& stop = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CONTEST_IOPDDL_H_
