#include "tools/launch/launch_run.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint/checkpoint.h"
#include "tools/run/checkpoint/checkpoint_folder.h"
#include "tools/run/ranks.h"

namespace yuba::tools {
namespace {

// After a loss, for the others to say why and end: less than where nobody waits to go on.
constexpr double kGraceSeconds = 2;
// For a driver to say which GPUs there are; one that is broken may never.
constexpr double kGpuSeconds = 60;
constexpr char kVisibleGpus[] = "CUDA_VISIBLE_DEVICES";

double SecondsFrom(Clock::time_point begin, Clock::time_point end) {
  return std::max(0.0, std::chrono::duration<double>(end - begin).count());
}

// Whether it is an end that another start would not change, or that somebody has asked for.
bool IsFinal(const runtime::RanksEnd& end) {
  const int code = end.exit_code;
  return end.asked != 0 || (code != 3 && code <= 128) || code == 130;
}

}  // namespace

LaunchRun::LaunchRun(const LaunchFlags& flags, const std::vector<std::string>& arguments,
                     const std::string& folder, const runtime::HeldSignals& signals)
    : flags_(flags),
      run_(flags.command.run),
      arguments_(arguments),
      folder_(folder),
      signals_(signals),
      ended_(run_, flags.devices),
      checkpoint_before_(CheckpointNow()),
      pipe_(PipeIn(folder)),
      programs_(flags, folder, arguments, signals),
      log_(run_.log, !run_.resume.empty()),
      devices_(flags.devices) {}

absl::Status LaunchRun::Run() {
  if (!pipe_.ok()) return InternalError(pipe_.path(), ": no pipe can be made there; set TMPDIR");
  YUBA_RETURN_IF_ERROR(ChooseGpus());
  const absl::Status status = RunToEnd();
  log_.End(devices_);
  return status;
}

// What a run writes or says behind its last step, besides the checkpoint.
bool LaunchRun::AsksForMore() const {
  return !run_.output_dir.empty() || run_.expect.has_value() || !run_.eval.empty() || run_.json ||
         !run_.trace.empty();
}

absl::Status LaunchRun::RunToEnd() {
  while (true) {
    const Clock::time_point start = Clock::now();
    YUBA_RETURN_IF_ERROR(programs_.Make(devices_));
    if (open_.has_value()) open_->figures.plan += SecondsSince(start);
    YUBA_ASSIGN_OR_RETURN(const runtime::RanksEnd end, RunRanks());
    if (end.exit_code == 0 || IsFinal(end)) return EndedWith(end);
    NoteLoss(end);
    if (attempt_.to_run > 0 && CheckpointStep() >= attempt_.to_run) {
      log_.Decided("all steps are done and saved, so there is nothing to go on with");
      if (AsksForMore()) {
        return InternalError(
            "all steps are done and saved, but what was to come behind them may be ",
            "missing (--outputs, --expect, --eval, --json, --trace): yuba run ",
            "--resume with the checkpoint makes it");
      }
      ended_.Remove();
      return absl::OkStatus();
    }
    YUBA_RETURN_IF_ERROR(GoOn());
  }
}

absl::StatusOr<runtime::RanksEnd> LaunchRun::RunRanks() {
  std::vector<std::string> part = {"--launch-folder", folder_};
  if (goes_on_) part.push_back("--launch-goes-on");
  std::vector<std::string> arguments = ArgumentsOf(arguments_, part);
  runtime::StartOptions options;
  options.grace_seconds = kGraceSeconds;
  options.processors = ProcessorsOfRanks(run_, devices_);
  options.look = [this] {
    Listen();
    if (attempt_.first_step.has_value()) programs_.MakeAhead(devices_ - 1, flags_.LeastDevices());
  };
  ended_.Remove();  // of the ranks before them
  attempt_ = Attempt();
  auto end = runtime::StartRanks(devices_, PointersTo(arguments).data(), signals_, options);
  Listen();
  return end;
}

void LaunchRun::Listen() {
  for (const Milestone& milestone : pipe_.Take()) attempt_.Note(milestone);
  if (attempt_.first_step.has_value() && open_.has_value()) CloseLoss();
}

// A step is finished again.
void LaunchRun::CloseLoss() {
  const Clock::time_point step = attempt_.first_step->at;
  const Clock::time_point loaded = attempt_.loaded.has_value() ? attempt_.loaded->at : step;
  Return& figures = open_->figures;
  figures.devices = devices_;
  figures.from_step = attempt_.first_step->step - 1;
  figures.load += SecondsFrom(attempt_.started, loaded);
  figures.step = SecondsFrom(loaded, step);
  figures.seconds = SecondsFrom(open_->at, step);
  log_.WentOn(figures);
  open_.reset();
}

// What the end says of it; where no rank could write why, it is written now.
Loss LaunchRun::LossOf(const runtime::RanksEnd& end) {
  Loss loss;
  const absl::optional<Ended> ended = ended_.Read();
  if (!end.reason.empty()) {
    loss.rank = end.rank;
    loss.host = end.host;
    loss.reason = end.reason;
    ended_.Write(InternalError(end.reason), {end.rank, end.host, end.process, attempt_.step()});
  } else if (ended.has_value()) {
    loss.rank = ended->by.rank;
    loss.host = ended->by.host;
    loss.reason = ended->reason;
    loss.is_told = true;
  }
  const Clock::time_point failed = end.failed_at.value_or(Clock::now());
  loss.after_step = attempt_.last_step.has_value() ? attempt_.last_step->step : 0;
  loss.noticed = SecondsFrom(attempt_.stepped_at(), failed);
  loss.ended = SecondsSince(failed);
  return loss;
}

void LaunchRun::NoteLoss(const runtime::RanksEnd& end) {
  loss_ = LossOf(end);
  log_.Lost(loss_);
  if (!open_.has_value()) open_ = Open{end.failed_at.value_or(Clock::now()), {}};
}

absl::Status LaunchRun::GoOn() {
  const int64_t from = CheckpointStep(), again = std::max<int64_t>(0, attempt_.step() - from);
  YUBA_RETURN_IF_ERROR(ChooseDevices());
  open_->figures.steps_twice += again;
  goes_on_ = CheckpointNow() != checkpoint_before_;
  const std::string where = from > 0 ? absl::StrCat("step ", from) : "the beginning";
  log_.Decided(absl::StrCat("going on from ", where, " with ", Counted(devices_, "device"), ", ",
                            Counted(again, "step"), " to do again"));
  return absl::OkStatus();
}

// How many go on; an error where they would be too few.
absl::Status LaunchRun::ChooseDevices() {
  AttemptEnd end;
  end.rank = loss_.rank;
  end.stepped = attempt_.first_step.has_value();
  const int64_t reached = std::max(attempt_.step(), CheckpointStep());
  end.got_further = reached > furthest_;
  furthest_ = std::max(furthest_, reached);
  int fewer = devices_;
  std::string why;
  if (past_.GivesUp(end)) {
    gpus_.GiveUp(loss_.rank, devices_);
    --fewer;
    why = loss_.rank < 0 ? "a device is given up, as nothing was gained in two starts"
                         : absl::StrCat("the device of rank ", loss_.rank, " of host ", loss_.host,
                                        " is given up, as nothing was gained in two starts");
  }
  if (UsesGpus()) {
    YUBA_ASSIGN_OR_RETURN(const std::vector<std::string> there, FindGpus());
    gpus_.KeepThose(there);
    fewer = std::min(devices_, static_cast<int>(gpus_.usable().size()));  // others take its place
    if (fewer < devices_ && why.empty()) why = absl::StrCat("of the GPUs ", fewer, " are left");
    const std::string visible = gpus_.Visible();
    if (!visible.empty()) setenv(kVisibleGpus, visible.c_str(), 1);
  }
  if (!why.empty()) log_.Decided(why);
  if (fewer == devices_) return absl::OkStatus();
  if (fewer < flags_.LeastDevices()) {
    return InternalError("--min-devices ", flags_.LeastDevices(), " does not allow ", fewer,
                         ": ended behind step ", furthest_, ", after ",
                         loss_.reason.empty() ? "a rank ended without a reason" : loss_.reason,
                         "; see to the device, then --resume ", kLatest, " goes on");
  }
  devices_ = fewer;
  return absl::OkStatus();
}

// Those that a new process sees, whatever was left out since the launch began.
absl::StatusOr<std::vector<std::string>> LaunchRun::FindGpus() const {
  if (visible_before_.has_value()) {
    setenv(kVisibleGpus, visible_before_->c_str(), 1);
  } else {
    unsetenv(kVisibleGpus);
  }
  const absl::StatusOr<int> ended = programs_.RunPart({"--launch-gpus"}, kGpuSeconds);
  YUBA_RETURN_IF_ERROR(Annotate(ended.status(), "what lists the GPUs"));
  const int code = *ended;
  if (code != 0) return InternalError("what lists the GPUs ended with code ", code);
  return ReadGpus(GpusIn(folder_));
}

// At the beginning.
absl::Status LaunchRun::ChooseGpus() {
  if (!UsesGpus()) return absl::OkStatus();
  const char* const visible = std::getenv(kVisibleGpus);
  if (visible != nullptr) visible_before_ = visible;
  YUBA_ASSIGN_OR_RETURN(std::vector<std::string> there, FindGpus());
  gpus_ = Gpus(std::move(there));
  if (static_cast<int>(gpus_.usable().size()) >= devices_) return absl::OkStatus();
  return UserError("--devices ", devices_, ": there are ", gpus_.usable().size(),
                   " GPUs that can be used; yuba devices lists them");
}

absl::Status LaunchRun::EndedWith(const runtime::RanksEnd& end) const {
  if (end.asked != 0 && end.exit_code > 128) {
    const bool told = end.exit_code == 130;
    return absl::CancelledError(told ? ""
                                : attempt_.first_step.has_value()
                                    ? "interrupted; the last checkpoint stays as it is"
                                    : "interrupted before the first step");
  }
  return end.reason.empty() ? StatusOf(end.exit_code) : InternalError(end.reason);
}

// Of the checkpoint with which the ranks would begin; 0: none.
int64_t LaunchRun::CheckpointStep() const {
  const bool own = CheckpointNow() != checkpoint_before_;
  std::string path = own ? run_.save : run_.resume;
  if (path == kLatest) path = HasCheckpoint(run_.save) ? run_.save : "";
  if (path.empty()) return 0;
  const absl::StatusOr<Checkpoint> checkpoint = ReadCheckpoint(path);
  return checkpoint.ok() ? checkpoint->step : 0;
}

// Which file is the checkpoint at --save, or its index; empty: there is none.
std::string LaunchRun::CheckpointNow() const {
  const std::string file = IsCheckpointFolder(run_.save) ? IndexFileIn(run_.save) : run_.save;
  struct stat facts = {};
  if (stat(file.c_str(), &facts) != 0) return "";
  return absl::StrCat(facts.st_ino, " ", facts.st_mtim.tv_sec, " ", facts.st_mtim.tv_nsec);
}

}  // namespace yuba::tools
