// What measured collectives say: seconds between the sizes that were measured, and the best rate
// that any of them shows.
//
// Bytes are counted as a plan counts them (opsemantics/base/transfers.h): each device of n receives
// what it lacks. Of a tensor of S bytes that is S (n - 1) / n for an all_gather and a
// reduce_scatter, 2 S (n - 1) / n for an all_reduce, S (n - 1) / n^2 for an all_to_all, S / n for a
// permute. nccl-tests calls these bytes by second the bus bandwidth.
#ifndef YUBA_OPSEMANTICS_MACHINE_COLLECTIVE_TABLE_H_
#define YUBA_OPSEMANTICS_MACHINE_COLLECTIVE_TABLE_H_

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "opsemantics/machine/machine.h"

namespace yuba {

// Bytes that each of `devices` devices receives in a collective of a tensor of `bytes` bytes.
// `collective` is a name of opsemantics/base/collectives.h.
double BytesReceived(absl::string_view collective, int devices, double bytes);

// The most bytes a second, so counted, that the link's bandwidth or one of its tables gives to a
// device of large tensors. A switch that adds up partials itself beats the wires. No exchange over
// the link takes less than latency + bytes received / BestRate(link).
double BestRate(const LinkModel& link);

// Raises seconds of the tables until they never fall with the bytes and are nowhere below
// latency + bytes received / BestRate(link), which bounds of plans rely on.
void RaiseTables(LinkModel& link);

// Seconds of a collective among `devices` devices as the link's tables have it: on straight lines
// between rows, constant below the first, in proportion to the bytes above the last. Nothing where
// no table is of this collective, so many devices and this way of driving them.
absl::optional<double> MeasuredSeconds(const LinkModel& link, absl::string_view collective,
                                       int devices, bool one_process, double bytes);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_COLLECTIVE_TABLE_H_
