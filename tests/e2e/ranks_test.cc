// The same programs in one process and as ranks, by --ranks, mpirun and mpiexec: outputs,
// checkpoints and what is said to move are equal bit for bit.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Of each file of a folder, by name, its bytes.
std::vector<std::pair<std::string, std::string>> FilesOf(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files.emplace_back(entry.path().lexically_relative(folder).string(), Read(entry.path()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A launcher, as it starts N processes of a command.
struct Launcher {
  std::string name;
  std::string command;  // with %N
  int most = 4;         // ranks: MPICH is slow where it has more than there are processors
};

std::string With(const Launcher& launcher, int ranks, const std::string& command,
                 const std::string& flags) {
  if (launcher.command.empty()) return command + " --ranks " + std::to_string(ranks) + flags;
  std::string start = launcher.command;
  start.replace(start.find("%N"), 2, std::to_string(ranks));
  return start + " " + command + flags;
}

bool IsThere(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

// Those of this machine; of the others a line says that they are missing.
std::vector<Launcher> Launchers() {
  std::vector<Launcher> launchers = {{"--ranks", ""}};
  const std::string loopback =
      "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo ";
  if (IsThere("mpirun.openmpi")) {
    launchers.push_back({"mpirun", loopback + "mpirun.openmpi --oversubscribe -n %N"});
  }
  if (IsThere("mpiexec.hydra")) {
    launchers.push_back({"mpiexec", "mpiexec.hydra -iface lo -n %N", 2});
  }
  if (launchers.size() < 3) WARN("SKIP: mpirun.openmpi or mpiexec.hydra is missing");
  return launchers;
}

class Program {
 public:
  // Of the model and options of `yuba partition`, for so many devices.
  Program(const std::string& model, const std::string& options, int devices)
      : folder_(ScratchFolder("ranks")), devices_(devices) {
    const std::string plan = folder_ + "/plan.json";
    Succeed("yuba partition " + model + " " + options + " --devices " + std::to_string(devices) +
            " -o " + plan);
    Succeed("yuba compile " + model + " " + plan + " -o " + program());
  }

  std::string program() const { return folder_ + "/program.yuba"; }

  // `flags` may write into %OUT, which is a folder of each run's own.
  void RunsEqually(const std::string& flags) const {
    const std::string alone = Run(nullptr, flags, "alone");
    for (const Launcher& launcher : Launchers()) {
      if (devices_ > launcher.most) continue;
      INFO(launcher.name << " " << devices_);
      const std::string ranks = Run(&launcher, flags, "ranks");
      const auto expected = FilesOf(alone), found = FilesOf(ranks);
      REQUIRE(!expected.empty());
      REQUIRE(expected.size() == found.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        CHECK(expected[i].first == found[i].first);
        CHECK((expected[i].second == found[i].second));
      }
      std::filesystem::remove_all(ranks);
    }
  }

 private:
  std::string Run(const Launcher* launcher, std::string flags, const std::string& name) const {
    const std::string out = folder_ + "/" + name;
    std::filesystem::create_directories(out);
    for (size_t at = flags.find("%OUT"); at != flags.npos; at = flags.find("%OUT"))
      flags.replace(at, 4, out);
    const std::string command = "yuba-run " + program();
    Succeed(launcher == nullptr ? command + " " + flags
                                : With(*launcher, devices_, command, " --interface lo " + flags));
    return out;
  }

  const std::string folder_;
  const int devices_;
};

TEST_CASE("a forward pass of ranks has the bits of one process") {
  int turn = 0;
  for (const std::string name : {"mlp", "conv", "gpt", "lstm", "encoder", "moe"}) {
    const std::string model = RepositoryFile("tests/models/" + name);
    for (const int devices : {2 + turn % 3, 2 + (turn + 1) % 3}) {
      INFO(name << " on " << devices);
      Program(model + "/model.onnx", "", devices)
          .RunsEqually("--inputs " + model + "/test_data_set_0 --outputs %OUT --expect 1e-4");
    }
    ++turn;
  }
}

TEST_CASE("a decoder of ranks has the caches and logits of one process, step by step") {
  const std::string folder = RepositoryFile("tests/models/decoder_cache");
  Program(folder + "/model.onnx",
          "--state pos_next=pos --state k0_next=k0 --state v0_next=v0 --state k1_next=k1 "
          "--state v1_next=v1",
          3)
      .RunsEqually("--inputs " + folder +
                   " --outputs %OUT --expect 2e-5 --steps 5 "
                   "--save %OUT/caches.safetensors");
}

TEST_CASE("entries of ranks share their caches as those of one process") {
  const std::string folder = RepositoryFile("tests/models/decoder_past");
  Program(folder + "/model.onnx",
          "--dim batch=3 --cache 'past_*=present_*:24' --entry prefill:sequence=8 "
          "--entry decode*16:sequence=1",
          2)
      .RunsEqually("--inputs " + folder + " --outputs %OUT --expect 2e-5");
}

TEST_CASE("training of ranks has the bits of one process, checkpoints too") {
  const std::string model = RepositoryFile("tests/models/gpt") + "/model.onnx";
  for (const int devices : {2, 4}) {
    Program(model, "--train adam --loss softmax-cross-entropy", devices)
        .RunsEqually(
            "--random --steps 3 --outputs %OUT --save %OUT/states.safetensors "
            "--save-every 2");
  }
}

}  // namespace
}  // namespace yuba
