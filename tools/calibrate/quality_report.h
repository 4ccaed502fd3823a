// How far kernel models are off kernels that were measured.
#ifndef YUBA_TOOLS_CALIBRATE_QUALITY_REPORT_H_
#define YUBA_TOOLS_CALIBRATE_QUALITY_REPORT_H_

#include <string>
#include <vector>

#include "opsemantics/machine/machine.h"
#include "tools/calibrate/fit.h"

namespace yuba::tools {

// How far predictions are off. An error of 0.2 is 20 %: the larger of predicted / measured and
// measured / predicted, less 1.
struct FitQuality {
  int samples = 0;
  double median = 0, largest = 0;
  std::string worst;                   // the sample with the largest error
  double predicted = 0, measured = 0;  // seconds, summed over the samples
};
FitQuality QualityOf(const std::vector<KernelSample>& samples, const DeviceModel& device);

// "21 kernels: median 4 %, largest 31 % (product 64 x 64 x 64), sum 3 % above"
std::string QualityText(const FitQuality& quality);

// Lines for people, one for each class of kernels and one for all.
std::string QualityReport(const std::vector<KernelSample>& kernels, const DeviceModel& device);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_QUALITY_REPORT_H_
