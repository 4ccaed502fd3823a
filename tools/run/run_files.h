// The files of a run: values that are read before anything is compiled or run, and where outputs
// go. So a mistake in a file's name costs no compilation. Errors are the user's and name the file.
#ifndef YUBA_TOOLS_RUN_RUN_FILES_H_
#define YUBA_TOOLS_RUN_RUN_FILES_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "runtime/cuda/tuning.h"
#include "runtime/session.h"
#include "tools/run/checkpoint/checkpoint.h"
#include "tools/run/data/schedule.h"
#include "tools/run/entry_runs.h"
#include "tools/run/run_flags.h"
#include "tools/run/run_ports.h"

namespace yuba::tools {

struct RunFiles {
  std::vector<EntryRun> runs;                 // in their order; one at least
  std::map<std::string, StoredView> weights;  // from --weights, by parameter; not read
  std::map<std::string, TensorData> made;     // from --weights too, put together of several
  std::map<std::string, JoinedParts> joined;  // from --weights: parts of parameters
  // From --weights or --resume: of numbers that are part of the code, which is other code with
  // them.
  std::map<std::string, TensorData> numbers;
  absl::optional<Checkpoint> checkpoint;  // from --resume; its tensors are not read
  RunFacts facts;                         // of the last run, as its checkpoints have them
  std::shared_ptr<cuda::Tuning> tuning;   // from --tune; null: none
  absl::optional<EntryRun> eval;          // from --eval: all of it, once
  absl::optional<Schedule> lr;            // from --lr-schedule
  absl::optional<Schedule> planned_lr;    // the plan's, of a program that trains
  PortType lr_type;                       // of kLearningRate; one element, f32 or f64
};

// Reads the files that the flags name. Also an error: a value that is missing and not made up
// (--random), and an output that cannot be written or is one of the files that were read.
absl::StatusOr<RunFiles> ReadRunFiles(const RunFlags& flags, const RunPorts& ports);

// Of what was read, but not of the elements of tensors that are in files: names, types and extents
// of weights and states, the checkpoint's step and facts, the data. Ranks that read one folder have
// equal ones.
uint64_t PrintOf(const RunFiles& files);

// The seed that the value of --random gives: "true" is the usual seed.
absl::StatusOr<uint64_t> RandomSeed(const std::string& random);

// Writes the outputs of the session as output_0.npy, ... into the folder of --outputs, which is
// made where it is missing; where the program has several entries, those of each that has run into
// a folder of the entry's name in it.
absl::Status WriteOutputs(runtime::Session& session, const RunFlags& flags,
                          const std::vector<EntryRun>& runs);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RUN_FILES_H_
