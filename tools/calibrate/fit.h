// Measured kernels become kernel models (opsemantics/machine/machine.h): four numbers for each
// class of kernel, of libraries and of generated code, and the operations of each extra that some
// sample has.
//
// The fit makes sum(weight * |ln(predicted / measured)|) small, so that twice too long counts as
// much as half as long, and single odd kernels count little. A kernel's weight is an equal share
// and its share of the seconds, at most four equal ones: short kernels are many, long ones make the
// step. A start is at most what a quarter of all kernels, of libraries or of generated code, stay
// below. The search is on a grid and then by coordinates, without random numbers: equal samples
// give equal models.
#ifndef YUBA_TOOLS_CALIBRATE_FIT_H_
#define YUBA_TOOLS_CALIBRATE_FIT_H_

#include <string>
#include <vector>

#include "opsemantics/machine/machine.h"

namespace yuba::tools {

struct KernelSample {
  std::string name;  // for people
  KernelWork work;
  double seconds = 0;  // above 0; from the end of the kernel before: with DeviceModel::launch
};

// Sets the kernel models of the classes that there are samples of. Rates, bandwidth and launch must
// be set: models are shares of them. A library's class without samples becomes that of generated
// code, there a product as a convolution and a map as a reduction, or the other way about; where
// these have no samples either, models stay as they are.
void FitKernels(const std::vector<KernelSample>& samples, DeviceModel& device);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_FIT_H_
