// `yuba calibrate`: what it refuses leaves no file; what it measures is a machine, or a busy one.
#include <catch2/catch.hpp>
#include <filesystem>

#include "opsemantics/machine/find_machine.h"
#include "tests/support/command.h"
#include "tests/support/part.h"
#include "tests/support/status_matchers.h"

namespace yuba::tools {
namespace {

// That the command ends with 2 and says so.
void Refuses(const std::string& flags, const std::string& words) {
  const CommandResult result = RunCommand("yuba calibrate " + flags);
  INFO(flags << ": " << result.error);
  CHECK(result.exit_code == 2);
  CHECK(result.error.find(words) != std::string::npos);
}

TEST_CASE("calibrate says what is wrong with its flags, before it measures") {
  const std::string folder = ScratchFolder("refused");
  Refuses("", "-o FILE writes a machine file");
  Refuses("-o " + folder + "/m.txt", "expected a name that ends in .json");
  Refuses("-o " + folder + "/a:b.json", "has no colon");
  Refuses("-o " + folder + "/no/such/m.json", "m.json");
  Refuses("-o " + folder + "/m.json --devices 0", "--devices");
  Refuses("-o " + folder + "/m.json --devices 2000", "2000 devices: ");
  Refuses("-o " + folder + "/m.json --machine zork", "there is no machine zork");
  CHECK(std::filesystem::is_empty(folder));
}

TEST_CASE("devices says what a machine file says") {
  const CommandResult result = RunCommand("yuba devices --machine hgx-h100:2");
  CHECK(result.exit_code == 0);
  for (const char* words : {"hgx-h100:2", "16 NVIDIA H100", "kind 1", "joins 16"}) {
    INFO(words << " in " << result.out);
    CHECK(result.out.find(words) != std::string::npos);
  }
  CHECK(RunCommand("yuba devices --machine zork").exit_code == 2);
}

TEST_CASE("a calibration writes a machine, or says that this one is busy and writes nothing") {
  if (!TriesAll()) {
    WARN("SKIP: it takes a minute: tools/test --all");
    return;
  }
  const std::string file = ScratchFolder("measured") + "/m.json";
  const CommandResult result = RunCommand("yuba calibrate --devices 2 -o " + file);
  INFO(result.out << result.error);
  if (result.exit_code == 124) {
    WARN("SKIP: the machine is so busy that it takes more than two minutes");
    return;
  }
  if (result.exit_code == 0) {
    const absl::StatusOr<Machine> machine = FindMachine(file);
    REQUIRE_THAT(machine, IsOk());
    CHECK(machine->name == "m");
    CHECK(machine->devices() == 2);
    CHECK(result.out.find("median") != std::string::npos);
    CHECK(result.out.find("largest") != std::string::npos);
    return;
  }
  CHECK(result.exit_code == 3);
  CHECK(result.error.find("the machine is busy: rounds") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace yuba::tools
