// What the two streams of a device have to do in one run of an entry, with estimates: all that the
// order of exchanges (exchange_order.h) knows of a program.
//
// Example: a gather of w for a product and the product are two items. The gather reads w and writes
// gather(w)@y; the product reads x and gather(w)@y and writes y.
#ifndef YUBA_COMPILER_STREAMS_WORK_ITEMS_H_
#define YUBA_COMPILER_STREAMS_WORK_ITEMS_H_

#include <cstdint>
#include <vector>

#include "opsemantics/machine/machine.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

struct WorkItem {
  int begin = 0, end = 0;  // instructions [begin, end), between which nothing else may come
  bool exchange = false;
  double latency = 0;              // seconds of an exchange that do not depend on its bytes
  double seconds = 0;              // beside these, on the device that takes longest
  int64_t bytes = 0;               // that an exchange brings to the device that receives most
  std::vector<int> reads, writes;  // buffers
  int64_t made_bytes = 0;          // of buffers of which it is the first user
  int64_t freed_bytes = 0;         // of buffers of which it is the last one
};

// [entry], each in the program's order. Buffers must have their sizes and lives (compiler/memory).
// Seconds are
// KernelSeconds of the work of each kernel, and of exchanges what a device receives over the
// slowest links that the exchange can use: good enough to compare, and nothing but speed depends on
// them. Each unit (units.h) is one item.
std::vector<std::vector<WorkItem>> WorkItemsOf(const program::Program& program,
                                               const Machine& machine);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_STREAMS_WORK_ITEMS_H_
