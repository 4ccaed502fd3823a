#include "runtime/host/host_backend.h"

#include "opsemantics/base/status.h"
#include "runtime/exchange_protocol.h"
#include "runtime/host/host_device.h"
#include "runtime/host/host_exchange_steps.h"
#include "runtime/host/kernel_object.h"
#include "runtime/machine_limits.h"
#include "runtime/ranks/rank_communicator.h"

namespace yuba::runtime {

absl::Status OpenHostBackend(const LoadedProgram& program, const ArenaLayout& layout,
                             int threads_per_device, Job* job, Fleet& fleet) {
  if (job == nullptr && program.devices() > kMostVirtualDevices) {
    return UserError("the program is for ", program.devices(),
                     " devices; one process runs at most ", kMostVirtualDevices,
                     " virtual ones: plan for fewer, as with yuba partition --devices ",
                     kMostVirtualDevices);
  }
  const int devices_here = job == nullptr ? program.devices() : job->RanksOfThisHost();
  YUBA_RETURN_IF_ERROR(CheckArenas(devices_here, layout.size, MemoryAvailable()));
  YUBA_ASSIGN_OR_RETURN(const std::shared_ptr<const KernelObject> kernels,
                        KernelObject::Load(program));
  std::vector<char*> arenas;
  for (int device = 0; device < program.devices(); ++device) {
    fleet.devices.emplace_back();
    if (job != nullptr && device != job->rank()) continue;
    fleet.devices.back() = std::make_unique<HostDevice>(device, threads_per_device, kernels);
    YUBA_RETURN_IF_ERROR(fleet.devices.back()->Prepare(program, layout));
    arenas.push_back(fleet.devices.back()->arena());
  }
  if (job != nullptr) {
    fleet.communicator = std::make_unique<RankCommunicator>(*job, arenas[0]);
    return absl::OkStatus();
  }
  fleet.communicator = std::make_unique<ExchangeProtocol>(
      std::make_unique<HostExchangeSteps>(std::move(arenas)), program.devices(),
      static_cast<int>(program.instructions().size()));
  return absl::OkStatus();
}

}  // namespace yuba::runtime
