#include "runtime/devices.h"

#include <oneapi/dnnl/dnnl_types.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "runtime/host/host_backend.h"
#include "runtime/ranks/open_transport.h"
#include "runtime/shared_library.h"

namespace yuba::runtime {
namespace {

absl::StatusOr<std::string> OneDnnVersion() {
  YUBA_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::Open({"libdnnl.so.2"}));
  const dnnl_version_t* (*version)() = nullptr;
  YUBA_RETURN_IF_ERROR(library.Find("dnnl_version", version));
  return absl::StrCat(version()->major, ".", version()->minor, ".", version()->patch, ", ",
                      library.path());
}

}  // namespace

MachineFacts FindDevices() {
  MachineFacts facts;
  facts.processors = static_cast<int>(std::thread::hardware_concurrency());
  facts.virtual_devices = kMostVirtualDevices;
  absl::StatusOr<std::vector<cuda::GpuFacts>> gpus = cuda::FindGpus();
  if (gpus.ok())
    facts.gpus = *std::move(gpus);
  else
    facts.no_gpu = std::string(gpus.status().message());
  auto add = [&](const char* name, const absl::StatusOr<std::string>& found, const char* use) {
    facts.components.push_back({name, found.ok(), false,
                                found.ok() ? *found : std::string(found.status().message()), use});
  };
  add("driver", cuda::DriverVersion(), "GPUs");
  const absl::Status driver = cuda::CheckDriver();
  if (facts.components[0].found && !driver.ok()) {
    facts.components[0].found = false;
    facts.components[0].too_old = true;
    facts.components[0].detail = std::string(driver.message());
  }
  add("cuBLAS", cuda::CublasVersion(), "matrix products on GPUs");
  add("cuDNN", cuda::CudnnVersion(), "convolutions on GPUs");
  add("NCCL", cuda::NcclVersion(), "exchanges between GPUs");
  add("oneDNN", OneDnnVersion(), "matrix products and convolutions on the host");
  for (const TransportFacts& transport : FindTransports()) {
    facts.components.push_back(
        {transport.name, transport.found, false, transport.detail, transport.use});
  }
  return facts;
}

}  // namespace yuba::runtime
