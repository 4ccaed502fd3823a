#include "tools/calibrate/time_program.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "opsemantics/base/status.h"
#include "runtime/program/program.h"

namespace yuba::tools {
namespace {

constexpr double kStepSeconds = 4e-3;  // that a step is to take at least
constexpr int kMostTimes = 4096;       // that it runs the instructions

}  // namespace

absl::Status TimedProgram::Repeat(program::Program program, const std::string& backend, int times) {
  const auto once = program.instructions();
  for (int i = 1; i < times; ++i) program.mutable_instructions()->MergeFrom(once);
  for (program::Buffer& buffer : *program.mutable_buffers()) {
    buffer.set_first(0);
    buffer.set_last(program.instructions_size() - 1);
  }
  session_.reset();  // its memory is free before the next one takes some
  YUBA_ASSIGN_OR_RETURN(const auto loaded, runtime::LoadedProgram::FromMessage(std::move(program)));
  runtime::RunOptions options;
  options.backend = backend;
  YUBA_ASSIGN_OR_RETURN(session_, runtime::Session::Open(loaded, options));
  YUBA_RETURN_IF_ERROR(session_->Randomize(1));
  times_ = times;
  const int processors = std::max(1U, std::thread::hardware_concurrency());
  processors_ = backend == "host" && loaded->devices() > processors ? processors : 0;
  return session_->Step();  // memory is touched, libraries have their threads
}

absl::StatusOr<TimedProgram> TimedProgram::Open(const program::Program& program,
                                                const std::string& backend) {
  TimedProgram timed;
  int times = 1;
  while (true) {
    YUBA_RETURN_IF_ERROR(timed.Repeat(program, backend, times));
    YUBA_ASSIGN_OR_RETURN(const double run, timed.Round());
    if (run * times >= kStepSeconds || times == kMostTimes) return timed;
    const double wanted = std::ceil(1.3 * kStepSeconds / run);
    times = static_cast<int>(std::min<double>(kMostTimes, std::min(wanted, 64.0 * times)));
  }
}

absl::StatusOr<double> TimedProgram::Round() const {
  const auto step = [this] { return session_->Step(); };
  YUBA_ASSIGN_OR_RETURN(const double seconds,
                        TimeRound(step, processors_ > 0 ? ProcessorSeconds : WallSeconds));
  return seconds / times_ / std::max(1, processors_);
}

absl::StatusOr<std::vector<Timing>> TimeInRounds(const std::vector<TimedProgram>& programs) {
  std::vector<std::vector<double>> rounds(programs.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t p = 0; p < programs.size(); ++p) {
      YUBA_ASSIGN_OR_RETURN(const double seconds, programs[p].Round());
      rounds[p].push_back(seconds);
    }
  }
  std::vector<Timing> timings;
  for (const std::vector<double>& of_one : rounds) timings.push_back(TimingOf(of_one));
  return timings;
}

}  // namespace yuba::tools
