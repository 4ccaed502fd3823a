// Which devices of a program do the same (steps.h), by refinement: devices are told apart while
// what they compute, or from which classes they receive how much, or who receives from them, or
// with whom they share a host or a port, differs.
//
// Example: in a halo exchange of rows on 4 devices the first and the last have one neighbour, the
// others two: {0, 3} and {1, 2} are the classes.
#ifndef YUBA_RUNTIME_MODEL_DEVICE_CLASSES_H_
#define YUBA_RUNTIME_MODEL_DEVICE_CLASSES_H_

#include <vector>

#include "opsemantics/machine/machine.h"
#include "runtime/model/exchange_reads.h"
#include "runtime/model/kernel_times.h"

namespace yuba::runtime {

// [device]: its class, in the order of their first devices. kernels and exchanges: all different
// ones of the program. process: [device], the process that drives it.
std::vector<int> DeviceClasses(const Machine& machine, const std::vector<KernelTimes>& kernels,
                               const std::vector<ExchangeReads>& exchanges,
                               const std::vector<int>& process);

// The port of a device for a kind of links: devices with one number share it.
int PortOf(const Machine& machine, int kind, int device);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_DEVICE_CLASSES_H_
