// A machine is written as a file that is read as the same machine.
#include "tools/calibrate/machine_text.h"

#include <catch2/catch.hpp>

#include "opsemantics/machine/find_machine.h"
#include "opsemantics/machine/read_machine.h"
#include "tests/support/status_matchers.h"

namespace yuba::tools {
namespace {

TEST_CASE("every machine that is built in is written and read back") {
  for (const std::string& name : MachineNames()) {
    INFO(name);
    const Machine machine = FindMachine(name).value();
    const absl::StatusOr<Machine> read = ReadMachine(MachineText(machine, "about", "a test"));
    REQUIRE_THAT(read, IsOk());
    CHECK(read->hash == machine.hash);
    CHECK(read->name == machine.name);
    CHECK(read->device.name == machine.device.name);
    CHECK(read->device.kernels_version == machine.device.kernels_version);
    CHECK(read->links[0].name == machine.links[0].name);
  }
}

TEST_CASE("what extras take is written, and where they take nothing more it is not") {
  Machine machine = FindMachine("hgx-h100").value();
  CHECK(MachineText(machine, "", "a test").find("\"power\"") == std::string::npos);
  KernelModel& map = machine.device.kernels[false][static_cast<int>(KernelClass::kMap)];
  map.extra_operations[static_cast<int>(Extra::kPower)] = 12.5;
  const absl::StatusOr<Machine> read = ReadMachine(MachineText(machine, "", "a test"));
  REQUIRE_THAT(read, IsOk());
  CHECK(read->device.kernels[0][2].extra_operations[2] == 12.5);
  CHECK(read->hash != machine.hash);
}

TEST_CASE("names that are no UTF-8 are written nevertheless") {
  Machine machine = FindMachine("hgx-h100").value();
  machine.device.name = "caf\xe9";
  CHECK_THAT(ReadMachine(MachineText(machine, "", "\xff")), IsOk());
}

}  // namespace
}  // namespace yuba::tools
