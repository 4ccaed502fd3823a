// The table of back ends: opens the devices that a session runs on, by the name of a back end. To
// add one, implement Device and, for devices of one process, ExchangeSteps (device.h,
// exchange_protocol.h), else Communicator (communicator.h); a function that fills a Fleet with
// them; and add its row in backend.cc.
#ifndef YUBA_RUNTIME_BACKEND_H_
#define YUBA_RUNTIME_BACKEND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/cuda/cuda_backend.h"
#include "runtime/executor.h"
#include "runtime/ranks/job.h"

namespace yuba::runtime {

struct BackendOptions {
  int threads_per_device = 1;   // of the host
  double timeout_seconds = 60;  // in which a GPU must have taken or given a value
  cuda::CudaOptions cuda;
  Job* job = nullptr;  // whose ranks have a device of the program each; null: this process has all
};

// Fills in fleet.devices, one for each device of the program's mesh that this process has, each
// ready to run (Prepare was called), and fleet.communicator. A user's error where the job has not a
// rank for each device. Unavailable where this machine or this build lacks the back end,
// a user's error where the name is unknown.
absl::Status OpenBackend(const std::string& name, const LoadedProgram& program,
                         const ArenaLayout& layout, const BackendOptions& options, Fleet& fleet);

// Seconds in which some device finishes an instruction, where all is well: 600 on processors, where
// one kernel may take minutes, 60 on GPUs.
double DefaultTimeout(const std::string& name);

std::vector<std::string> BackendNames();

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_BACKEND_H_
