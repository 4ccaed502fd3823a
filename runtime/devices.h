// What this machine has for running programs: driver, GPUs and libraries, each found or missing,
// with the reason. For `yuba devices`; a run itself opens what it needs.
#ifndef YUBA_RUNTIME_DEVICES_H_
#define YUBA_RUNTIME_DEVICES_H_

#include <string>
#include <vector>

#include "runtime/cuda/facts.h"

namespace yuba::runtime {

struct ComponentFacts {
  std::string name;  // "driver", "cuBLAS", ...
  bool found = false;
  bool too_old = false;  // it is there, and of no use
  std::string detail;    // its version and file, or why it is missing or too old
  std::string use;       // what it is for
};

struct MachineFacts {
  int processors = 0;       // hardware threads
  int virtual_devices = 0;  // the most that run on the host
  std::vector<cuda::GpuFacts> gpus;
  std::string no_gpu;  // why there is none; empty where there are some
  std::vector<ComponentFacts> components;
};

// Opens all the libraries, which takes up to a second. What is missing is a fact, never an error.
MachineFacts FindDevices();

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_DEVICES_H_
