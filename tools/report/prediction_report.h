// Predicted times, alone and beside measured ones, as text and JSON.
#ifndef YUBA_TOOLS_REPORT_PREDICTION_REPORT_H_
#define YUBA_TOOLS_REPORT_PREDICTION_REPORT_H_

#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "opsemantics/machine/machine.h"
#include "runtime/model/predict.h"

namespace yuba::tools {

// What is printed of one run of an entry under several policies of the run time: a column each, a
// row for each kind of work, in milliseconds, and what moves.
std::string PredictionText(const std::vector<runtime::Prediction>& of_policies);

// {"entry", "policy", "seconds", "kinds": {"products": ..}, "bytes", "messages",
// "exchanges", "groups", "classes"}
nlohmann::ordered_json PredictionJson(const runtime::Prediction& prediction);

// Predicted and measured milliseconds of one run, a row for each kind, and the quotient of both.
// `measured` may lack kinds: where a device works behind the host's back only the whole is known.
struct MeasuredRun {
  double seconds = 0;
  bool by_kind = false;
  runtime::KindSeconds kinds;
};
std::string BesideText(const runtime::Prediction& prediction, const MeasuredRun& measured);
nlohmann::ordered_json KindsJson(const runtime::KindSeconds& kinds);

// What is to be said of a prediction on this machine by the kernels of `version`: that the
// machine's kernel times were fitted to other kernels, or to none; empty where nothing is.
std::string KernelsNote(const Machine& machine, const std::string& version);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_PREDICTION_REPORT_H_
