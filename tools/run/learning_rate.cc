#include "tools/run/learning_rate.h"

#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "opsemantics/base/status.h"
#include "tools/run/data/schedule.h"

namespace yuba::tools {
namespace {

// The double of as few digits as say the float: 0.1.
double Shortest(float number) {
  double read = number;
  for (int digits = 6; digits <= 9; ++digits) {
    if (absl::SimpleAtod(absl::StrFormat("%.*g", digits, number), &read) &&
        static_cast<float>(read) == number) {
      return read;
    }
  }
  return number;
}

// The rate that the program comes with; none where it has none that can be set.
absl::StatusOr<absl::optional<Schedule>> PlannedRate(runtime::Session& session) {
  for (const program::Initializer& parameter : session.program().message().parameters()) {
    const program::Port& port = parameter.port();
    if (port.name() != kLearningRate || session.program().hash()) continue;
    if (session.program().WholeElements(port.buffer()) != 1) continue;
    YUBA_ASSIGN_OR_RETURN(const TensorData rate, session.GetBuffer(port.buffer()));
    if (!IsFloat(rate.type)) continue;
    const double number = ValueAt(rate, 0);
    return absl::make_optional(Schedule::Constant(
        rate.type == ElementType::kF32 ? Shortest(static_cast<float>(number)) : number));
  }
  return absl::optional<Schedule>();
}

TensorData TensorOf(double rate, const PortType& type) {
  const auto narrow = static_cast<float>(rate);
  const bool wide = type.type == ElementType::kF64;
  return {type.type, type.dims,
          wide ? std::string(reinterpret_cast<const char*>(&rate), sizeof rate)
               : std::string(reinterpret_cast<const char*>(&narrow), sizeof narrow)};
}

}  // namespace

absl::Status KeepRate(runtime::Session& session, const RunFlags& flags, RunFiles& files) {
  YUBA_ASSIGN_OR_RETURN(const absl::optional<Schedule> planned, PlannedRate(session));
  if (!planned.has_value()) return absl::OkStatus();
  files.planned_lr = planned;
  if (!files.lr.has_value()) {
    files.facts.lr = planned->Text();
    return absl::OkStatus();
  }
  if (!flags.lr.empty() || files.lr->Text() == planned->Text()) return absl::OkStatus();
  std::cerr << "note: the learning rate goes on as in " << files.checkpoint->path() << ", "
            << files.lr->Text() << "; the plan's is " << planned->Text()
            << " (--override lr-schedule)\n";
  return absl::OkStatus();
}

absl::Status LearningRate::Set(runtime::Session& session, int64_t step, Numbers& numbers) {
  if (!files_.lr.has_value()) return absl::OkStatus();
  const double rate = files_.lr->At(step);
  numbers.push_back({kLearningRate, rate, ""});
  if (set_ == rate) return absl::OkStatus();
  set_ = rate;
  return session.Set(kLearningRate, TensorOf(rate, files_.lr_type));
}

}  // namespace yuba::tools
