#include "tests/tools/gpu_bundle.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace yuba {
namespace {

// A folder in which `yuba` and `yuba-run` are those of a machine with fake GPUs.
std::string FakeCommands() {
  const std::string folder = ScratchFolder("bin"), from = "tests/runtime/cuda/";
  for (const std::string command : {"yuba", "yuba-run"}) {
    Succeed("ln -s " + RepositoryFile(from + command + "-on-fakes") + " " + folder + "/" + command);
  }
  return folder;
}

// An archive of these cases.
std::string Archive(const std::string& target, const std::string& only) {
  static auto* const packed = new std::map<std::string, std::string>;  // by what is asked for
  std::string& archive = (*packed)[target + only];
  if (!archive.empty()) return archive;
  archive = ScratchFolder("archive" + std::to_string(packed->size())) + "/check.tar.gz";
  const std::string commands = target == "cuda" ? FakeCommands() : "$(dirname $(command -v yuba))";
  Succeed("python3 " + RepositoryFile("tools/gpu/check.py") + " --pack " + archive + " --target " +
          target + " --small --only '" + only + "' --bin " + commands);
  return archive;
}

}  // namespace

nlohmann::json Read(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

Bundle::Bundle(const std::string& target, const std::string& only)
    : scratch(ScratchFolder("gpu_check")), folder(scratch + "/gpu_check") {
  Succeed("tar xzf " + Archive(target, only) + " -C " + scratch);
}

CommandResult Bundle::Check(const std::string& flags, const std::string& environment) const {
  return RunCommand(environment + folder + "/gpu_check --report " + scratch + "/report " + flags);
}

nlohmann::json& Bundle::Case(nlohmann::json& packed, const std::string& name) const {
  for (nlohmann::json& one : packed["cases"]) {
    if (one["name"] == name) return one;
  }
  FAIL("no case " << name);
  return packed;
}

void Bundle::Wrap(const std::string& script) const {
  Succeed("mv " + folder + "/yuba-run " + folder + "/yuba-run-itself");
  Write(folder + "/yuba-run", "#!/bin/sh\nRUN=" + folder + "/yuba-run-itself\n" + script + "\n");
  Succeed("chmod +x " + folder + "/yuba-run");
}

std::vector<std::string> RowOf(const std::string& page, const std::string& first) {
  const size_t begin = page.find("| " + first);
  if (begin == std::string::npos) return {};
  std::vector<std::string> cells;
  for (const auto& cell : absl::StrSplit(page.substr(begin, page.find('\n', begin) - begin), '|'))
    cells.emplace_back(absl::StripAsciiWhitespace(cell));
  return {cells.begin() + 1, cells.end() - 1};
}

const nlohmann::json& ResultOf(const nlohmann::json& report, const std::string& name) {
  for (const nlohmann::json& one : report["results"]) {
    if (one["name"] == name) return one;
  }
  FAIL("no result " << name);
  return report;
}

std::string StubFolder() {
  const std::string folder = ScratchFolder("stubs");
  const std::string stub = RepositoryFile("tests/tools/libstub_gpu.so");
  for (const char* name : {"libcudart.so.13", "libcuda.so.1", "libcublas.so.13",
                           "libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2"}) {
    Succeed("ln -s " + stub + " " + folder + "/" + name);
  }
  Write(folder + "/nvidia-smi",
        "#!/bin/sh\ni=0; while [ $i -lt ${FAKE_GPUS:-1} ]; do\n"
        "case $1 in *name*) echo fake GPU, 80 GiB, 580.1, 9.0;; *) echo GPU-${i}f-$i, 9.0;; esac\n"
        "i=$((i + 1)); done\n");
  Succeed("chmod +x " + folder + "/nvidia-smi");
  return folder;
}

}  // namespace yuba
