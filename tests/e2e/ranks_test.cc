// The same programs in one process and as ranks, by --ranks, mpirun and mpiexec: outputs,
// checkpoints and what is said to move are equal bit for bit.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
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

// Those of this machine; of the others a line says that they are missing.
std::vector<Launcher> Launchers() {
  std::vector<Launcher> launchers = {{"--ranks", "", 8}};
  if (IsThere("mpirun.openmpi")) {
    launchers.push_back({"mpirun", std::string(kMpirun) + "-n %N", 8});
  }
  if (IsThere("mpiexec.hydra")) {
    launchers.push_back({"mpiexec", "mpiexec.hydra -iface lo -n %N", 2});
  }
  if (launchers.size() < 3) WARN("SKIP: mpirun.openmpi or mpiexec.hydra is missing");
  return launchers;
}

// PyTorch's launcher starts slowly.
std::vector<Launcher> Torchrun() {
  if (IsThere("torchrun")) {
    return {{"torchrun", "torchrun --standalone --no-python --nproc-per-node %N"}};
  }
  WARN("SKIP: torchrun is missing");
  return {};
}

class Program {
 public:
  // Of the model and options of `yuba partition`, for so many devices, and of `yuba compile`.
  Program(const std::string& model, const std::string& options, int devices,
          const std::string& compile = "")
      : folder_(ScratchFolder("ranks")), devices_(devices) {
    const std::string plan = folder_ + "/plan.json";
    Succeed("yuba partition " + model + " " + options + " --devices " + std::to_string(devices) +
            " -o " + plan);
    Succeed("yuba compile " + model + " " + plan + " " + compile + " -o " + program());
  }

  std::string program() const { return folder_ + "/program.yuba"; }

