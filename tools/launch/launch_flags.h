// What `yuba launch` is asked for.
#ifndef YUBA_TOOLS_LAUNCH_LAUNCH_FLAGS_H_
#define YUBA_TOOLS_LAUNCH_LAUNCH_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "tools/run_from_plan.h"

namespace CLI {
class App;
}

namespace yuba::tools {

// What a process of a launch is for. The launch starts all but the first itself, with its own
// command line and flags before it that --help does not list.
enum class LaunchPart {
  kWhole,    // what the user has started
  kRank,     // a rank
  kProgram,  // makes the program for a number of devices
  kGpus,     // lists the GPUs that are there, as a process that has just begun sees them
};

struct LaunchFlags {
  RunCommandFlags command;
  int devices = 0;
  int min_devices = 0;  // 0: as many as devices, so that none is given up

  // Of the processes that a launch starts:
  std::string folder;    // of the launch; empty: this is what the user has started
  bool goes_on = false;  // a rank that begins with the checkpoint of --save
  int program_for = 0;   // devices
  bool ahead = false;    // of a program that may not be needed: says nothing
  bool lists_gpus = false;

  LaunchPart Part() const;
  int LeastDevices() const { return min_devices > 0 ? min_devices : devices; }
};

// `flags` must outlive `app`.
void AddLaunchFlags(CLI::App* app, LaunchFlags& flags);

// The user's error for what contradicts itself or what a launch cannot do.
absl::Status CheckLaunchFlags(const LaunchFlags& flags);

// The flags of a rank's run. One that goes on takes all from its own checkpoint, whatever the first
// run of the launch began with.
RunFlags FlagsOfRank(const LaunchFlags& flags);

// Places in the folder of a launch.
std::string ProgramIn(const std::string& folder, int devices);
std::string PromiseIn(const std::string& folder, int devices);  // its RunFlags::planned_bytes
std::string PipeIn(const std::string& folder);
std::string GpusIn(const std::string& folder);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_LAUNCH_LAUNCH_FLAGS_H_
