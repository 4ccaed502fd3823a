// Samples become kernel models, and what models say of samples is judged.
#include "tools/calibrate/fit.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tools/calibrate/quality_report.h"
#include "tools/calibrate/repeats.h"

namespace yuba::tools {
namespace {

DeviceModel Device() {
  DeviceModel device;
  device.bandwidth = 1e12;
  device.launch = 1e-6;
  device.rates = {{ElementType::kF32, 1e13}};
  return device;
}

// Work from small to large, as often bound by operations as by bytes.
std::vector<KernelSample> Samples(KernelClass kernel_class, bool library,
                                  const DeviceModel& device) {
  Machine machine;
  machine.device = device;
  std::vector<KernelSample> samples;
  for (double size = 1e3; size < 1e9; size *= 3) {
    for (const double intensity : {0.1, 1.0, 30.0, 300.0}) {
      for (const double results : {1.0, 1e-1, 1e-4}) {
        KernelSample sample;
        sample.work = {kernel_class,     library, ElementType::kF32,
                       intensity * size, size,    std::ceil(results * size)};
        sample.seconds = device.launch + KernelSeconds(machine, sample.work);
        samples.push_back(sample);
      }
    }
  }
  return samples;
}

TEST_CASE("a model is found again from the kernels that it describes") {
  const KernelModel models[] = {{4e-6, 0.8, 0.7, 0}, {0, 0.05, 0.3, 5000}, {2e-6, 0.011, 0.9, 40}};
  for (const KernelModel& model : models) {
    DeviceModel device = Device();
    device.kernels[1][0] = model;
    const std::vector<KernelSample> samples = Samples(KernelClass::kProduct, true, device);
    device.kernels[1][0] = KernelModel();
    FitKernels(samples, device);
    const FitQuality quality = QualityOf(samples, device);
    CHECK(quality.median < 0.02);
    CHECK(quality.largest < 0.1);
    CHECK(quality.predicted == Approx(quality.measured).epsilon(0.02));
  }
}

TEST_CASE("equal samples give equal models") {
  DeviceModel device = Device();
  device.kernels[0][2] = {3e-6, 0.3, 0.3, 100};
  const std::vector<KernelSample> samples = Samples(KernelClass::kMap, false, device);
  DeviceModel a = Device(), b = Device();
  FitKernels(samples, a);
  FitKernels(samples, b);
  CHECK(a.kernels[0][2].start == b.kernels[0][2].start);
  CHECK(a.kernels[0][2].rate_share == b.kernels[0][2].rate_share);
}

TEST_CASE("a class without samples is like another") {
  DeviceModel device = Device();
  device.kernels[0][1] = {0, 0.05, 0.3, 0};
  const std::vector<KernelSample> samples = Samples(KernelClass::kConvolution, false, device);
  device = Device();
  FitKernels(samples, device);
  const double share = device.kernels[0][1].rate_share;
  CHECK(share == Approx(0.05).epsilon(0.05));
  CHECK(device.kernels[0][0].rate_share == share);  // generated products
  CHECK(device.kernels[1][0].rate_share == share);  // of libraries
  CHECK(device.kernels[1][1].rate_share == share);
  CHECK(device.kernels[0][2].rate_share == 1);  // maps: nothing is known of them
}

TEST_CASE("errors count how many times too long or too short") {
  DeviceModel device = Device();
  device.launch = 0;
  std::vector<KernelSample> samples;
  for (const double seconds : {1.0, 2.0, 0.25}) {  // each is predicted to take 1
    KernelSample sample;
    sample.name = "k";
    sample.name += std::to_string(samples.size());
    sample.work.bytes = 1e12;
    sample.seconds = seconds;
    samples.push_back(sample);
  }
  const FitQuality quality = QualityOf(samples, device);
  CHECK(quality.samples == 3);
  CHECK(quality.median == Approx(1));
  CHECK(quality.largest == Approx(3));
  CHECK(quality.worst == "k2");
  CHECK(quality.predicted == Approx(3));
  CHECK(quality.measured == Approx(3.25));
  CHECK(QualityText(quality) == "3 kernels: median 100 %, largest 300 % (k2), sum 8 % below");
  CHECK(QualityText(FitQuality()) == "no kernels");
}

TEST_CASE("what functions and runs take is found beside the rest") {
  DeviceModel device = Device();
  KernelModel& map = device.kernels[0][2];
  map = {0, 0.5, 0.3, 0};
  map.extra_operations[static_cast<int>(Extra::kFunction)] = 40;
  map.extra_operations[static_cast<int>(Extra::kRun)] = 600;
  Machine machine;
  machine.device = device;
  std::vector<KernelSample> samples;
  for (double size = 1e4; size < 1e9; size *= 4) {
    for (const double functions : {0.0, 1.0, 2.0}) {
      for (const double run : {3.0, 64.0, 4096.0}) {
        KernelSample sample;
        sample.work = {KernelClass::kMap, false, ElementType::kF32, 3 * size, 8 * size, size};
        sample.work.extras[static_cast<int>(Extra::kFunction)] = functions * size;
        sample.work.extras[static_cast<int>(Extra::kRun)] = size / run;
        sample.seconds = device.launch + KernelSeconds(machine, sample.work);
        samples.push_back(sample);
      }
    }
  }
  DeviceModel fitted = Device();
  FitKernels(samples, fitted);
  CHECK(QualityOf(samples, fitted).median < 0.02);
  CHECK(QualityOf(samples, fitted).largest < 0.1);
  // No sample has any of these.
  CHECK(fitted.kernels[0][2].extra_operations[static_cast<int>(Extra::kPower)] == 0);
}

TEST_CASE("the spread of rounds leaves the farthest out, and one slow round moves no time") {
  const Timing timing = TimingOf({1.1, 1.0, 9.0, 1.3, 0.9});
  CHECK(timing.seconds == 1.1);
  CHECK(timing.spread == Approx(1.1 / 0.9 - 1));
  CHECK(MedianOf({5, 1, 3}) == 3);
  CHECK(MedianOf({}) == 0);
}

TEST_CASE("a round ends with the first error") {
  int runs = 0;
  const auto run = [&] { return ++runs == 3 ? absl::InternalError("broken") : absl::OkStatus(); };
  CHECK_FALSE(TimeRound(run, WallSeconds).ok());
  CHECK(runs == 3);
}

TEST_CASE("what this process does is not others'") {
  const OthersShare others;
  const double begin = ProcessorSeconds();
  while (ProcessorSeconds() - begin < 0.05) {
  }
  CHECK(others.Share() >= 0);
  CHECK(others.Share() <= 1);
}

}  // namespace
}  // namespace yuba::tools
