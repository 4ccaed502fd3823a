// The processes that run one program together: a rank for each device of its mesh. A job ends as a
// whole: what one rank cannot do, or a rank that does not answer, ends it on all, for one reason
// that all of them know.
//
//   absl::StatusOr<std::unique_ptr<Job>> job = Job::Join(std::move(transport), facts, options);
//   (*job)->Send(1, bytes);   // blocks; an error where the job has ended
//   (*job)->Fail(status);     // this rank cannot go on: ends the job
//
//   const int code = (*job)->Leave(exit_code);   // the code of all
//   if (!(*job)->Closed()) std::_Exit(code);
//
// How a rank is found to be lost: each tells rank 0 several times a second what it does and hears
// from it whether the job goes on. Where no word comes for `silence_seconds`, where a connection
// closes, or where a rank waits and whom it waits for has not got on for `timeout_seconds`, rank 0
// ends the job and says of which rank, on which host, at which instruction, and who waits for it.
// Where rank 0 itself is lost, each rank ends for that reason. Launchers are not relied on.
//
// Threads: all but Join, Leave and the destructor may be called by any thread at any time.
#ifndef YUBA_RUNTIME_RANKS_JOB_H_
#define YUBA_RUNTIME_RANKS_JOB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/ranks/rank_facts.h"
#include "runtime/ranks/transport.h"

namespace yuba::runtime {

class Watch;

class Job {
 public:
  // Exchanges the facts with the others. All ranks get the same error where ranks are missing or
  // there twice, or sizes or versions differ: it names them. facts.rank and facts.size must be the
  // transport's.
  static absl::StatusOr<std::unique_ptr<Job>> Join(std::unique_ptr<Transport> transport,
                                                   RankFacts facts, const JobOptions& options);
  // Without Leave before it, others find this rank lost: Fail tells them why.
  ~Job();
  Job(const Job&) = delete;

  int rank() const;
  int size() const;
  const std::vector<RankFacts>& ranks() const;  // [rank]
  const RankFacts& Self() const { return ranks()[rank()]; }
  int RanksOfThisHost() const;  // with this one
  // Processors of this rank's mask, shared out over the ranks of its host whose masks have some of
  // them too; at least 1.
  int OwnProcessors() const;
  Transport& transport();

  // All ranks call it with a value of the same meaning, as a program's checksum. The same user's
  // error on all where they differ: "rank 3 (host b, process 12) has another program than rank 0
  // (host a, process 11)".
  absl::Status MustAgree(uint64_t value, const std::string& what);

  // Block until the bytes may be written again, or are there; meanwhile this rank waits for the
  // other. A message is received with the size that it was sent with, 0 too. The job's end is their
  // error. These and all below up to AnyOf are messages of the data channel: all ranks come to
  // them in one order.
  absl::Status Send(int to, absl::string_view bytes);
  absl::Status Receive(int from, char* data, int64_t bytes);
  // The bytes of rank 0, of any size, on all; the argument counts there alone.
  absl::StatusOr<std::string> FromFirst(absl::string_view bytes);
  // Whether it is true on any rank.
  absl::StatusOr<bool> AnyOf(bool here);

  // What this rank does now; cheap.
  void Enter(int64_t step, int instruction);
  void GotOn();
  int64_t steps() const;  // that this rank has begun
  // Of a rank whose work goes on behind the host's back: the instruction that it may be at, and the
  // rank that this waits for then; -1: none.
  void StandsAt(int instruction, int waits_for);
  // While true, this rank counts as getting on although it says nothing: it compiles, or writes a
  // file.
  void SetBusy(bool busy);
  // What an instruction does, "all-gather of y"; "" where it is none of the program. Called by any
  // thread until another one is set; nothing: none. It must not call the job.
  void SetDescribe(std::function<std::string(int instruction)> describe);

  // Transfer::Wait of a transfer of this job's transport, and says to the others for whom it waits.
  TransportError WaitFor(Transfer& transfer);

  // OK while the job goes on; else why it ended, the same on all ranks that heard of it.
  absl::Status ended() const;
  // And whose fault that was.
  RankFault fault() const;
  // This rank cannot go on, for this reason. Returns at once.
  void Fail(const absl::Status& reason);
  // What ended the job, of which a failed transfer is a sign; waits for rank 0's word about a
  // second, as a rank whose peer has gone is told why. The job has ended then.
  absl::Status EndOf(const TransportError& error);

  // Where the job has ended by a failure and this rank does not come to Leave for so many seconds
  // after that, calls `end` in another thread: it hangs in its transport or in a kernel, and only
  // the end of its process ends it. `end` is not called after Leave was, nor waited for.
  absl::Status OnHang(double seconds, std::function<void()> end);

  // The last call: waits until all ranks have come or the job has ended, and returns the code that
  // all leave with: the first that is not 0, by rank; 3 where the job has ended by a failure. Says
  // goodbye to the transport where all is well.
  int Leave(int exit_code);
  // Whether that has been said. If not, as always after a failure, the process must end by _Exit:
  // a transport's own end may wait for the others.
  bool Closed() const;

  // Whether this rank speaks for all: rank 0, and each one that found by itself that the job ends,
  // as rank 0 was lost.
  bool Speaks() const;

 private:
  explicit Job(std::shared_ptr<Watch> watch);
  absl::Status MoveEach(std::vector<Message> messages);
  std::vector<Message> WithOthers(Direction direction, char* data, int64_t bytes, int64_t stride);

  const std::shared_ptr<Watch> watch_;  // threads that hang in a transport keep it
  const int rank_, size_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_JOB_H_
