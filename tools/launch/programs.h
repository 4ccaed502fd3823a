// The compiled programs of a launch, one for each number of devices, in its folder: made once, so
// that ranks that start again neither plan nor compile. Each is made by a process of its own, whose
// memory is free again afterwards.
#ifndef YUBA_TOOLS_LAUNCH_PROGRAMS_H_
#define YUBA_TOOLS_LAUNCH_PROGRAMS_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/program/program.h"
#include "runtime/ranks/held_signals.h"
#include "tools/launch/launch_flags.h"

namespace yuba::tools {

// In the process of LaunchPart::kProgram: writes the program; the first one of a launch once the
// files that the run reads are known to be good.
absl::Status MakeProgram(const LaunchFlags& flags);

// What it has made, in the process of a rank.
struct MadeProgram {
  std::shared_ptr<runtime::LoadedProgram> program;
  std::map<std::string, int64_t> planned_bytes;  // as RunFlags has them
};
absl::StatusOr<MadeProgram> ReadProgram(const std::string& folder, int devices);

class Programs {
 public:
  // arguments: with which this process was started, so that others can be. All must outlive it.
  Programs(const LaunchFlags& flags, const std::string& folder,
           const std::vector<std::string>& arguments, const runtime::HeldSignals& signals);
  ~Programs();  // ends what is being made
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  bool Has(int devices) const;

  // Makes sure that there is one for so many devices; blocks. Without a message where the process
  // that makes it has said why not; Cancelled where a signal came; a user's error where the model
  // or the plan is another file than when the launch began.
  absl::Status Make(int devices);

  // For a time in which this process has nothing to do: sees to it that the next program that is
  // missing is being made, from `most` devices down to `least`, with the lowest priority. To be
  // called again and again; never blocks.
  void MakeAhead(int most, int least);

  // Starts this program again as such a part, whose flags stand before those of the user, and
  // returns its exit code; Cancelled where a signal came, DeadlineExceeded where it has not ended
  // for `seconds`, and is left behind where it cannot be ended; 0: it may take as long as it needs.
  absl::StatusOr<int> RunPart(const std::vector<std::string>& part, double seconds = 0) const;

 private:
  absl::StatusOr<pid_t> Start(const std::vector<std::string>& part) const;
  absl::StatusOr<int> Await(pid_t process, double seconds = 0) const;
  std::string SourcesNow() const;
  void EndAhead();

  const LaunchFlags& flags_;
  const std::string folder_;
  const std::vector<std::string>& arguments_;
  const runtime::HeldSignals& signals_;
  const std::string sources_;  // the files of model and plan, as they were
  pid_t ahead_ = 0;            // the process that makes one ahead; 0: none
  int ahead_for_ = 0;          // devices
  std::set<int> failed_;       // numbers of devices whose program ahead came to nothing
};

// The command line of a process of the launch: the user's, with `part` before its flags.
std::vector<std::string> ArgumentsOf(const std::vector<std::string>& user,
                                     const std::vector<std::string>& part);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_LAUNCH_PROGRAMS_H_
