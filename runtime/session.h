// The face of the runtime: a program on devices. Put values in, run steps, read values out, see
// what moved. A step is one run of one of the program's entries.
//
//   auto program = LoadedProgram::FromFile("mlp.yuba");
//   auto session = Session::Open(*program, RunOptions());
//   (*session)->Set("x", x);            // the whole tensor; each device gets its shard
//   (*session)->Step();
//   auto y = (*session)->Get("y");      // gathered from the shards
//
// Where each process has one device (RunOptions::job), all ranks make the same calls in the same
// order, each with the same values; what fails on one of them ends the job on all.
//
// A session is used by one thread at a time; every call blocks until it is done. Several sessions
// may share one program, which they keep alive. The session owns devices, arenas and communicator
// and frees them with itself, unless something on them hangs (SomethingHangs).
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
#include "runtime/cuda/cuda_backend.h"
#include "runtime/executor.h"
#include "runtime/nan_watch.h"
#include "runtime/program/program.h"
#include "runtime/value_source.h"

namespace yuba::runtime {

constexpr int kMostThreadsPerDevice = 256;

struct RunOptions {
  std::string backend = "host";  // a name of BackendNames()
  bool interleave = false;       // one thread interleaves the devices' instructions
  uint64_t interleave_seed = 0;
  bool recognise = true;       // plan recognised collectives as such, else as plain exchanges
  bool poison = false;         // fill unwritten memory with NaN (arena_watch.h)
  bool guards = false;         // find writes outside buffers (arena_watch.h)
  bool find_nan = false;       // a step that leaves a NaN or an infinity fails (nan_watch.h)
  double timeout_seconds = 0;  // in which some device must finish an instruction, else the step
                               // fails, and in which a GPU must have taken or given a value; 0:
                               // DefaultTimeout (backend.h)
  bool trace = false;          // note when each device did what, in threaded steps; each
                               // instruction is waited for, so steps take longer
  // Threads of each device of the host, for kernels and libraries; 0: DefaultThreads. Interleaved
  // steps use one.
  int threads_per_device = 0;
  cuda::CudaOptions cuda;  // of the back end cuda
  // Whose rank this process is: it has one device of the program. Null: it has all. Outlives the
  // session.
  Job* job = nullptr;
};

// Which ranks get a value that is gathered from all of them. Others get type and shape, and no
// elements.
enum class Gathered { kEverywhere, kByFirstRank };

// Bytes are payload that one device received from another (Traffic, communicator.h).
struct Statistics {
  int64_t steps = 0;      // that succeeded
  double seconds = 0;     // of the last step
  double copy_share = 0;  // of the devices' time in the last step: copying and combining
  double wait_share = 0;  // and waiting for other devices; both in threaded steps only
  // Seconds of a device in the last step, as a mean over those of this process, as
  // Executor::Times has them.
  double kernel_seconds[kKernelClasses] = {0, 0, 0, 0};  // by class of kernel
  double copy_seconds = 0, wait_seconds = 0;
  int64_t bytes = 0;                            // moved in all steps
  std::vector<int64_t> bytes_in, bytes_out;     // [device] received, sent
  std::map<int, int64_t> bytes_by_instruction;  // by instruction: the exchanges that moved any
  int64_t arena_bytes = 0;                      // on each device
  int64_t workspace_bytes = 0;  // for libraries and exchanges, outside the arena, on the device of
                                // this process that has most
  int64_t library_calls = 0;    // on all of its devices
  int threads_per_device = 1;   // on the host
  int64_t groups = 0;           // of messages and calls that a library has made, in all steps
  std::string sums;             // how a library adds up; empty: none does
};

// Whether a session of this process has left something behind that may never end (Executor::lost):
// the process is to end by _Exit, as destructors of libraries may wait for it for ever.
bool SomethingHangs();

// The processors that this process may run on, shared out over the devices, at least 1. Where
// OMP_NUM_THREADS is set, so many are taken to be there, as by the libraries.
int DefaultThreads(int devices);

// The user's error for inputs and parameters that have no value and are not to be made up. It names
// the first five.
absl::Status NoValuesFor(std::vector<std::string> missing);

class Session {
 public:
  // Allocates the devices, plans the exchanges and sets the values that come with the program
  // (data, fill, draws, references to files, which are read here and not again). Unavailable where
  // this machine lacks the back end or a library; ResourceExhausted where it lacks memory
  // or threads.
  static absl::StatusOr<std::unique_ptr<Session>> Open(std::shared_ptr<const LoadedProgram> program,
                                                       const RunOptions& options);
  ~Session();

