// How fast a transport is between ranks 0 and 1, for people: printed, never held to anything.
#ifndef YUBA_TESTS_RUNTIME_RANKS_TRANSPORT_TIMING_H_
#define YUBA_TESTS_RUNTIME_RANKS_TRANSPORT_TIMING_H_

#include <string>

#include "runtime/ranks/transport.h"

namespace yuba::runtime {

// One way: microseconds of 8 bytes there and back, halved; GB/s of a few sizes; then both at once.
std::string MeasureTransport(Transport& transport);

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_RANKS_TRANSPORT_TIMING_H_
