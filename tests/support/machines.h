// Machines for tests, whose numbers are round.
#ifndef YUBA_TESTS_SUPPORT_MACHINES_H_
#define YUBA_TESTS_SUPPORT_MACHINES_H_

#include <memory>
#include <string>
#include <utility>

#include "opsemantics/base/mesh.h"
#include "opsemantics/machine/machine.h"

namespace yuba {

// A machine with links for the kinds of the mesh: of kind c `latencies[c]` seconds a message and
// `bandwidths[c]` bytes a second. Kernels take nothing, but their bytes at `memory` bytes a second.
inline std::shared_ptr<const Machine> MachineFor(const Mesh& mesh, std::vector<double> latencies,
                                                 std::vector<double> bandwidths,
                                                 double memory = 1e18) {
  auto machine = std::make_shared<Machine>();
  machine->name = machine->hash = "test";
  machine->device.bandwidth = memory;
  for (int type = 0; type <= static_cast<int>(ElementType::kBool); ++type) {
    machine->device.rates[static_cast<ElementType>(type)] = 1e18;
  }
  const std::vector<int> groups = GroupSizes(mesh);
  for (size_t kind = 0; kind < groups.size(); ++kind) {
    LinkModel link;
    link.devices = groups[kind];
    link.latency = latencies[kind];
    link.bandwidth = bandwidths[kind];
    machine->links.push_back(std::move(link));
  }
  return machine;
}

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_MACHINES_H_
