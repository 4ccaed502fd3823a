// GPUs that are described to cuDNN, so that it makes plans for them without there being one.
#ifndef YUBA_TESTS_RUNTIME_CUDA_DESCRIBED_GPUS_H_
#define YUBA_TESTS_RUNTIME_CUDA_DESCRIBED_GPUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace yuba::cuda {

struct DescribedGpu {
  const char* name;
  std::string description;
};

// What cuDNN reads of a GPU (docs/decisions/152); the width of its memory's bus from 9.27 on, which
// refuses a description without it. Clocks are of the SXM boards.
inline std::string Description(const char* name, int capability, int processors, int64_t memory,
                               int shared, int64_t cache, int clock, int memory_clock, int bus_bits,
                               int number) {
  return absl::StrCat(
      R"({"deviceVer":)", capability, R"(,"driverVer":13000,"cudaDeviceId":0,"totalGlobalMem":)",
      memory,
      R"(,"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)",
      R"("multiProcessorCount":)", processors,
      R"(,"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":)", shared,
      R"(,"reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,)",
      R"("maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":)", number,
      R"(,"isTccDriver":0,"supportCoopLaunch":1,"smClockRateKHz":)", clock,
      R"(,"memClockRateKHz":)", memory_clock, R"(,"memoryBusWidth":)", bus_bits,
      R"(,"l2CacheSize":)", cache, R"(,"deviceName":")", name, R"("})");
}

inline const std::vector<DescribedGpu>& DescribedGpus() {
  static const auto* gpus = new std::vector<DescribedGpu>{
      {"A100", Description("NVIDIA A100-SXM4-80GB", 800, 108, 85094825984, 166912, 41943040,
                           1410000, 1593000, 5120, 8370)},
      {"H100", Description("NVIDIA H100 80GB HBM3", 900, 132, 85045870592, 232448, 52428800,
                           1980000, 2619000, 5120, 9008)},
      {"H200", Description("NVIDIA H200", 900, 132, 150110011392, 232448, 62914560, 1980000,
                           3201000, 6144, 9013)}};
  return *gpus;
}

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_DESCRIBED_GPUS_H_