  // `flags` may write into %OUT, which is a folder of each run's own.
  void RunsEqually(const std::string& flags,
                   const std::vector<Launcher>& launchers = Launchers()) const {
    const std::string alone = Run(nullptr, flags, "alone");
    for (const Launcher& launcher : launchers) {
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

TEST_CASE("ranks in hash arithmetic, where every sum is exact, have the bits of one process") {
  for (const std::string name : {"mlp", "gpt"}) {
    Program(RepositoryFile("tests/models/" + name) + "/model.onnx",
            "--train sgd --loss softmax-cross-entropy", 3, "--hash-arithmetic")
        .RunsEqually("--random --steps 2 --outputs %OUT");
  }
}

TEST_CASE("eight ranks on few processors have the bits of one process") {
  Program(RepositoryFile("tests/models/mlp") + "/model.onnx",
          "--train adam --loss softmax-cross-entropy", 8)
      .RunsEqually("--random --steps 2 --outputs %OUT --save %OUT/states.safetensors");
}

// A model, its plan for four devices and what a training of it needs.
class Trained {
 public:
  explicit Trained(const std::string& memory = "1GB") : folder_(ScratchFolder("planned_again")) {
    Succeed("yuba partition " + model_ + " --train adam --loss softmax-cross-entropy --memory " +
            memory + " --devices 4 -o " + plan());
  }

  std::string plan() const { return folder_ + "/plan.json"; }
  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  CommandResult Run(const std::string& flags) const {
    return RunCommand("yuba run " + model_ + " " + plan() + " --interface lo --random " + flags);
  }

 private:
  const std::string model_ = RepositoryFile("tests/models/gpt") + "/model.onnx";
  const std::string folder_;
};

TEST_CASE(
    "a run plans again for as many ranks as there are, and goes on from the last checkpoint") {
  const Trained trained;
  const std::string states = trained.File("states.safetensors");
  const std::string elastic = "--devices auto --resume latest --save " + states + " --steps ";
  const CommandResult first = trained.Run(elastic + "2 --ranks 3");
  INFO(first.error);
  REQUIRE(first.exit_code == 0);
  CHECK(first.error.find("is for 4 devices and was made again for 3") != std::string::npos);
  CHECK(first.error.find("there is no checkpoint at " + states + " yet") != std::string::npos);
  const CommandResult second =
      trained.Run(elastic + "4 --ranks 2 --log " + trained.File("log.csv"));
  INFO(second.error);
  REQUIRE(second.exit_code == 0);
  CHECK(second.error.find("was made again for 2") != std::string::npos);
  CHECK(second.out.find("step 3") != std::string::npos);
  CHECK(second.out.find("step 2 ") == std::string::npos);
  // The run that was never cut short, on one device, has the same losses but for the order of sums.
  const CommandResult whole = trained.Run("--devices auto --steps 4");
  REQUIRE(whole.exit_code == 0);
  const auto loss_of = [](const std::string& text) {
    return std::stod(text.substr(text.find("loss ", text.find("step 4")) + 5));
  };
  CHECK(loss_of(second.out) == Approx(loss_of(whole.out)).epsilon(1e-5));
}

// Two ranks that one shell starts, each in a folder of its own, where "states" is another file.
TEST_CASE("ranks that do not see the folder of --save are named, before the first step") {
  const std::string folder = ScratchFolder("not_shared");
  const std::string model = RepositoryFile("tests/models/gpt") + "/model.onnx";
  Succeed("yuba partition " + model + " --train adam --loss softmax-cross-entropy --devices 2 -o " +
          folder + "/plan.json");
  Succeed("yuba compile " + model + " " + folder + "/plan.json -o " + folder + "/program.yuba");
  const auto run = [&](const std::string& other) {
    for (const std::string name : {"meet", "a", "b"})
      std::filesystem::remove_all(folder + "/" + name);
    std::filesystem::create_directories(folder + "/meet");
    const auto rank = [&](const std::string& number, const std::string& where) {
      std::filesystem::create_directories(folder + "/" + where);
      return "(cd " + folder + "/" + where + "; YUBA_RANK=" + number +
             " YUBA_RANKS=2 YUBA_MEET=" + folder + "/meet yuba-run " + folder +
             "/program.yuba --random --steps 1 " + "--interface lo --save states)";
    };
    return RunCommand(rank("1", other) + " & " + rank("0", "a") + "; code=$?; wait; exit $code");
  };
  const CommandResult apart = run("b");
  INFO(apart.error);
  CHECK(apart.exit_code == 2);
  CHECK(apart.error.find("--save states: what rank 0 (host ") != std::string::npos);
  CHECK(apart.error.find("is not seen within 10 s by rank 1 (host ") != std::string::npos);
  CHECK(apart.out.find("step 1") == std::string::npos);
  CHECK(FilesOf(folder + "/a").size() == 1);  // ended.json
  CHECK(FilesOf(folder + "/b").empty());
  const CommandResult together = run("a");
  INFO(together.error);
  CHECK(together.exit_code == 0);
  CHECK(FilesOf(folder + "/a").size() == 1);  // the states
}

TEST_CASE("a plan made again for other devices is the plan that was asked for with these") {
  const std::string folder = ScratchFolder("asked_for");
  const std::string model = RepositoryFile("tests/models/gpt") + "/model.onnx";
  const auto plan = [&](const std::string& asked, int devices) {
    const std::string file = folder + "/" + std::to_string(devices) + ".json";
    Succeed("yuba partition " + model + " " + asked + " --devices " + std::to_string(devices) +
            " -o " + file);
    return file;
  };
  const auto figures = [&](const std::string& file) {
    const std::string json =
        Succeed("yuba run " + model + " " + file + " --devices 2 --random --json").out;
    const auto field = [&](const std::string& name) {
      const size_t begin = json.find("\"" + name + "\"");
      return json.substr(begin, json.find(",\n", begin) - begin);
    };
    return std::vector<std::string>{field("bytes"), field("arena_bytes")};
  };
  for (const std::string asked :
       {"", "--space tofu", "--space flat,copies=none", "--replicate auto", "--memory 240kB",
        "--search data", "--search zero3", "--search recursive", "--search megatron",
        "--replicate auto --space partials=none", "--machine hgx-h100:8"}) {
    INFO(asked);
    CHECK(figures(plan(asked, 4)) == figures(plan(asked, 2)));
  }
}

TEST_CASE("--devices and --resume latest say what they need") {
  const Trained trained;
  const auto error = [&](const std::string& flags) {
    const CommandResult result = trained.Run(flags);
    CHECK(result.exit_code == 2);
    return result.error;
  };
  CHECK(error("--devices some").find("a number from 1 to ") != std::string::npos);
  CHECK(error("--resume latest").find("give it too") != std::string::npos);
  CHECK(error("--resume absent").find("does not exist") != std::string::npos);
}

TEST_CASE("rank 0 says what is wrong before a launcher kills all") {
  for (const Launcher& launcher : Launchers()) {
    INFO(launcher.name);
    const CommandResult absent = RunCommand(With(launcher, 2, "yuba-run", " absent.yuba --random"));
    CHECK(absent.exit_code != 0);
    CHECK(absent.error.find("absent.yuba: ") != std::string::npos);
  }
}

TEST_CASE("a prediction is of no ranks") {
  const std::string folder = ScratchFolder("predicted"),
                    model = RepositoryFile("tests/models/mlp") + "/model.onnx";
  Succeed("yuba partition " + model + " --devices 2 -o " + folder + "/p.json");
  const CommandResult result = RunCommand("yuba run " + model + " " + folder +
                                          "/p.json --backend model --machine hgx-h100 --ranks 2");
  CHECK(result.exit_code == 2);
  CHECK(result.error.find("leave --ranks away") != std::string::npos);
}

TEST_CASE("ranks of torchrun meet at its store") {
  const std::vector<Launcher> torchrun = Torchrun();
  if (torchrun.empty()) return;
  const std::string model = RepositoryFile("tests/models/gpt");
  Program(model + "/model.onnx", "", 2)
      .RunsEqually("--inputs " + model + "/test_data_set_0 --outputs %OUT", torchrun);
}

TEST_CASE("a plan for other devices that fits no --memory ends all ranks") {
  const Trained trained("400kB");
  const CommandResult result = trained.Run("--devices auto --ranks 2 --timeout 5");
  INFO(result.error);
  CHECK(result.exit_code == 1);
  CHECK(result.error.find("for 2 devices") != std::string::npos);
}

// An x of the MLP whose last row, which the last device has, is NaN; as NumPy writes it.
void WriteNanInLastRow(const std::string& file) {
  constexpr int kRows = 12, kColumns = 48;
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 48), }";
  header.resize(117, ' ');
  std::vector<float> values(kRows * kColumns, 0.5f);
  std::fill(values.end() - kColumns, values.end(), std::nanf(""));
  std::ofstream stream(file, std::ios::binary);
  stream << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size() + 1) << '\0' << header
         << "\n";
  stream.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
}

TEST_CASE("a NaN that one rank alone sees ends all, by the name of what made it") {
  const std::string x = ScratchFolder("nan") + "/x.npy";
  WriteNanInLastRow(x);
  const Program mlp(RepositoryFile("tests/models/mlp") + "/model.onnx", "--search data", 2);
  for (const std::string ranks : {"", " --ranks 2 --interface lo --timeout 20"}) {
    const CommandResult result = RunCommand("yuba-run " + mlp.program() + " --input x=" + x +
                                            " --guard nan --steps 3" + ranks);
    INFO(ranks << " " << result.error);
    CHECK(result.exit_code == 1);
    CHECK(result.error.find("on device 1") != std::string::npos);
    CHECK(result.error.find("has not got on") == std::string::npos);
  }
}

}  // namespace
}  // namespace yuba
