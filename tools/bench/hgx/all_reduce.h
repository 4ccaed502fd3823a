// What an all-reduce takes, by the model back end.
#ifndef YUBA_TOOLS_BENCH_HGX_ALL_REDUCE_H_
#define YUBA_TOOLS_BENCH_HGX_ALL_REDUCE_H_

#include "absl/status/statusor.h"
#include "opsemantics/machine/machine.h"

namespace yuba::tools {

// Seconds of an all-reduce of a tensor of f32 of so many bytes among all devices of one node, by a
// run time whose library adds up (Sums::kFast), as the model back end predicts them of
// the program of that one sum: both of its exchanges, without what the host takes to start them.
// One process drives all devices, or one each. Errors are those of PredictStep.
absl::StatusOr<double> PredictedAllReduce(const Machine& machine, bool one_process, double bytes);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_HGX_ALL_REDUCE_H_
