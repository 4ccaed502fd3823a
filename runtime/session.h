// A program on devices: put values in, run steps, read values out, see what moved.
#ifndef YUBA_RUNTIME_SESSION_H_
#define YUBA_RUNTIME_SESSION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "opsemantics/values/tensor_file.h"
#include "runtime/arena_watch.h"
#include "runtime/executor.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

struct RunOptions {
  std::string backend = "host";
  bool interleave = false;  // one thread interleaves the devices' instructions
  uint64_t interleave_seed = 0;
  bool recognise = true;  // run recognised collectives as such, else as plain exchanges
  bool poison = false;    // arena_watch.h
  bool guards = false;
  double timeout_seconds = 600;  // of one wait for another device
  bool trace = false;            // note when each device did what
};

// Bytes are payload, counted where devices copy from each other.
struct Statistics {
  int64_t steps = 0;
  double seconds = 0;     // of the last step
  double copy_share = 0;  // of the devices' time in the last step, copying and combining
  double wait_share = 0;  // and waiting for other devices; both with threads only
  int64_t bytes = 0;      // moved in all steps
  std::vector<int64_t> bytes_in, bytes_out;  // by device
  std::map<int, int64_t> bytes_by_place;     // of the exchanges that moved any
  int64_t arena_bytes = 0;                   // a device
  int64_t workspace_bytes = 0;  // the largest device's, of libraries, outside the arena
  int64_t library_calls = 0;
};

// The error for values that are neither given nor to be made up.
absl::Status NoValuesFor(std::vector<std::string> missing);

class Session {
 public:
  // Values that come with the program (data, fill) are set. An unavailable back end is
  // absl::StatusCode::kUnavailable.
  static absl::StatusOr<std::unique_ptr<Session>> Open(std::shared_ptr<const LoadedProgram> program,
                                                       const RunOptions& options);

  // An input or parameter by name: the whole tensor. Integers are converted if they fit; in hash
  // arithmetic floats may be given as such, or as 64-bit elements (type kI64).
  absl::Status Set(const std::string& name, const HostTensor& tensor);

  // Random values for every input and parameter that has none yet. In hash arithmetic also for
  // float parameters of more than one element that have some: nothing is proved by values that are
  // equal.
  absl::Status Randomize(uint64_t seed);

  // Names of inputs and parameters without a value.
  std::vector<std::string> Missing() const;

  // One step on all devices; an error where values are missing.
  absl::Status Step();

  // An output by name, gathered. In hash arithmetic floats are 64-bit elements (type kI64).
  absl::StatusOr<HostTensor> Get(const std::string& name);
  // The same of any buffer; what no device holds is zero.
  absl::StatusOr<HostTensor> GetBuffer(int buffer);

  Statistics statistics() const;
  const std::vector<TraceEvent>& trace(int device) const { return executor_->trace(device); }
  const LoadedProgram& program() const { return *program_; }
  Fleet& fleet() { return fleet_; }  // for tests that break something

 private:
  Session() = default;
  absl::Status PlanExchanges();
  absl::Status SetInitialValues();
  absl::Status SetElements(const program::Port& port, const std::string& elements);
  absl::Status SetFill(const program::Port& port, const std::string& element);
  absl::Status FillRandom(const program::Port& port, bool parameter, uint64_t seed);
  const program::Port* FindGiven(const std::string& name) const;
  absl::StatusOr<std::string> Gather(int buffer);

  std::shared_ptr<const LoadedProgram> program_;
  RunOptions options_;
  ArenaLayout layout_;
  Fleet fleet_;
  std::unique_ptr<Executor> executor_;
  std::set<std::string> given_;  // inputs and parameters that have a value
  Statistics statistics_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_SESSION_H_
