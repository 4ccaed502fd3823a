// Exchanges measured through the run time, as programs run them.
#ifndef YUBA_TOOLS_CALIBRATE_MEASURE_LINKS_H_
#define YUBA_TOOLS_CALIBRATE_MEASURE_LINKS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/machine/machine.h"

namespace yuba::tools {

struct MeasuredLinks {
  LinkModel link;               // one kind joins all
  std::vector<double> spreads;  // of the repeats, one for each row of the tables
  // How far latency + bytes / bandwidth is off permutes that were measured (fit.h says how an error
  // counts). Other collectives have their tables.
  double median_error = 0, largest_error = 0;
};

// Every collective among two and all of the `devices` devices (at least 2) of the back end, of
// tensors from 1 kB to 256 MB, or to what memory there is.
absl::StatusOr<MeasuredLinks> MeasureLinks(const std::string& backend, int devices);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_MEASURE_LINKS_H_
