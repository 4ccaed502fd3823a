// How the run time works that a prediction is for: what overlaps, and what waits for what.
#ifndef YUBA_RUNTIME_MODEL_POLICY_H_
#define YUBA_RUNTIME_MODEL_POLICY_H_

#include <string>

namespace yuba::runtime {

struct RunPolicy {
  std::string name = "today";  // as people give it
  // One process drives all devices of a node: what it starts on them, it starts one after the
  // other, DeviceModel::issue seconds each. Else each device has a process of its own.
  bool one_process = true;
  // The host's thread of a device waits, at an exchange, for the threads of its peers
  // (runtime/exchange_protocol.h): until they have come to it, and until they have started to copy.
  // Else it starts all instructions without looking at other devices.
  bool hosts_wait = true;
  // Exchanges have a stream of their own beside the kernels' and wait only for what touches the
  // same memory. Else a device runs one instruction after the other.
  bool exchange_stream = false;
  // A library runs the all-gathers that it can, as long as the machine's tables say
  // (CollectiveTable); else all devices copy what they read.
  bool library_gathers = true;
  // And all-reduces: partials combined by their owners, each of which then sends its sum to all
  // others, are one call, which a switch that adds up may do faster than links allow. The order of
  // the sums is then the library's.
  bool library_sums = false;
  // Of devices that share processors: threads that compute a kernel on one device. 0: the
  // processors shared out over the devices, as `yuba run` does it.
  int threads_per_device = 0;

  friend bool operator==(const RunPolicy& a, const RunPolicy& b) { return a.name == b.name; }
};

// What `yuba run` does: the defaults.
inline RunPolicy TodaysPolicy() { return {}; }

// A run time that would only enqueue: a process for each device, which never waits, and a stream
// for exchanges.
inline RunPolicy EnqueuingPolicy() { return {"enqueue", false, false, true, true, false, 0}; }

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_POLICY_H_
