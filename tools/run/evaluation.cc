#include "tools/run/evaluation.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"
#include "tools/report/text_table.h"
#include "tools/run/progress.h"

namespace yuba::tools {

std::vector<std::string> NumberNames(const runtime::LoadedProgram& program,
                                     const std::string& entry) {
  std::vector<std::string> names;
  for (const program::Port& port : program.message().outputs()) {
    const program::Buffer& buffer = program.message().buffers(port.buffer());
    if (port.shape_size() > 0 || buffer.initialized() || program.hash()) continue;
    if (!IsFloat(program.type(port.buffer()))) continue;
    const std::vector<bool> used = program::EntriesThatUse(program.message(), port.buffer());
    for (size_t e = 0; e < used.size(); ++e) {
      if (used[e] && program.entries()[e].name == entry) names.push_back(port.name());
    }
  }
  return names;
}

absl::StatusOr<Numbers> NumbersOf(runtime::Session& session, const std::string& entry) {
  const std::map<std::string, std::string> weights = WeightsOf(session.program().message());
  Numbers numbers;
  for (const std::string& name : NumberNames(session.program(), entry)) {
    YUBA_ASSIGN_OR_RETURN(const TensorData value, session.Get(name));
    const auto weight = weights.find(name);
    numbers.push_back({name, ValueAt(value, 0), weight == weights.end() ? "" : weight->second});
  }
  return numbers;
}

absl::Status Evaluation::Run(const std::string& after, StepInputs& of_steps) {
  EntryRun& run = *files_.eval;
  numbers_.clear();
  const auto start = Clock::now();
  const int64_t before = session_.statistics().bytes;
  Means means;
  StepInputs inputs(run, 0);
  for (int64_t b = 0; b < run.times; ++b) {
    YUBA_RETURN_IF_ERROR(stop_.Look());
    if (stop_.came()) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(inputs.Set(session_));
    for (int64_t part = 0; part < run.parts; ++part) {
      YUBA_RETURN_IF_ERROR(of_steps.SetPart(session_, part));
      YUBA_RETURN_IF_ERROR(inputs.SetPart(session_, part));
      const auto where = [&] {
        return absl::StrCat(
            "eval after ", after, ", batch ", b + 1, " of ", run.times,
            run.parts > 1 ? absl::StrCat(", part ", part + 1, " of ", run.parts) : "");
      };
      YUBA_RETURN_IF_ERROR(Annotate(session_.Step(run.entry), where()));
      YUBA_ASSIGN_OR_RETURN(const Numbers numbers, NumbersOf(session_, run.entry));
      means.Add(numbers);
    }
  }
  numbers_ = means.Values();
  for (const Number& mean : numbers_) record_->numbers[mean.name].push_back(mean.value);
  if (json_) return absl::OkStatus();
  std::cout << "eval after " << after << NumbersText(numbers_) << "  " << run.times
            << (run.times == 1 ? " batch" : " batches") << "  moved "
            << Bytes(session_.statistics().bytes - before) << "  in "
            << Duration(SecondsSince(start)) << "\n"
            << std::flush;
  return absl::OkStatus();
}

}  // namespace yuba::tools
