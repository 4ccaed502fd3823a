#include "tools/launch/programs.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/start_process.h"
#include "tools/program/build_program.h"
#include "tools/run/rank_output.h"
#include "tools/run/ranks.h"
#include "tools/run/run_files.h"

namespace yuba::tools {
namespace {

constexpr int kLowestPriority = 19;

// The user's errors of the run's files, found before anything is compiled. What ranks say again of
// these files is not printed.
absl::Status CheckFiles(const LaunchFlags& flags, const compiler::Model& model) {
  const RankOutput silence(1, false);
  YUBA_ASSIGN_OR_RETURN(const RunFiles files,
                        ReadRunFiles(FlagsOfRank(flags), PortsOfModel(model)));
  if (files.runs.size() > 1) {
    return UserError("the plan has ", files.runs.size(), " entries, and a launch goes on with the ",
                     "steps of one: choose it with --entry ", files.runs[0].entry);
  }
  if (files.numbers.empty()) return absl::OkStatus();
  return UserError(
      flags.command.run.weights.empty() ? flags.command.run.resume : flags.command.run.weights,
      ": has another value of ", files.numbers.begin()->first, ", which is part of ",
      "the program's code: plan the model that yuba export --weights makes of it");
}

}  // namespace

absl::Status MakeProgram(const LaunchFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(const PlannedModel planned, LoadFor(flags.command, flags.program_for));
  // The first one is for all devices; when later ones are made the run has read its files.
  if (flags.program_for == flags.devices)
    YUBA_RETURN_IF_ERROR(CheckFiles(flags, planned.loaded.model));
  YUBA_RETURN_IF_ERROR(WriteFile(PromiseIn(flags.folder, flags.program_for),
                                 nlohmann::json(PromisedBytes(planned)).dump()));
  return WriteProgram(planned.loaded.model, planned.plan, ChoiceOf(flags.command),
                      !flags.command.no_verify, runtime::FileValues::kReference,
                      ProgramIn(flags.folder, flags.program_for))
      .status();
}

absl::StatusOr<MadeProgram> ReadProgram(const std::string& folder, int devices) {
  MadeProgram made;
  YUBA_ASSIGN_OR_RETURN(made.program, runtime::LoadedProgram::FromFile(ProgramIn(folder, devices)));
  YUBA_ASSIGN_OR_RETURN(const std::string text, ReadFile(PromiseIn(folder, devices)));
  const auto promised = nlohmann::json::parse(text, nullptr, false);
  if (!promised.is_object()) return InternalError(PromiseIn(folder, devices), " is damaged");
  for (const auto& [entry, bytes] : promised.items()) made.planned_bytes[entry] = bytes;
  return made;
}

std::vector<std::string> ArgumentsOf(const std::vector<std::string>& user,
                                     const std::vector<std::string>& part) {
  std::vector<std::string> arguments = user;
  arguments.insert(arguments.begin() + 2, part.begin(), part.end());  // behind "yuba launch"
  return arguments;
}

Programs::Programs(const LaunchFlags& flags, const std::string& folder,
                   const std::vector<std::string>& arguments, const runtime::HeldSignals& signals)
    : flags_(flags),
      folder_(folder),
      arguments_(arguments),
      signals_(signals),
      sources_(SourcesNow()) {}

Programs::~Programs() { EndAhead(); }

bool Programs::Has(int devices) const {
  std::error_code error;
  return std::filesystem::exists(ProgramIn(folder_, devices), error);
}

absl::Status Programs::Make(int devices) {
  if (Has(devices)) return absl::OkStatus();
  if (ahead_ > 0 && ahead_for_ == devices) {
    const pid_t process = ahead_;
    ahead_ = 0;
    YUBA_RETURN_IF_ERROR(Await(process).status());
    if (Has(devices)) return absl::OkStatus();
  }
  EndAhead();
  if (SourcesNow() != sources_) {
    return UserError(flags_.command.model.file, " or ", flags_.command.plan, ": has changed since ",
                     "the launch began, so no program for ", devices,
                     " devices can be made of it; ", "launch again");
  }
  YUBA_ASSIGN_OR_RETURN(const int code, RunPart({"--launch-program", absl::StrCat(devices)}));
  if (code == 0 && !Has(devices)) return InternalError("no program was made");
  return code > 128 ? InternalError("what makes the program for ", devices,
                                    " devices was ended by signal ", code - 128)
                    : StatusOf(code);
}

void Programs::MakeAhead(int most, int least) {
  int status = 0;
  if (ahead_ > 0) {
    if (waitpid(ahead_, &status, WNOHANG) == 0) return;
    if (!Has(ahead_for_)) failed_.insert(ahead_for_);
    ahead_ = 0;
  }
  int devices = most;
  while (devices >= least && (Has(devices) || failed_.count(devices) > 0)) --devices;
  if (devices < least || SourcesNow() != sources_) return;
  const absl::StatusOr<pid_t> process =
      Start({"--launch-program", absl::StrCat(devices), "--launch-ahead"});
  if (!process.ok()) {
    failed_.insert(devices);
    return;
  }
  ahead_ = *process;
  ahead_for_ = devices;
  setpriority(PRIO_PROCESS, ahead_, kLowestPriority);  // at worst it has the usual one
}

absl::StatusOr<int> Programs::RunPart(const std::vector<std::string>& part, double seconds) const {
  YUBA_ASSIGN_OR_RETURN(const pid_t process, Start(part));
  return Await(process, seconds);
}

absl::StatusOr<pid_t> Programs::Start(const std::vector<std::string>& part) const {
  std::vector<std::string> arguments = ArgumentsOf(arguments_, part);
  arguments = ArgumentsOf(arguments, {"--launch-folder", folder_});
  std::vector<std::string> variables;
  for (char* const* variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  return runtime::StartProcess(PointersTo(arguments).data(), variables, false, signals_.before(),
                               {});
}

// Its exit code, 128 + a signal's number.
absl::StatusOr<int> Programs::Await(pid_t process, double seconds) const {
  const Clock::time_point start = Clock::now();
  bool interrupted = false;
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended != 0) break;
    if (seconds > 0 && SecondsSince(start) > seconds) {
      kill(process, SIGKILL);  // in a driver that hangs it may not even end so
      return absl::DeadlineExceededError(absl::StrCat("has not ended for ", seconds, " s"));
    }
    const int signal = signals_.Next();
    if (signal == 0 || signal == SIGCHLD) continue;
    interrupted = true;
    kill(process, SIGKILL);
  }
  if (interrupted) return absl::CancelledError("interrupted while a program was made");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Programs::EndAhead() {
  if (ahead_ <= 0) return;
  kill(ahead_, SIGKILL);
  while (waitpid(ahead_, nullptr, 0) < 0 && errno == EINTR) {
  }
  ahead_ = 0;
}

std::string Programs::SourcesNow() const {
  std::string text;
  for (const std::string& file : {flags_.command.model.file, flags_.command.plan}) {
    struct stat facts = {};
    if (stat(file.c_str(), &facts) != 0) return "";
    absl::StrAppend(&text, facts.st_ino, " ", facts.st_size, " ", facts.st_mtim.tv_sec, " ",
                    facts.st_mtim.tv_nsec, "\n");
  }
  return text;
}

}  // namespace yuba::tools
