#include "runtime/cuda/facts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#ifdef YUBA_WITH_CUDA
#include "absl/strings/escaping.h"
#include "runtime/cuda/libraries.h"
#endif

namespace yuba::cuda {

int OldestOf(const std::vector<GpuFacts>& gpus) {
  return std::min_element(gpus.begin(), gpus.end(),
                          [](const GpuFacts& a, const GpuFacts& b) { return a.sm < b.sm; })
      ->sm;
}

#ifdef YUBA_WITH_CUDA

namespace {

// The branch of drivers that came with the CUDA that Yuba is built with.
static_assert(CUDART_VERSION / 1000 == 13, "say which branch of drivers is the first for it");
constexpr int kFirstBranch = 580;

std::string VersionText(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

// The CUDA that the driver is for, 13000 for 13.0.
absl::StatusOr<int> DriverNumber() {
  int version = 0;  // stays 0 without a driver
  const cudaError_t error = cudaDriverGetVersion(&version);
  if (error != cudaSuccess || version == 0) return absl::UnavailableError("no driver");
  return version;
}

std::string UuidOf(const cudaDeviceProp& properties) {
  const absl::string_view bytes(properties.uuid.bytes, sizeof properties.uuid.bytes);
  return absl::StrCat("GPU-", absl::BytesToHexString(bytes));
}

}  // namespace

absl::StatusOr<std::string> DriverVersion() {
  YUBA_ASSIGN_OR_RETURN(const int version, DriverNumber());
  return VersionText(version);
}

absl::Status CheckDriver() {
  YUBA_ASSIGN_OR_RETURN(const int version, DriverNumber());
  if (version >= CUDART_VERSION) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the driver is for CUDA ", VersionText(version),
                   ", and Yuba needs one for CUDA ", VersionText(CUDART_VERSION),
                   " or later: install one of branch ", kFirstBranch, " or a later one"));
}

absl::StatusOr<std::vector<GpuFacts>> FindGpus() {
  int count = 0;  // untouched where the call fails
  const cudaError_t error = cudaGetDeviceCount(&count);
  const absl::Status driver = CheckDriver();
  if (!driver.ok()) return Annotate(driver, "no GPU");
  if (error != cudaSuccess || count == 0) {
    return absl::UnavailableError(
        absl::StrCat("no GPU: the driver is for CUDA ", *DriverVersion(),
                     ", cudaGetDeviceCount says: ", cudaGetErrorString(error)));
  }
  std::vector<GpuFacts> gpus;
  for (int gpu = 0; gpu < count; ++gpu) {
    cudaDeviceProp properties = {};
    const cudaError_t asked = cudaGetDeviceProperties(&properties, gpu);
    if (asked != cudaSuccess) {
      return absl::UnavailableError(
          absl::StrCat("GPU ", gpu, " cannot be asked: ", cudaGetErrorString(asked)));
    }
    gpus.push_back({properties.name, static_cast<int64_t>(properties.totalGlobalMem),
                    properties.major * 10 + properties.minor, UuidOf(properties)});
  }
  return gpus;
}

absl::StatusOr<std::string> CublasNumber() {
  YUBA_ASSIGN_OR_RETURN(const CublasLt* cublas, CublasLt::Open());
  int numbers[3] = {};
  const libraryPropertyType parts[3] = {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
  for (int i = 0; i < 3; ++i) cublas->cublasLtGetProperty(parts[i], &numbers[i]);
  return absl::StrCat(numbers[0], ".", numbers[1], ".", numbers[2]);
}

absl::StatusOr<std::string> CublasVersion() {
  YUBA_ASSIGN_OR_RETURN(const CublasLt* cublas, CublasLt::Open());
  YUBA_ASSIGN_OR_RETURN(const std::string number, CublasNumber());
  return absl::StrCat(number, ", ", cublas->path);
}

absl::StatusOr<std::string> CudnnVersion() {
  YUBA_ASSIGN_OR_RETURN(const Cudnn* cudnn, Cudnn::Open());
  const size_t version = cudnn->cudnnGetVersion();
  return absl::StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100, ", ",
                      cudnn->path);
}

absl::StatusOr<std::string> NcclVersion() {
  YUBA_ASSIGN_OR_RETURN(const Nccl* nccl, Nccl::Open());
  int version = 0;
  nccl->ncclGetVersion(&version);
  return absl::StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100, ", ",
                      nccl->path);
}

#else

namespace {
absl::Status WithoutCuda() { return absl::UnavailableError("built without CUDA"); }
}  // namespace

absl::StatusOr<std::string> DriverVersion() { return WithoutCuda(); }
absl::Status CheckDriver() { return WithoutCuda(); }
absl::StatusOr<std::vector<GpuFacts>> FindGpus() {
  return absl::UnavailableError("no GPU: built without CUDA");
}
absl::StatusOr<std::string> CublasNumber() { return WithoutCuda(); }
absl::StatusOr<std::string> CublasVersion() { return WithoutCuda(); }
absl::StatusOr<std::string> CudnnVersion() { return WithoutCuda(); }
absl::StatusOr<std::string> NcclVersion() { return WithoutCuda(); }

#endif  // YUBA_WITH_CUDA

}  // namespace yuba::cuda
