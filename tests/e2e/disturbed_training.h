// A training of several ranks that is to be disturbed: what an undisturbed run of it comes to, and
// what must hold after an accident. All processes have ended, for a reason that names a rank; the
// checkpoint that is in place is whole; and going on from it gives the bits of the undisturbed run.
#ifndef YUBA_TESTS_E2E_DISTURBED_TRAINING_H_
#define YUBA_TESTS_E2E_DISTURBED_TRAINING_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/e2e/rank_processes.h"

namespace yuba {

constexpr int kTrainingSteps = 12;

std::string ReadFile(const std::string& path);
bool Contains(const std::string& text, const std::string& part);
void SleepFor(double seconds);

class DisturbedTraining {
 public:
  explicit DisturbedTraining(int ranks);

  int ranks() const { return ranks_; }
  double seconds() const { return seconds_; }  // of a whole run, for a choice of moments
  size_t checkpoint_bytes() const { return states_.size(); }
  std::string program() const { return folder_ + "/program.yuba"; }
  std::string out() const { return folder_ + "/out"; }  // a folder of each run's own
  std::string checkpoint() const { return out() + "/states"; }

  std::string Line(const std::string& flags, int steps = kTrainingSteps) const;
  // Saves after each step, and gives up soon.
  std::string Disturbed(int steps = kTrainingSteps) const;
  // The same by mpirun, with these options.
  std::string UnderMpirun(const std::string& options, int steps = kTrainingSteps) const;

  void Clear() const;            // makes out() an empty folder
  nlohmann::json Ended() const;  // what ended.json says; null where there is none
  // Goes on from the checkpoint, or begins where there is none.
  void GoesOn() const;
  // That a run came to its end, undisturbed.
  void IsComplete(const std::string& json) const;

 private:
  std::string Steps(int steps) const;

  const int ranks_;
  const std::string folder_;
  double seconds_ = 0;
  std::vector<std::string> losses_;
  std::string states_;
};

enum class Accident {
  kKilled,
  kStopped,
  kAsked,   // SIGTERM
  kClosed,  // one of its connections is
  kFull,    // its disk is
};

// Waits until the job has ended, to which this happened at `rank`, if not too late, and goes on.
void CheckEnd(const DisturbedTraining& training, RankProcesses& job, Accident accident, int rank);

}  // namespace yuba

#endif  // YUBA_TESTS_E2E_DISTURBED_TRAINING_H_
