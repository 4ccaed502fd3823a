// How much larger arenas are than what is live in them, on the repository's models and on those of
// YUBA_TEST_DATA: the offsets lose at most a fiftieth of a device's memory.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "compiler/memory/memory_use.h"
#include "compiler/phases.h"
#include "opsemantics/base/slot.h"
#include "opsemantics/language/library.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

const OperatorLibrary& Library() {
  static const OperatorLibrary* const library = new OperatorLibrary(*OperatorLibrary::BuiltIn());
  return *library;
}

ProgramMemory MemoryOf(const std::string& model, int devices, const char* search) {
  Compilation compilation;
  compilation.request.model_file = model;
  compilation.request.import.library = &Library();
  compilation.request.search.mesh = MeshOf(devices);
  compilation.request.search.search = search;
  PhaseOptions options;
  options.to = "memory";
  const absl::Status status = RunPhases(options, compilation);
  REQUIRE_THAT(status, IsOk());
  return MeasureMemory(compilation.program);
}

double Ratio(const ProgramMemory& memory) {
  return static_cast<double>(memory.arena) / static_cast<double>(memory.live_bound);
}

void CheckArenas(const std::vector<std::string>& models, const std::vector<int>& meshes,
                 const char* search) {
  double worst = 0;
  for (const std::string& model : models) {
    for (int devices : meshes) {
      const ProgramMemory memory = MemoryOf(model, devices, search);
      INFO(model << " on " << devices << ": " << memory.arena << " of " << memory.live_bound);
      CHECK(memory.arena >= memory.live_bound);
      // Of the tiniest programs, with some 50 slots, one slot is 2 %.
      CHECK(memory.arena <= memory.live_bound + std::max(memory.live_bound / 50, kSlotBytes));
      if (Ratio(memory) <= worst) continue;
      worst = Ratio(memory);
      std::cout << model << " on " << devices << " devices: " << memory.arena << " bytes, "
                << Ratio(memory) << " times what is live\n";
    }
  }
}

std::vector<std::string> Small(const std::vector<std::string>& names) {
  std::vector<std::string> models;
  for (const std::string& name : names) {
    models.push_back(RepositoryFile("tests/models/" + name + "/model.onnx"));
  }
  return models;
}

TEST_CASE("arenas of small models have at most 2 % more bytes than are live at the peak") {
  CheckArenas(Small({"conv", "decoder_cache", "encoder", "gpt", "light_squeezenet", "lstm", "mlp"}),
              {1, 2, 3, 5, 6, 8, 64}, "recursive");
  CheckArenas(Small({"conv", "decoder_cache", "encoder", "gpt", "mlp"}), {2, 3, 8}, "default");
}

TEST_CASE("arenas of large models have at most 2 % more bytes than are live at the peak") {
  if (TestData().empty()) {
    WARN("SKIP: YUBA_TEST_DATA is not set");
    return;
  }
  std::vector<std::string> models;
  for (const char* name : {"gpt2_small", "resnet50", "lstm_6x1024_t20"}) {
    models.push_back(TestData() + "/models/" + name + ".onnx");
  }
  CheckArenas(models, {8}, "recursive");
}

}  // namespace
}  // namespace yuba::compiler
