// What an exchange costs devices that share processors. There every copy is a processor's work,
// and a wait is a chance for the others: so an exchange is seconds of a processor for each device,
// and what a device waits comes out of the schedule.
//
// They are from the machine's measured collectives, which are seconds of all devices together.
//
// Example: 8 devices on 2 processors, a table in which an all_gather of 1 MB takes 200 us: each
// device works 50 us for it.
#ifndef YUBA_RUNTIME_MODEL_PROCESSOR_EXCHANGE_H_
#define YUBA_RUNTIME_MODEL_PROCESSOR_EXCHANGE_H_

#include "absl/strings/string_view.h"
#include "opsemantics/machine/machine.h"

namespace yuba::runtime {

// What one device does in an exchange.
struct CopyWork {
  absl::string_view collective;  // a name of opsemantics/base/collectives.h; empty: none of them
  bool combines = false;         // it adds up, or whatever the reducer does
  double messages = 0;           // devices from which it reads
  double bytes = 0;              // that it reads, its own too, where it copies them
};

// Seconds of a processor that one of `devices` devices takes for it. Below 0 where the machine's
// devices share no processors, or its links of kind `kind` have no tables.
double ProcessorSecondsOf(const Machine& machine, int kind, int devices, const CopyWork& work);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_PROCESSOR_EXCHANGE_H_
