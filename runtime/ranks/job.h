// The processes that run one program together: a rank for each device of its mesh. A job ends as a
// whole: what one rank cannot do, or a rank that does not answer, ends it on all, for one reason
// that all of them know.
//
//   YUBA_ASSIGN_OR_RETURN(std::unique_ptr<Job> job, Job::Join(std::move(transport), facts, options));
//   job->Send(1, bytes);                      // blocks; an error where the job has ended
//   job->Fail(status);                        // this rank cannot go on: ends the job
//   return job->Leave(exit_code);             // the code of all
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
#include "runtime/ranks/transport.h"

namespace yuba::runtime {

// What each rank tells the others before any work.
struct RankFacts {
  int rank = 0, size = 1;  // as its launcher says
  std::string launcher;    // "mpirun"
  std::string host;        // its name
  int64_t process = 0;     // its number there
  std::string version;     // of the command
  std::vector<int> processors;  // of the host, that it may run on (sched_getaffinity)
};

struct JobOptions {
  double timeout_seconds = 600;  // in which a rank that others wait for must get on
  double silence_seconds = 20;   // in which some word must come of each rank
  double beat_seconds = 0.1;     // between two words of a rank
};

// What a rank does, as others see it.
struct RankState {
  int64_t step = 0;        // steps that it has begun
  int instruction = -1;    // of the program, that it is in; -1: none
  int waits_for = -1;      // the rank that it waits for; -1: it works
  int64_t progress = 0;    // grows when it has got on
};

class Job {
 public:
  // Meets the others and exchanges the facts. All ranks get the same error where ranks are missing
  // or there twice, or sizes or versions differ: it names them.
  static absl::StatusOr<std::unique_ptr<Job>> Join(std::unique_ptr<Transport> transport,
                                                   RankFacts facts, const JobOptions& options);
  virtual ~Job();

  int rank() const;
  int size() const;
  const std::vector<RankFacts>& ranks() const;  // [rank]
  int RanksOfThisHost() const;                  // with this one
  // Processors of this rank's mask, shared out over the ranks of its host whose masks have some of
  // them too; at least 1.
  int OwnProcessors() const;
  Transport& transport();

  // All ranks call it with a value of the same meaning, as a program's checksum. The same user's
  // error on all where they differ: "rank 3 (host b) has another program than rank 0 (host a)".
  absl::Status MustAgree(uint64_t value, const std::string& what);

  // Block until the bytes are there or may be written again. Every message of one size. The job's
  // end is their error.
  absl::Status Send(int to, absl::string_view bytes);
  absl::Status Receive(int from, char* data, int64_t bytes);
  // The bytes of rank 0, of any size, on all; the argument counts there alone.
  absl::StatusOr<std::string> FromFirst(absl::string_view bytes);
  // Whether it is true on any rank.
  absl::StatusOr<bool> AnyOf(bool here);

  // What this rank does now; cheap.
  void Enter(int64_t step, int instruction);
  void GotOn();
  void WaitsFor(int rank);  // -1: it works
  // While true, this rank counts as getting on although it says nothing: it compiles, or writes a
  // file.
  void SetBusy(bool busy);
  // How an instruction is called; of one of the program. Until it is set: "instruction 8".
  void SetDescribe(std::function<std::string(int instruction)> describe);

  // OK while the job goes on; else why it ended, the same on all ranks that heard of it.
  absl::Status ended() const;
  // Called once, from any thread, when it ends; at once where it has.
  void OnEnd(std::function<void()> on_end);
  // This rank cannot go on, for this reason. Returns at once.
  void Fail(const absl::Status& reason);
  // The engine's word on a failed transfer: what ended the job where that is known soon, as a rank
  // whose peer has gone may be told why.
  absl::Status EndOf(const TransportError& error);

  // The last call: waits until all ranks have come or the job has ended, and returns the code that
  // all leave with: the first that is not 0, by rank; 3 where the job has ended by a failure.
  int Leave(int exit_code);

  // Whether this rank speaks for all: rank 0, or, where that is lost, each one.
  bool Speaks() const;

 private:
  class Implementation;
  explicit Job(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_JOB_H_
