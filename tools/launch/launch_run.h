// A launch: starts the ranks of a run on this machine, and where one is lost starts them again from
// the last whole checkpoint, with fewer devices where one cannot be used any more.
//
// What is lost, and what only ends: exit codes 1 and 2 of a rank, and a signal to this process, are
// ends that would come again or that somebody wants. All else counts as the loss of a device.
#ifndef YUBA_TOOLS_LAUNCH_LAUNCH_RUN_H_
#define YUBA_TOOLS_LAUNCH_LAUNCH_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/ranks/held_signals.h"
#include "runtime/ranks/start_ranks.h"
#include "tools/launch/attempt.h"
#include "tools/launch/gpus.h"
#include "tools/launch/launch_flags.h"
#include "tools/launch/launch_log.h"
#include "tools/launch/programs.h"
#include "tools/launch/when_to_give_up.h"
#include "tools/run/ended_file.h"
#include "tools/run/milestones.h"

namespace yuba::tools {

class LaunchRun {
 public:
  // arguments: this process's. folder: of this launch's own, empty. All must outlive it.
  LaunchRun(const LaunchFlags& flags, const std::vector<std::string>& arguments,
            const std::string& folder, const runtime::HeldSignals& signals);

  // Blocks until the run is through, or cannot go on. Without a message where a rank has said why.
  // To be called once, by the process's only thread.
  absl::Status Run();

 private:
  // A loss behind which no step is finished yet.
  struct Open {
    Clock::time_point at;
    Return figures;
  };

  bool AsksForMore() const;
  absl::Status RunToEnd();
  bool UsesGpus() const { return run_.backend == "cuda" && !run_.share_gpu; }
  absl::StatusOr<std::vector<std::string>> FindGpus() const;
  absl::Status ChooseGpus();
  absl::StatusOr<runtime::RanksEnd> RunRanks();
  void Listen();
  void CloseLoss();
  Loss LossOf(const runtime::RanksEnd& end);
  void NoteLoss(const runtime::RanksEnd& end);
  absl::Status GoOn();
  absl::Status ChooseDevices();
  absl::Status EndedWith(const runtime::RanksEnd& end) const;
  int64_t CheckpointStep() const;
  std::string CheckpointNow() const;

  const LaunchFlags& flags_;
  const RunFlags& run_;
  const std::vector<std::string>& arguments_;
  const std::string folder_;
  const runtime::HeldSignals& signals_;
  const EndedFile ended_;
  const std::string checkpoint_before_;  // the one that was there when the launch began
  MilestonePipe pipe_;
  Programs programs_;
  LaunchLog log_;
  PastEnds past_;
  absl::optional<std::string> visible_before_;  // CUDA_VISIBLE_DEVICES; none: it was not set
  Gpus gpus_;

  int devices_;                // that the ranks have
  bool goes_on_ = false;       // from a checkpoint of this launch
  Attempt attempt_;            // the last
  Loss loss_;                  // the last
  int64_t furthest_ = 0;       // step that was finished, or saved
  absl::optional<Open> open_;  // none: no loss, or a step was finished since
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_LAUNCH_LAUNCH_RUN_H_
