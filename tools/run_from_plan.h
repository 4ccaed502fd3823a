// What `yuba run` and `yuba launch` share: the flags of a run whose program is made from a model
// and its plan, and the steps by which it is made.
#ifndef YUBA_TOOLS_RUN_FROM_PLAN_H_
#define YUBA_TOOLS_RUN_FROM_PLAN_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/model.h"
#include "tools/command.h"
#include "tools/flags/kernel_flags.h"
#include "tools/run/run_flags.h"
#include "tools/run/run_ports.h"

namespace CLI {
class App;
}

namespace yuba::tools {

struct RunCommandFlags {
  ModelFlags model;
  std::string plan;
  RunFlags run;
  KernelFlags kernels;
  bool no_verify = false;
};
// `flags` must outlive `app`.
void AddRunCommandFlags(CLI::App* app, RunCommandFlags& flags);

// The model with its plan, which is made again, as it was asked for, where it is for another number
// of devices (0: those of the plan). A note on stderr says so. Fails as LoadPlanned and MakePlan
// do; Cancelled where a signal came meanwhile.
absl::StatusOr<PlannedModel> LoadFor(const RunCommandFlags& flags, int devices);

// The ports that the program will have, so that files can be read before it is compiled.
RunPorts PortsOfModel(const compiler::Model& model);

// The bytes that the plan says a run of each entry moves, for RunFlags::planned_bytes.
std::map<std::string, int64_t> PromisedBytes(const PlannedModel& planned);

// Which code the flags ask for, on the machine that is there: for its GPUs, if it has any and
// --backend names them, and the newest code that all of them run. Without any the back end says so
// when it is opened.
kernels::KernelChoice ChoiceOf(const RunCommandFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_FROM_PLAN_H_
