// What a run has reached, told to the process that watches over it (`yuba launch`) through a named
// pipe, so that it is known also where the run's process is killed.
#ifndef YUBA_TOOLS_RUN_MILESTONES_H_
#define YUBA_TOOLS_RUN_MILESTONES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/base/clock.h"

namespace yuba::tools {

enum class Reached : int64_t {
  kToRun,       // how many steps the run has in all, those before it too
  kLoaded,      // all values are in place; the step that the run goes on behind
  kStep,        // a step that is finished
  kCheckpoint,  // the step of a checkpoint that is whole
};

// As it lies in memory it goes through the pipe.
struct Milestone {
  Reached what = Reached::kToRun;
  int64_t step = 0;
  Clock::time_point at;  // by the clock of this machine, which its processes share
};

// The end that tells.
class Milestones {
 public:
  // The pipe's name; empty, or where it cannot be opened: nothing is told.
  explicit Milestones(const std::string& pipe);
  ~Milestones();
  Milestones(const Milestones&) = delete;
  Milestones& operator=(const Milestones&) = delete;

  // Now. Never blocks: where nobody reads, what does not fit is lost.
  void Tell(Reached what, int64_t step) const;

 private:
  int file_ = -1;
};

// The end that listens.
class MilestonePipe {
 public:
  // Makes the pipe at this place, which is removed with its folder by others.
  explicit MilestonePipe(const std::string& path);
  ~MilestonePipe();
  MilestonePipe(const MilestonePipe&) = delete;
  MilestonePipe& operator=(const MilestonePipe&) = delete;

  bool ok() const { return file_ >= 0; }
  const std::string& path() const { return path_; }
  // All that has been told since the last call, in order. Never blocks.
  std::vector<Milestone> Take() const;

 private:
  const std::string path_;
  int file_ = -1;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_MILESTONES_H_
