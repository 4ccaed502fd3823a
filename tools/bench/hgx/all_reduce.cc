#include "tools/bench/hgx/all_reduce.h"

#include <cmath>
#include <memory>
#include <utility>

#include "opsemantics/base/status.h"
#include "runtime/model/predict.h"
#include "runtime/program/program.h"
#include "tools/calibrate/exchange_program.h"

namespace yuba::tools {

absl::StatusOr<double> PredictedAllReduce(const Machine& machine, bool one_process, double bytes) {
  program::Program program =
      ExchangeProgram("all_reduce", machine.devices() / machine.nodes, std::llround(bytes));
  YUBA_ASSIGN_OR_RETURN(const std::shared_ptr<runtime::LoadedProgram> loaded,
                        runtime::LoadedProgram::FromMessage(std::move(program)));
  runtime::RunPolicy policy = runtime::OneProcessPolicy();
  policy.name = "library";
  policy.one_process = one_process;
  policy.sums = Sums::kFast;
  YUBA_ASSIGN_OR_RETURN(const runtime::Prediction step,
                        runtime::PredictStep(*loaded, machine, policy));
  return step.kinds.exchanges;
}

}  // namespace yuba::tools
