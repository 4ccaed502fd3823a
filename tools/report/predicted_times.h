// What was predicted for each instruction, to stand beside what was measured.
#ifndef YUBA_TOOLS_REPORT_PREDICTED_TIMES_H_
#define YUBA_TOOLS_REPORT_PREDICTED_TIMES_H_

#include <map>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/model/predict.h"

namespace yuba::tools {

class PredictedTimes {
 public:
  // Of predictions with events (PredictOptions), each of another entry of one program.
  explicit PredictedTimes(const std::vector<runtime::Prediction>& predictions);

  // Milliseconds in which `device` is busy with the instruction, or waits in it. Nothing where no
  // prediction has the instruction.
  absl::optional<double> Milliseconds(int device, int instruction, bool waiting) const;

 private:
  struct Times {
    double busy = 0, waiting = 0;
  };
  struct Row {
    const std::vector<int>* class_of = nullptr;  // [device]
    std::vector<Times> times;                    // [class]
  };
  std::map<int, Row> rows_;  // by instruction
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_PREDICTED_TIMES_H_
