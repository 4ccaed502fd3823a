#include "tools/run/ranks.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "runtime/backend.h"
#include "runtime/cuda/facts.h"
#include "runtime/machine_limits.h"
#include "runtime/ranks/alarm.h"
#include "runtime/ranks/launcher.h"
#include "runtime/ranks/open_transport.h"
#include "runtime/ranks/processor_shares.h"
#include "runtime/ranks/start_ranks.h"
#include "tools/exit_code.h"
#include "tools/run/ended_file.h"
#include "tools/run/rank_output.h"
#include "tools/version.h"

namespace yuba::tools {
namespace {

constexpr char kCudaBackend[] = "cuda";

runtime::RankFacts FactsOf(const runtime::Launched& launched) {
  runtime::RankFacts facts;
  facts.rank = launched.rank;
  facts.size = launched.size;
  facts.launcher = launched.launcher;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  facts.host = host;
  facts.process = getpid();
  facts.version = kVersion;
  facts.processors = runtime::OwnProcessors();
  return facts;
}

// Where this job's transport meets, if it must be told; empty: nobody says.
std::string MeetingOf(const runtime::Launched& launched, const RunFlags& flags) {
  return flags.meet.empty() ? launched.meeting : absl::StrCat(flags.meet, "/", launched.job);
}

// Says what no rank has said.
absl::Status StartHere(const RunFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(std::vector<std::string> arguments, OwnArguments());
  const EndedFile ended(flags, flags.ranks);
  ended.Remove();
  const runtime::HeldSignals signals;
  runtime::StartOptions options;
  options.processors = ProcessorsOfRanks(flags, flags.ranks);
  YUBA_ASSIGN_OR_RETURN(
      const runtime::RanksEnd end,
      runtime::StartRanks(flags.ranks, PointersTo(arguments).data(), signals, options));
  if (end.reason.empty()) return StatusOf(end.exit_code);
  // By the signal that was passed on: ranks that do not listen yet, or were asked twice.
  if (end.asked != 0 && end.exit_code == 128 + end.asked) {
    const absl::Status status = absl::CancelledError("interrupted before it could save its state");
    ended.Write(status, {});
    return status;
  }
  const absl::Status status = InternalError(end.reason, "; look at what it wrote");
  ended.Write(status, {end.rank, end.host, end.process, 0});
  return status;
}

// MPI's own start waits for all ranks, for ever where one of them is stopped, and can't be ended:
// after the limit, and some time in which a transport may end by itself, the process ends.
absl::StatusOr<std::unique_ptr<runtime::Transport>> OpenTransport(
    const runtime::Launched& launched, const runtime::TransportOptions& options,
    const EndedFile& ended) {
  constexpr double kTransportSeconds = 5;
  const runtime::Alarm alarm(options.timeout_seconds + kTransportSeconds, [&] {
    const absl::Status status = absl::DeadlineExceededError(absl::StrCat(
        "rank ", launched.rank, ": ", launched.transport, ": not all of the ", launched.size,
        " ranks have come within ", options.timeout_seconds, " s; see what their processes do"));
    ended.Write(status, {});
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    std::_Exit(ExitCode(status));
  });
  return runtime::OpenTransport(launched.transport, options);
}

double TimeoutOf(const RunFlags& flags) {
  return flags.timeout > 0 ? flags.timeout : runtime::DefaultTimeout(flags.backend);
}

absl::StatusOr<std::unique_ptr<runtime::Job>> Join(const runtime::Launched& launched,
                                                   const RunFlags& flags, const EndedFile& ended) {
  runtime::TransportOptions options;
  options.rank = launched.rank;
  options.size = launched.size;
  options.meeting = MeetingOf(launched, flags);
  options.interface = flags.interface;
  runtime::JobOptions limits;
  limits.timeout_seconds = TimeoutOf(flags);
  limits.silence_seconds = std::min(limits.silence_seconds, limits.timeout_seconds);
  // Processes that are started together come within some time of each other.
  options.timeout_seconds = std::min(options.timeout_seconds, 5 * limits.timeout_seconds);
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<runtime::Transport> transport,
                        OpenTransport(launched, options, ended));
  return runtime::Job::Join(std::move(transport), FactsOf(launched), limits);
}

// Whether the run is one on GPUs for which processes may be started: one thread that interleaves
// all devices is one process.
bool MayHaveRanks(const RunFlags& flags) {
  return flags.backend == kCudaBackend && !flags.interleave.has_value();
}

// Where there is no GPU, the back end says so.
void StartForGpus(const std::function<int()>& devices, RunFlags& flags) {
  const absl::StatusOr<std::vector<cuda::GpuFacts>> gpus = cuda::FindGpus();
  if (!gpus.ok() || gpus->size() < 2) return;
  flags.ranks = RanksOfItself(devices(), static_cast<int>(gpus->size()));
  if (flags.ranks == 0) return;
  std::cerr << "note: each of the " << flags.ranks
            << " devices is a process with a GPU of its own; "
            << "--ranks 1 has all of them on one GPU\n";
}

// Some launchers kill all ranks when the first one ends with an error, also rank 0 before it has
// said why. In most cases it has by then: it waits for others three seconds at most (watch.cc).
void LetSpeak(const runtime::Launched& launched) {
  constexpr std::chrono::seconds kToSpeak(4);
  if (launched.ends_all) std::this_thread::sleep_for(kToSpeak);
}

constexpr char kOutcome[] = "yuba/outcome";

bool IsOutcome(const absl::Status& status) {
  return status.ok() || status.GetPayload(kOutcome).has_value();
}

// One of several ranks, from the meeting of all to their end.
class Rank {
 public:
  Rank(std::string command, const runtime::Launched& launched, const RunFlags& flags)
      : command_(std::move(command)),
        launched_(launched),
        flags_(flags),
        ended_(flags, launched.rank),
        output_(launched.rank, flags.all_ranks) {
    if (!launched.note.empty()) std::cerr << "note: " << launched.note << "\n";
    if (flags.writes) ended_.Remove();
  }

