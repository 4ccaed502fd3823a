// Bundles of `tools/gpu_check` for tests: packed, unpacked, changed and run.
#ifndef YUBA_TESTS_TOOLS_GPU_BUNDLE_H_
#define YUBA_TESTS_TOOLS_GPU_BUNDLE_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba {

nlohmann::json Read(const std::string& path);
void Write(const std::string& path, const std::string& text);

// A bundle of the cases with this in their names, unpacked anew; it is packed once in the process.
// What it times is small.
struct Bundle {
  Bundle(const std::string& target, const std::string& only);
  // Of mlp's cases: answers and training, in f32 and bf16, and an id outside of its table, on 1, 2,
  // 3 and 8 devices.
  Bundle() : Bundle("host", "/mlp|outside") {}

  CommandResult Check(const std::string& flags = "", const std::string& environment = "") const;
  // The case of this name.
  nlohmann::json& Case(nlohmann::json& packed, const std::string& name) const;
  // Puts a script of the shell in the place of the bundle's yuba-run, which is $RUN there.
  void Wrap(const std::string& script) const;

  std::string scratch, folder;
};

// A row of a table of the page: its cells, of which the first is this one.
std::vector<std::string> RowOf(const std::string& page, const std::string& first);
// Of a report.json.
const nlohmann::json& ResultOf(const nlohmann::json& report, const std::string& name);

// A folder with CUDA's libraries for scripts, which are stubs, and with an nvidia-smi that lists
// one GPU, or as many as FAKE_GPUS says: GPU-0f-0, GPU-1f-1 ...
std::string StubFolder();

}  // namespace yuba

#endif  // YUBA_TESTS_TOOLS_GPU_BUNDLE_H_