  // Sets an input or parameter by name from the whole tensor. The shape must be the port's.
  // Integers are converted if they fit; floats must have the program's type, or be f16 or bf16 for
  // f32. In hash arithmetic floats may be given as floats, or as 64-bit elements (type kI64). The
  // value stays until it is set again; after an error there is none.
  absl::Status Set(const std::string& name, const TensorData& tensor);
  // The same of a tensor in a file, which is read in pieces; also an error where it changed.
  absl::Status SetFromFile(const std::string& name, const StoredTensor& tensor);

  // Sets random values (initial_values.h) for every input and parameter that has none yet. In hash
  // arithmetic it replaces also those of float parameters of more than one element, because a fill
  // of equal values would hide elements that went to the wrong position.
  absl::Status Randomize(uint64_t seed);

  // Names of the inputs and parameters that were set or made up, in the place of what came with the
  // program or of nothing.
  const std::set<std::string>& replaced() const { return replaced_; }

  // Names of inputs and parameters without a value.
  std::vector<std::string> Missing() const;
  // Those of them that the entry reads, by its position in LoadedProgram::entries.
  std::vector<std::string> MissingFor(int entry) const;

  // Runs the entry `init`, where there is one and it has not run since a parameter that it reads
  // was set.
  absl::Status RunInitIfDue();

  // One run of an entry, the program's first one but `init` where the name is empty, on all devices
  // (executor.h says how it fails). The entry `init` runs before it, where it is due. After a
  // failure that costs the devices, as a GPU's illegal address does, the error says so, and from
  // then on every call gives that error. FailedPrecondition with RunOptions::find_nan, where what
  // it left is not finite. NoValuesFor where the entry reads what has no value; the user's error
  // where there is no such entry, and where the run put more rows into caches than they have, so
  // that its outputs miss some. Programs in hash arithmetic run on numbers that are made up: they
  // may do that.
  absl::Status Step(const std::string& entry = "");

  // An output by name, gathered from the shards in its port's shape. In hash arithmetic floats are
  // 64-bit elements (type kI64). The user's error where no entry that computes it has run.
  absl::StatusOr<TensorData> Get(const std::string& name,
                                 Gathered gathered = Gathered::kEverywhere);
  // Any buffer, in its flat dimensions in the users' order; elements that no device holds are zero.
  absl::StatusOr<TensorData> GetBuffer(int buffer, Gathered gathered = Gathered::kEverywhere);

  // Whose rank this process is; null where it has all devices.
  Job* job() const { return options_.job; }
  // Whether this process gets what is gathered kByFirstRank.
  bool IsFirstRank() const { return options_.job == nullptr || options_.job->rank() == 0; }

  Statistics statistics() const;
  // What `device` did in all steps; empty without RunOptions::trace, and of a device of another
  // rank, until GatherTraces has been called: then rank 0 has those of all.
  const std::vector<TraceEvent>& trace(int device) const { return executor_->trace(device); }
  absl::Status GatherTraces();
  // The plan of an exchange; `instruction` must be one.
  const ExchangePlan& exchange_plan(int instruction) const { return fleet_->plans[instruction]; }
  const LoadedProgram& program() const { return *program_; }
  Fleet& fleet() { return *fleet_; }  // for tests that break something

 private:
  Session() = default;
  // OK, or why the session cannot go on: what the executor says, or an unusable device.
  absl::Status WhyLost() const;
  absl::Status CheckUsable() const;  // the same as the error of every later call
  absl::Status AddWatchers();
  absl::Status PlanExchanges();
  absl::Status SetInitialValues();
  absl::Status SetFrom(const std::string& name, ElementType type, const std::vector<int64_t>& dims,
                       int64_t bytes, ValueSource& source);
  absl::Status FillRandom(const program::Port& port, bool parameter, uint64_t seed);
  const program::Port* FindGiven(const std::string& name) const;
  absl::StatusOr<int> FindEntry(const std::string& name) const;
  absl::Status Run(int entry);
  void ForgetInit(int buffer);  // where it reads the buffer, which has another value now
  absl::Status CheckCaches(const std::string& entry);
  absl::Status CheckComputed(const program::Port& output) const;
  absl::StatusOr<std::string> ReadShard(int buffer, int device);
  absl::StatusOr<std::string> Gather(int buffer, Gathered gathered);

  std::shared_ptr<const LoadedProgram> program_;
  RunOptions options_;
  ArenaLayout layout_;
  std::unique_ptr<Fleet> fleet_ = std::make_unique<Fleet>();
  NanWatch* nan_watch_ = nullptr;  // one of the fleet's watchers; null without find_nan
  std::unique_ptr<Executor> executor_;
  std::set<std::string> given_;     // inputs and parameters that have a value
  std::set<std::string> replaced_;  // those of them that got it here
  std::vector<bool> run_;           // [entry]: whether it has run; `init`: since a value was set
  Statistics statistics_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_SESSION_H_
