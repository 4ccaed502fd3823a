// Runs a list of steps with clocks in place of work: each device has a clock for each stream, an
// exchange ends when its boxes are in and its readers have read, links and processors are shared
// fairly. One thread, event after event; the same input gives the same times. Devices of one class
// (steps.h) are simulated once.
//
// Times that are not shared: a kernel takes DeviceModel::launch + its own seconds. An exchange
// takes, one kind of links after the other, latency for each message + bytes / bandwidth, and then
// what is copied within the device, by the bandwidth of its memory; so it takes what an exchange
// alone costs (opsemantics/machine/machine.h). What is shared:
//   - a port: shared_by * bandwidth one way, by all flows that use it at the time (fair_share.h);
//   - the host of a process: it starts the instructions of its devices in turns;
//   - processors, where the machine's devices share them: threads that want more than there are get
//     equal shares.
// Shares are fair, so no device is ever faster than its busiest link, or than its own kernels.
//
// Example: two devices compute 1 ms and 2 ms and then gather 1 MB from each other over links of 1
// GB/s. The first waits 1 ms; both end at 3 ms, when latency is 0.
#ifndef YUBA_RUNTIME_MODEL_SIMULATE_H_
#define YUBA_RUNTIME_MODEL_SIMULATE_H_

#include <vector>

#include "opsemantics/machine/machine.h"
#include "runtime/model/policy.h"
#include "runtime/model/steps.h"

namespace yuba::runtime {

// What a device does from `begin` to `end`, in seconds from the start of the run. Waiting, for
// other devices or for the host, is an event of its own.
struct SimulatedEvent {
  int step = 0;  // position in StepList::steps
  bool waiting = false;
  double begin = 0, end = 0;
};

// Of one device of a class, in seconds. Kernels, `waiting` and `starting` are of the stream of
// kernels and never overlap. Exchanges do where they have a stream of their own.
struct ClassTimes {
  double kernels[kKernelClasses] = {0, 0, 0, 0};  // by class of kernel
  double exchanges = 0;                           // copying and combining
  double waiting = 0;                             // for other devices
  double starting = 0;                            // for the host
  double kernels_end = 0;                         // of the stream of kernels
  double end = 0;                                 // of its last instruction
  std::vector<SimulatedEvent> events;             // by their ends; empty unless asked for
};

struct Simulation {
  double seconds = 0;               // until the last device has ended
  std::vector<ClassTimes> classes;  // [class]
};

Simulation Simulate(const StepList& list, const Machine& machine, const RunPolicy& policy,
                    bool keep_events);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_SIMULATE_H_
