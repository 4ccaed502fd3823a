// Whether a job goes on: rank 0's judgement of what has come of each rank. No threads and no clock
// of its own.
//
// Seconds are those in which this process ran: where it was stopped or starved itself, nobody's
// word could come, and none is missed.
#ifndef YUBA_RUNTIME_RANKS_JUDGE_H_
#define YUBA_RUNTIME_RANKS_JUDGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "runtime/ranks/rank_facts.h"
#include "runtime/ranks/rank_text.h"
#include "runtime/ranks/words.h"

namespace yuba::runtime {

// So long a report that another rank has gone waits for one that says why.
constexpr double kGraceSeconds = 0.5;

// What has come of a rank.
struct Heard {
  int64_t words = 0;   // so many
  RankWord word;       // the last one
  std::string lost;    // what the transport says of its connection; empty: it stands
  int lost_peer = -1;  // the rank that it names for that
};

struct Verdict {
  absl::Status reason;
  int silent = -1;  // the rank that hears no answer any more; -1: all may
  RankFault fault;
};

class Judge {
 public:
  Judge(std::vector<RankFacts> ranks, const JobOptions& options);

  // `passed` seconds after the last look. heard: [rank], with rank 0's own word, in which a count
  // of words says nothing. A verdict ends the job.
  absl::optional<Verdict> Look(double passed, const std::vector<Heard>& heard,
                               const Describe& describe);

 private:
  struct Known {
    int64_t words = 0;
    RankWord word;
    double heard_at = 0, changed_at = 0;
    Report reported = Report::kNone;  // what has been taken from its word
    bool lost = false;
  };
  // Reports by weight: what says more of the cause is believed before what says less.
  enum Weight { kUnnamed, kLost, kFailed };
  struct Suspicion {
    Weight weight = kUnnamed;
    int rank = -1;  // that is lost, or has failed; of kUnnamed: that says so
    int code = 0;   // of kFailed
    std::string words;
  };

  void Note(const std::vector<Heard>& heard);
  void Suspect(const Suspicion& suspicion);
  absl::optional<Verdict> OfReports(const Describe& describe) const;
  absl::optional<Verdict> OfSilence(const Describe& describe) const;
  absl::optional<Verdict> OfWaits(const Describe& describe) const;
  absl::optional<Verdict> OfCycle(std::vector<int> cycle, const Describe& describe) const;
  RankFault FaultOf(int rank) const;
  int WaitsFor(int rank) const;
  bool HasStopped(int rank) const;
  std::vector<int> Waiting(int rank) const;
  std::string Place(int rank, const Describe& describe) const;
  std::string Waiters(int rank, const Describe& describe) const;

  const std::vector<RankFacts> ranks_;
  const JobOptions options_;
  double now_ = 0;
  std::vector<Known> known_;  // [rank]
  absl::optional<Suspicion> suspicion_;
  double suspected_at_ = 0;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_JUDGE_H_
