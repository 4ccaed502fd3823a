// A program as a simulation needs it (simulate.h): its instructions, and for each how long which
// devices take, what they receive from whom, and whom they wait for. Devices that do the same are
// one *class*: they compute equally long, receive as much over the same kinds of links from members
// of the same classes, and so do those that read them and those with which they share a host or a
// port. So all members of a class do everything at the same times (device_classes.h).
//
// Example: 4 devices store quarters of x and gather the whole. They are one class, and the exchange
// has one inflow: 3 quarters from 3 members of the class itself.
#ifndef YUBA_RUNTIME_MODEL_STEPS_H_
#define YUBA_RUNTIME_MODEL_STEPS_H_

#include <vector>

#include "opsemantics/machine/machine.h"

namespace yuba::runtime {

// Of one device of a class.
struct KernelTime {
  KernelClass kernel_class = KernelClass::kMap;
  double start = 0;       // seconds in which one processor prepares it
  double seconds = 0;     // of the kernel itself; where devices share processors, on one of them
  double processors = 1;  // that it could use at once, where devices share processors
  double operations = 0, bytes = 0;
  bool runs = true;  // false: the device has no part of it, and does not start it

  friend bool operator==(const KernelTime& a, const KernelTime& b) {
    return a.kernel_class == b.kernel_class && a.start == b.start && a.seconds == b.seconds &&
           a.processors == b.processors && a.operations == b.operations && a.bytes == b.bytes &&
           a.runs == b.runs;
  }
};

// What one device of a class receives from devices of a class, all of them over one kind of links.
struct Inflow {
  int source = 0;  // class
  int kind = 0;    // of links: position in Machine::links
  double bytes = 0;
  double messages = 0;
};

// What one device of a class does in an exchange.
struct ExchangeTime {
  std::vector<Inflow> inflows;
  std::vector<int> sources, readers;  // classes that it reads and that read it, ascending
  double local_bytes = 0;             // read and written within its own memory
  // Seconds of a library's collective, which begins when all sources are there; below 0: none.
  double collective_seconds = -1;
};

struct Step {
  int instruction = 0;
  bool exchange = false;
  int row = 0;  // of StepList::kernels or exchanges
  // With two streams: the last step of the other one that must have ended before this one begins;
  // -1: none (program.proto).
  int after = -1;
  bool joins = false;  // an exchange: it is of one group of messages with the one before it
};

struct StepList {
  bool two_streams = true;                       // the program is for kernels and exchanges apart
  std::vector<int> class_sizes;                  // [class] devices
  std::vector<int> class_of;                     // [device]
  std::vector<Step> steps;                       // in the program's order
  std::vector<std::vector<KernelTime>> kernels;  // [row][class]
  std::vector<std::vector<ExchangeTime>> exchanges;  // [row][class]
  // How many members of the class are in the process that drives it, and how many devices are there
  // in all; and for each kind of links how many members share a port.
  std::vector<int> in_process;  // [class]
  std::vector<int> process_of;  // [class]: processes whose members are alike have one number
  std::vector<std::vector<int>> on_port;  // [kind][class]
  std::vector<std::vector<int>> port_of;  // [kind][class]: ports alike have one number

  int classes() const { return static_cast<int>(class_sizes.size()); }
  int devices() const { return static_cast<int>(class_of.size()); }
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_STEPS_H_
