// What a run was given besides tensors. A checkpoint has it as text in its metadata, so that a
// later run goes on as this one was (resume.h).
#ifndef YUBA_TOOLS_RUN_CHECKPOINT_RUN_FACTS_H_
#define YUBA_TOOLS_RUN_CHECKPOINT_RUN_FACTS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/values/stored_form.h"
#include "tools/run/data/batches.h"

namespace yuba::tools {

// In the metadata of a checkpoint: the facts of its run.
constexpr char kFacts[] = "yuba.run";

struct TiedTo {
  std::string kept;
  bool transposed = false;
  friend bool operator==(const TiedTo& a, const TiedTo& b) {
    return a.kept == b.kept && a.transposed == b.transposed;
  }
};

// Algorithms of products, of a run with --tune.
struct TuningFacts {
  std::string file;                            // as the run was given it
  std::map<std::string, std::string> choices;  // Tuning::Choices (runtime/cuda/tuning.h)
};

struct RunFacts {
  Position position;                        // in the data
  int64_t batch = 0;                        // examples that a step took; 0: not known
  absl::optional<uint64_t> shuffle;         // the seed of the data's order
  std::string lr;                           // Schedule::Text; empty: there was no rate to set
  std::map<std::string, std::string> data;  // by input: type, shape and a checksum of its values
  std::map<std::string, std::string>
      settings;                        // what decides what a step computes: {"loss", "mse"}
  absl::optional<TuningFacts> tuning;  // none: nothing of the run was tuned
  std::set<std::string> frozen;        // weights that steps did not change
  std::map<std::string, TiedTo> ties;  // by the weight that is another one
  // Tensors of the checkpoint that are parameters of the user's program in another form, so that a
  // model that has these as they are finds them: {"r.bias_ih and r.bias_hh, joined", ...}.
  std::map<std::string, StoredForm> forms;
};

// {"batch":12,"data":{"x":"f32[40, 48] 90aa..."},"epoch":1,...}, in one line.
std::string FormatFacts(const RunFacts& facts);
// A user's error, which says what is wrong, where it is not such a text.
absl::StatusOr<RunFacts> ParseFacts(const std::string& text);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_CHECKPOINT_RUN_FACTS_H_
