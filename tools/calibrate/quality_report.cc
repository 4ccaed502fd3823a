#include "tools/calibrate/quality_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "opsemantics/machine/machine_words.h"

namespace yuba::tools {

FitQuality QualityOf(const std::vector<KernelSample>& samples, const DeviceModel& device) {
  Machine machine;
  machine.device = device;
  FitQuality quality;
  std::vector<double> errors;
  for (const KernelSample& sample : samples) {
    const double predicted = device.launch + KernelSeconds(machine, sample.work);
    quality.predicted += predicted;
    quality.measured += sample.seconds;
    errors.push_back(std::max(predicted / sample.seconds, sample.seconds / predicted) - 1);
    if (errors.back() < quality.largest) continue;
    quality.largest = errors.back();
    quality.worst = sample.name;
  }
  quality.samples = static_cast<int>(errors.size());
  if (errors.empty()) return quality;
  std::nth_element(errors.begin(), errors.begin() + errors.size() / 2, errors.end());
  quality.median = errors[errors.size() / 2];
  return quality;
}

std::string QualityText(const FitQuality& quality) {
  if (quality.samples == 0) return "no kernels";
  const double off = quality.predicted / quality.measured - 1;
  return absl::StrFormat("%d kernels: median %.0f %%, largest %.0f %% (%s), sum %.0f %% %s",
                         quality.samples, 100 * quality.median, 100 * quality.largest,
                         quality.worst, 100 * std::abs(off), off < 0 ? "below" : "above");
}

std::string QualityReport(const std::vector<KernelSample>& kernels, const DeviceModel& device) {
  std::string text;
  for (const bool library : {false, true}) {
    for (int c = 0; c < kKernelClasses; ++c) {
      std::vector<KernelSample> samples;
      for (const KernelSample& kernel : kernels) {
        if (kernel.work.library == library && static_cast<int>(kernel.work.kernel_class) == c) {
          samples.push_back(kernel);
        }
      }
      if (samples.empty()) continue;
      absl::StrAppend(&text, library ? "library   " : "generated ",
                      absl::StrFormat("%-12s", KernelClassName(static_cast<KernelClass>(c))),
                      QualityText(QualityOf(samples, device)), "\n");
    }
  }
  absl::StrAppend(&text, "all                   ", QualityText(QualityOf(kernels, device)), "\n");
  return text;
}

}  // namespace yuba::tools
