#include "tools/report/predicted_times.h"

namespace yuba::tools {

PredictedTimes::PredictedTimes(const std::vector<runtime::Prediction>& predictions) {
  for (const runtime::Prediction& prediction : predictions) {
    const runtime::StepList& list = prediction.list;
    for (const runtime::Step& step : list.steps) {
      rows_[step.instruction] = {&list.class_of, std::vector<Times>(list.classes())};
    }
    for (int c = 0; c < list.classes(); ++c) {
      for (const runtime::SimulatedEvent& event : prediction.simulation.classes[c].events) {
        Times& times = rows_[list.steps[event.step].instruction].times[c];
        (event.waiting ? times.waiting : times.busy) += 1e3 * (event.end - event.begin);
      }
    }
  }
}

absl::optional<double> PredictedTimes::Milliseconds(int device, int instruction,
                                                    bool waiting) const {
  const auto row = rows_.find(instruction);
  if (row == rows_.end()) return absl::nullopt;
  const Times& times = row->second.times[(*row->second.class_of)[device]];
  return waiting ? times.waiting : times.busy;
}

}  // namespace yuba::tools
