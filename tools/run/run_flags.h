// The flags that `yuba run` and `yuba-run` share, as they were given; nothing is read yet.
#ifndef YUBA_TOOLS_RUN_RUN_FLAGS_H_
#define YUBA_TOOLS_RUN_RUN_FLAGS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "runtime/session.h"

namespace CLI {
class App;
}

namespace yuba::tools {

// In the place of a checkpoint: that of --save, where there is one yet.
inline constexpr char kLatest[] = "latest";

// The back end that computes nothing and predicts times instead (predict_command.h).
inline constexpr char kModelBackend[] = "model";

struct RunFlags {
  std::vector<std::string> inputs;   // NAME=FILE
  std::string input_dir;             // as ReadRuns has it
  std::string data;                  // a folder or file of batches, as ReadRuns has it
  absl::optional<uint64_t> shuffle;  // the seed of the order of --data; none: as it is there
  int epochs = 0;                    // of --data; 0: nobody says
  std::string eval;                  // data of the entry `eval`, as --data; empty: it does not run
  int eval_every = 0;             // runs it also after so many steps each; 0: after the last alone
  std::string lr;                 // the learning rate, as ReadSchedule has it; empty: it stays
  std::string output_dir;         // empty: outputs are not written
  std::string weights;            // a file of safetensors, or a folder with an index
  std::string weights_prefix;     // that names in it begin with, and parameters do not
  bool partial_weights = false;   // it may lack weights
  absl::optional<double> expect;  // how far outputs may be from those expected, as a share of
                                  // the largest expected magnitude; none: not compared
  absl::optional<uint64_t> seed;  // of the program's random numbers
  std::string random;             // empty: no; "true": with the usual seed; else the seed
  std::vector<std::string> entries;     // NAME or NAME*TIMES; none: each but `init`
  int steps = 0;                        // 0: one, or as many as --inputs has folders for
  std::string trace;                    // the file to write; empty: none
  std::string log;                      // the table to write, a line a step; empty: none
  std::string save;                     // the checkpoint to write, a file or folder; empty: none
  std::string resume;                   // the checkpoint to go on from, or kLatest; empty: none
  std::set<std::string> overrides;      // of resume: what is not as in its run (CheckAsItWas)
  int64_t shard_bytes = 2'000'000'000;  // of each file of a checkpoint that is a folder, at most
  int save_every = 0;  // also after so many steps each; 0: after the last step alone
  bool json = false;
  std::string backend = "host";  // a name of runtime::BackendNames(), or kModelBackend
  std::string machine;           // to predict for, as FindMachine has it; empty: none
  int threads_per_device = 0;    // 0: the machine's, shared out
  std::string cuda_libs;         // a folder; empty: the loader's path
  std::string tune;              // the file of a tuning (tuning_file.h); empty: none
  double timeout = 0;            // seconds; 0: the back end's
  int ranks = 0;                 // to start on this machine, one a device; 0: none
  bool no_bind = false;          // these may run on any processor
  bool all_ranks = false;        // each of them prints, and not rank 0 alone
  std::string meet;              // the folder in which ranks find each other; empty: it is
                                 // known without one
  bool share_gpu = false;        // ranks may have the same GPU
  int local_rank = -1;           // this one's number on its host; -1: no launcher says it
  std::string interface;         // of the network, that ranks use; empty: the transport's choice
  std::string milestones;        // the pipe to tell what is reached (milestones.h); empty: none
  bool writes = true;            // files; false: another rank writes them
  std::string sums;              // ordered, repeatable, fast; empty: the back end's
  bool no_graph = false;         // instructions of GPUs are started one by one
  absl::optional<uint64_t> interleave;  // one thread runs all devices, in an order of this seed
  std::set<std::string> guards;         // memory, nan
  // Bytes that a run of each entry must move, where a plan promises them; an entry that is not
  // listed may move any.
  std::map<std::string, int64_t> planned_bytes;

  // Whether the host sees what each kernel and exchange of a step takes: on GPUs, which work behind
  // its back, only of what is traced, for which it waits.
  bool SeesKinds() const {
    return !interleave.has_value() && (backend == "host" || !trace.empty());
  }
};

// `flags` must outlive `app`.
void AddRunFlags(CLI::App* app, RunFlags& flags);

// What the flags say of the session. Where --cuda-libs is among them, libraries are looked for
// there from here on.
runtime::RunOptions RunOptionsOf(const RunFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RUN_FLAGS_H_
