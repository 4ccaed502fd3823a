// Why a run of several ranks did not end well, as a file for schedulers and scripts: ended.json in
// the folder of --save, or else of --outputs, or else of --log; without these there is none.
//
//   {"reason": "rank 1 (host a, process 12) is lost: ...", "rank": 1, "host": "a", "process": 12,
//    "exit_code": 3, "step": 7, "time": "2026-11-30T12:00:00Z"}
//
// Rank, host and process are those of the rank that is the reason, null where none is named; step
// counts the runs of entries that it had begun. The file is there as a whole or not at all.
#ifndef YUBA_TOOLS_RUN_ENDED_FILE_H_
#define YUBA_TOOLS_RUN_ENDED_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "runtime/ranks/job.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {

// The rank that is the reason.
struct EndedBy {
  int rank = -1;  // -1: none is named, and only `step` counts
  std::string host;
  int64_t process = 0;
  int64_t step = 0;
};

struct Ended {
  std::string reason;
  EndedBy by;
};

EndedBy EndedByOf(const runtime::Job& job);

class EndedFile {
 public:
  // rank: this process's.
  EndedFile(const RunFlags& flags, int rank);

  // At the start of a run, by rank 0: no earlier run's file is taken for this one's.
  void Remove() const;

  // What the file says, of which `by` has rank and host alone; none where there is no such file.
  absl::optional<Ended> Read() const;

  // `status` is how all end, not OK. Ranks that find by themselves that rank 0 is lost may each
  // write: the first counts. What can't be written is said on stderr.
  void Write(const absl::Status& status, const EndedBy& by) const;

 private:
  std::string folder_, path_;  // empty: nothing is written
  int rank_;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_ENDED_FILE_H_
