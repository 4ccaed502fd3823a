// Machine files with changed words and bytes: read as a machine whose seconds are finite and whose
// meshes are its devices, or refused; never a crash.
#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>

#include "opsemantics/base/files.h"
#include "opsemantics/machine/collective_table.h"
#include "opsemantics/machine/machine_mesh.h"
#include "opsemantics/machine/read_machine.h"
#include "tests/support/command.h"
#include "tests/support/mutate.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

// What must hold of every machine.
void Look(const Machine& machine) {
  REQUIRE(machine.devices() >= 1);
  for (const auto& [type, rate] : machine.device.rates) {
    for (const bool library : {false, true}) {
      for (int c = 0; c < kKernelClasses; ++c) {
        const KernelWork work = {static_cast<KernelClass>(c), library, type, 1e9, 1e9, 1e3};
        const double seconds = KernelSeconds(machine, work);
        CHECK(std::isfinite(seconds));
        CHECK(seconds > 0);
      }
    }
  }
  for (const LinkModel& link : machine.links) {
    CHECK(machine.devices() % link.devices == 0);
    CHECK(std::isfinite(BestRate(link)));
    for (const CollectiveTable& table : link.tables) {
      CHECK(table.devices <= link.devices);
      double last = 0;
      for (const auto& [bytes, seconds] : table.seconds) {
        CHECK(seconds >= last);
        last = seconds;
        CHECK(seconds >=
              (1 - 1e-12) * (link.latency + BytesReceived(table.collective, table.devices, bytes) /
                                                BestRate(link)));
      }
    }
  }
  CHECK(KindBetween(machine, 0, machine.devices() - 1) < static_cast<int>(machine.links.size()));
  const absl::StatusOr<Mesh> mesh = MeshOfMachine(machine, machine.devices());
  REQUIRE_THAT(mesh, IsOk());
  CHECK(mesh->devices() == machine.devices());
}

TEST_CASE("mutants of a machine file are machines, or are refused") {
  const std::string text = ReadFile(RepositoryFile("machines/hgx-h200.json")).value();
  const std::vector<std::string> words = {
      "0", "1",  "-1", "1e999", "1e21", "{",        "}",       "[",           "]", ",",
      ":", "{}", "[]", "null",  "true", "\"name\"", "\"f32\"", "\"devices\"", "8", "512"};
  const uint64_t seed = Catch::rngSeed() * uint64_t{1000003};
  constexpr int kRounds = 3000;
  int accepted = 0;
  for (int round = 0; round < kRounds; ++round) {
    Random random(seed + round);
    std::cerr << "machine seed " << seed + round << "\r" << std::flush;
    const std::string mutant =
        Below(random, 2) == 0 ? MutateWords(text, words, random) : MutateBytes(text, random);
    const absl::StatusOr<Machine> machine =
        ReadMachine(mutant, static_cast<int>(1 + Below(random, 5)));
    INFO("seed " << seed + round);
    if (machine.ok()) {
      ++accepted;
      Look(*machine);
    } else {
      CHECK(machine.status().code() == absl::StatusCode::kInvalidArgument);
      CHECK_FALSE(machine.status().message().empty());
    }
  }
  std::cerr << "machine: " << accepted << " of " << kRounds << " mutants were accepted\n";
  CHECK(accepted > 0);
  CHECK(accepted < kRounds);
}

}  // namespace
}  // namespace yuba
