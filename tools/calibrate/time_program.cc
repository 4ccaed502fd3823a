#include "tools/calibrate/time_program.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "opsemantics/base/status.h"
#include "runtime/program/program.h"
#include "runtime/session.h"

namespace yuba::tools {
namespace {

constexpr double kStepSeconds = 4e-3;  // that a step is to take at least
constexpr int kMostTimes = 4096;       // that it runs the instructions

absl::StatusOr<Timing> TimeStep(program::Program program, const std::string& backend, int times) {
  const auto once = program.instructions();
  for (int i = 1; i < times; ++i) program.mutable_instructions()->MergeFrom(once);
  for (program::Buffer& buffer : *program.mutable_buffers()) {
    buffer.set_first(0);
    buffer.set_last(program.instructions_size() - 1);
  }
  YUBA_ASSIGN_OR_RETURN(const auto loaded, runtime::LoadedProgram::FromMessage(std::move(program)));
  runtime::RunOptions options;
  options.backend = backend;
  YUBA_ASSIGN_OR_RETURN(const auto session, runtime::Session::Open(loaded, options));
  YUBA_RETURN_IF_ERROR(session->Randomize(1));
  const auto step = [&session = *session] { return session.Step(); };
  const int processors = std::max(1U, std::thread::hardware_concurrency());
  if (backend != "host" || loaded->devices() <= processors) return TimeRepeats(step);
  YUBA_ASSIGN_OR_RETURN(Timing timing, TimeRepeats(step, ProcessorSeconds));
  timing.seconds /= processors;
  return timing;
}

}  // namespace

absl::StatusOr<Timing> TimeProgram(const program::Program& program, const std::string& backend) {
  int times = 1;
  while (true) {
    YUBA_ASSIGN_OR_RETURN(const Timing step, TimeStep(program, backend, times));
    if (step.seconds >= kStepSeconds || times == kMostTimes) {
      return Timing{step.seconds / times, step.spread};
    }
    const double wanted = std::ceil(1.3 * times * kStepSeconds / step.seconds);
    times = static_cast<int>(std::min<double>(kMostTimes, std::min(wanted, 64.0 * times)));
  }
}

}  // namespace yuba::tools
