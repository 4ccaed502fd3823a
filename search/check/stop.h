// When the checker gives up: a plan's bound is replayed within the time that a command has left.
#ifndef YUBA_SEARCH_CHECK_STOP_H_
#define YUBA_SEARCH_CHECK_STOP_H_

#include <functional>

#include "absl/status/status.h"

namespace yuba::search {

// Whether to give up; asked now and then, from one thread. Empty: never.
using Stop = std::function<bool()>;

// Cancelled where `stop` says so, else OK.
inline absl::Status GoOn(const Stop& stop) {
  if (stop && stop()) return absl::CancelledError("the bound was not replayed in time");
  return absl::OkStatus();
}

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_STOP_H_