  absl::Status Run(const std::function<absl::Status(runtime::Job*)>& run) {
    const absl::StatusOr<std::unique_ptr<runtime::Job>> joined = Join(launched_, flags_, ended_);
    if (!joined.ok()) EndAlone(joined.status());
    runtime::Job& job = **joined;
    const absl::Status limited = job.OnHang(TimeoutOf(flags_), [this, &job] { EndHanging(job); });
    if (!limited.ok()) EndAlone(limited);
    job.SetBusy(true);  // until the steps begin: it reads, plans and compiles, and prepares devices
    absl::Status status = run(&job);
    std::cout.flush();
    if (status.ok() && !std::cout) status = UserError("the output cannot be written");
    return End(job, AgreedEnd(job, status));
  }

 private:
  // The others were not met. The transport may have been opened, and must not be asked to end
  // (transport.h).
  [[noreturn]] void EndAlone(const absl::Status& problem) {
    output_.GiveBack();
    const absl::Status status = Annotate(problem, absl::StrCat("rank ", launched_.rank));
    ended_.Write(status, {});
    std::cerr << command_ << ": " << status.message() << "\n";
    std::cout.flush();
    std::_Exit(ExitCode(status));
  }

  // How the job ends, which all ranks agree on, where this one ends with `status`.
  static absl::Status AgreedEnd(runtime::Job& job, const absl::Status& status) {
    if (!IsOutcome(status)) job.Fail(status);
    job.SetBusy(false);
    const int exit_code = job.Leave(ExitCode(status));
    if (!job.ended().ok()) return job.ended();
    return ExitCode(status) == exit_code ? status : StatusOf(exit_code);  // rank 0 has said why
  }

  absl::Status End(const runtime::Job& job, const absl::Status& status) {
    if (!status.ok() && !job.Speaks()) LetSpeak(launched_);
    if (!status.ok() && job.Speaks()) ended_.Write(status, EndedByOf(job));
    if (job.Speaks() && !flags_.all_ranks) output_.GiveBack();
    if (!status.message().empty()) std::cerr << command_ << ": " << status.message() << "\n";
    if (job.Closed()) return absl::Status(status.code(), "");
    std::cout.flush();
    std::cerr.flush();
    std::_Exit(ExitCode(status));
  }

  // In the place of a thread that hangs, which may hold locks of the standard streams.
  [[noreturn]] void EndHanging(const runtime::Job& job) {
    const absl::Status status = job.ended();
    if (job.Speaks()) {
      ended_.Write(status, EndedByOf(job));
      dprintf(STDERR_FILENO, "%s: %s\n", command_.c_str(), std::string(status.message()).c_str());
    }
    std::_Exit(ExitCode(status));
  }

  const std::string command_;
  const runtime::Launched& launched_;
  const RunFlags& flags_;
  const EndedFile ended_;
  RankOutput output_;
};

}  // namespace

absl::Status StatusOf(int exit_code) {
  switch (exit_code) {
    case 0: return absl::OkStatus();
    case 1: return absl::FailedPreconditionError("");
    case 2: return absl::InvalidArgumentError("");
    case 3: return absl::InternalError("");
    case 130: return absl::CancelledError("");
    default:
      if (exit_code > 128) return absl::InternalError("");  // of a rank that a signal ended
      return InternalError("a rank ended with code ", exit_code);
  }
}

std::vector<std::vector<int>> ProcessorsOfRanks(const RunFlags& flags, int ranks) {
  if (flags.backend == kCudaBackend || flags.no_bind) return {};
  return runtime::ProcessorShares(runtime::OwnProcessors(), ranks);
}

absl::StatusOr<std::vector<std::string>> OwnArguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  if (arguments.empty()) return InternalError("/proc/self/cmdline cannot be read");
  return arguments;
}

std::vector<char*> PointersTo(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(&argument[0]);
  pointers.push_back(nullptr);
  return pointers;
}

absl::Status AsOutcome(absl::Status status) {
  if (!status.ok()) status.SetPayload(kOutcome, absl::Cord());
  return status;
}

int RanksOfItself(int devices, int gpus) { return devices > 1 && gpus >= devices ? devices : 0; }

absl::Status RunAsRank(const std::string& command, RunFlags& flags,
                       const std::function<int()>& devices,
                       const std::function<absl::Status(runtime::Job*)>& run) {
  const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
  YUBA_ASSIGN_OR_RETURN(const absl::optional<runtime::Launched> launched,
                        runtime::LaunchedBy(variable));
  const bool several = launched.has_value() && launched->size > 1;
  const bool ours = std::getenv(runtime::kRankVariable) != nullptr;
  if (flags.ranks > 0 && several && !ours) {
    return UserError("--ranks ", flags.ranks, ": ", launched->launcher, " has started ",
                     launched->size, " ranks already: leave one of the two away");
  }
  if (flags.backend == kModelBackend && (several || flags.ranks > 1)) {
    return UserError("--backend ", kModelBackend, " computes nothing, for all devices at once: ",
                     several ? "start it without " + launched->launcher : "leave --ranks away");
  }
  if (flags.ranks == 0 && !launched.has_value() && MayHaveRanks(flags))
    StartForGpus(devices, flags);
  if (flags.ranks > 1 && !ours) return StartHere(flags);
  if (!several) return run(nullptr);
  flags.writes = launched->rank == 0;
  flags.local_rank = launched->local_rank;
  return Rank(command, *launched, flags).Run(run);
}

}  // namespace yuba::tools
