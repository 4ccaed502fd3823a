// The threads by which a rank knows whether its job goes on (job.h).
//
// Rank r > 0: one thread tells rank 0 each beat what the rank does and hears the answer, so at most
// one message each way is under way; another one counts how long no answer has come. The last
// answer is followed by one more word, so that rank 0 does not go before it was heard. Rank 0: one
// thread for each other rank answers its words, and another one judges all that came (judge.h).
//
// Threads that hang in a transport although it was told to abort are left behind at the end: they
// keep this object, and with it the transport.
#ifndef YUBA_RUNTIME_RANKS_WATCH_H_
#define YUBA_RUNTIME_RANKS_WATCH_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "runtime/ranks/judge.h"
#include "runtime/ranks/rank_facts.h"
#include "runtime/ranks/rank_text.h"
#include "runtime/ranks/transport.h"
#include "runtime/ranks/words.h"

namespace yuba::runtime {

// What this rank does: written by whoever works, read by the watch.
struct OwnState {
  std::atomic<int64_t> step{0}, progress{0};
  std::atomic<int> instruction{-1};
  std::atomic<int> waits_for{-1};  // beside transfers, which the watch knows
  std::atomic<bool> busy{false};
};

class Watch : public std::enable_shared_from_this<Watch> {
 public:
  Watch(std::unique_ptr<Transport> transport, std::vector<RankFacts> ranks,
        const JobOptions& options);
  Watch(const Watch&) = delete;

  // Starts the threads. An error where the system gives none; Stop is called in any case.
  absl::Status Start();
  // Ends the threads, and says so to other ranks where the job has ended. Blocks for seconds at
  // most.
  void Stop();

  const std::vector<RankFacts>& ranks() const { return ranks_; }
  Transport& transport() { return *transport_; }
  OwnState& own() { return own_; }
  TransportError WaitFor(Transfer& transfer);  // as Job's

  // As Job's.
  void SetDescribe(Describe describe);
  absl::Status ended() const;
  RankFault fault() const;
  void Fail(const absl::Status& reason);
  absl::Status EndOf(const TransportError& error);
  absl::Status OnHang(double seconds, std::function<void()> end);
  int Leave(int exit_code);
  bool Speaks() const;
  bool Closed() const;

 private:
  bool IsFirst() const { return rank_ == 0; }
  absl::Status StartFirst();
  absl::Status StartOther();
  bool Run(std::function<void()> run);

  // Of rank 0.
  void AnswerRank(int rank);
  Answer AnswerTo(int rank, const RankWord& word);
  void NoteLost(int rank, const TransportError& error);
  void JudgeAll();
  bool AllLeave(const std::vector<Heard>& heard);

  // Of the others.
  void TellFirst();
  bool Take(const Answer& answer);
  void WatchFirst();
  void LoseFirst(const std::string& what);

  // Waits for a beat, or until there is something urgent where `urgent`. Seconds that have passed
  // for this process: a long gap means that it was stopped itself. Nothing where `over` is true.
  absl::optional<double> Pause(bool urgent, const std::function<bool()>& over);
  RankWord OwnWord() const;  // mutex_ is held
  Describe GuardedDescribe();
  bool IsOver() const { return !ended_.ok() || exit_code_.has_value(); }  // mutex_ is held
  void End(const Verdict& verdict, bool is_own_verdict);
  void AwaitTold();
  void Close();

  const std::shared_ptr<Transport> transport_;
  const std::vector<RankFacts> ranks_;
  const int rank_;
  const JobOptions options_;
  OwnState own_;

  mutable std::mutex awaited_mutex_;
  const Transfer* awaited_ = nullptr;  // that this rank waits for; null: none
  int stuck_on_ = -1;                  // the peer of one that has failed; -1: none has
  std::mutex describe_mutex_;          // held while it is called, as is the next one
  Describe describe_;

  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  bool stop_ = false, urgent_ = false, closed_ = false;
  RankWord report_;                   // fault and leaving of this rank; its state is own_
  absl::Status ended_;                // by a failure
  RankFault fault_;                   // of that
  int silent_ = -1;                   // the rank that is the reason, if it says nothing
  bool is_own_verdict_ = false;       // not told by rank 0
  absl::optional<int> exit_code_;     // all may leave with it
  std::vector<std::thread> threads_;  // used by Start and Stop only
  int running_ = 0;                   // of them
  std::vector<Heard> heard_;          // rank 0: [rank]
  std::vector<bool> talks_;           // rank 0: [rank], its thread runs
  Answer answer_;                     // others: the last one
  int64_t answers_ = 0;               // others: so many
  bool talked_ = false;               // others: no further answer is asked for
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_WATCH_H_
