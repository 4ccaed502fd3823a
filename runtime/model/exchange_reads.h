// Who receives what from whom in an exchange: what an ExchangePlan (runtime/exchange_plan.h) says,
// without the walks over elements, so that it is quick for thousands of devices.
#ifndef YUBA_RUNTIME_MODEL_EXCHANGE_READS_H_
#define YUBA_RUNTIME_MODEL_EXCHANGE_READS_H_

#include <cstdint>
#include <vector>

#include "runtime/program/program.h"

namespace yuba::runtime {

struct Read {
  int source = 0;  // another device
  int64_t bytes = 0;
};

struct ExchangeReads {
  std::vector<std::vector<Read>> reads;  // [device], by ascending source
  // [device] bytes read and written within its own memory: its own part of a gather, where that
  // does not lie in place; of a reduction its own partial and the result.
  std::vector<int64_t> local_bytes;
  bool combines = false;  // partials are added up, or whatever the reducer does
  // Where one call of a library does it for each group of devices: how many devices a group has,
  // and bytes of the whole tensor that each has, of a gather afterwards and of a sum before. A
  // gather is of equal parts that lie side by side, a sum is scattered in equal parts. 0 elsewhere.
  int library_devices = 0;
  int64_t library_bytes = 0;
};

// Of an exchange of `program`, which was validated; recognised collectives are read in their
// groups.
ExchangeReads ReadsOf(const LoadedProgram& program, const program::Exchange& exchange);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_EXCHANGE_READS_H_
