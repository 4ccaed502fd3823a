// `yuba-run --tune` on fake GPUs: the file of a first run gives later runs its bits, runs that are
// resumed too; what differs from the checkpoint's run is said; a file that is no tuning stays.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "nlohmann/json.hpp"
#include "runtime/cuda/tuning.h"
#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/fake_lt_algorithms.h"
#endif
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

std::string Text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

#ifdef YUBA_WITH_CUDA
// The tuning with the fake's second best algorithm in the place of its best one.
std::string BySecondBest(const std::string& text) {
  const auto tuning = cuda::Tuning::Parse(text);
  REQUIRE_THAT(tuning, IsOk());
  cuda::Tuning other;
  for (auto [call, entry] : (*tuning)->entries()) {
    cuda::LtAlgorithm algorithm, wanted = cuda::Configured(*cuda::FindLtRow(77));
    std::memcpy(&algorithm, entry.algorithm.bytes.data(), sizeof algorithm);
    std::memcpy(wanted.alignments, algorithm.alignments, sizeof wanted.alignments);
    wanted.bias_alignment = algorithm.bias_alignment;
    std::memcpy(entry.algorithm.bytes.data(), &wanted, sizeof wanted);
    entry.algorithm.id = wanted.id;
    entry.algorithm.tile = wanted.tile;
    entry.algorithm.stages = wanted.stages;
    entry.algorithm.split_k = wanted.split_k;
    entry.algorithm.reduction = wanted.reduction;
    other.Add(call, entry);
  }
  return other.Format();
}
#else
std::string BySecondBest(const std::string& text) { return text; }
#endif

// Training of mlp on two fake GPUs, f32.
struct Training {
  explicit Training(const std::string& name) : folder(ScratchFolder("tuning_" + name)) { Plan(2); }

  void Plan(int devices) const {
    const std::string yuba = RepositoryFile("tests/runtime/cuda/yuba-on-fakes") + " ",
                      model = RepositoryFile("tests/models/mlp/model.onnx") + " ";
    Succeed("cd " + folder + " && " + yuba + "partition " + model + "--devices " +
            std::to_string(devices) + " --train adam --loss softmax-cross-entropy -o p.json && " +
            yuba + "compile " + model + "p.json --target cuda -o p.yuba");
  }
  std::string Command(const std::string& flags) const {
    return "cd " + folder + " && " + RepositoryFile("tests/runtime/cuda/yuba-run-on-fakes") +
           " p.yuba --backend cuda --random=3 " + flags;
  }
  CommandResult Run(const std::string& flags) const { return Succeed(Command(flags)); }
  nlohmann::json Json(const std::string& flags) const {
    return nlohmann::json::parse(Run("--json " + flags).out);
  }
  void Refuses(const std::string& flags, const std::string& message) const {
    const CommandResult ran = RunCommand(Command(flags));
    INFO(flags << "\n" << ran.error);
    CHECK(ran.exit_code == 2);
    CHECK(ran.error.find(message) != std::string::npos);
  }
  std::string Read(const std::string& file) const { return Text(folder + "/" + file); }
  void Write(const std::string& file, const std::string& text) const {
    std::ofstream(folder + "/" + file, std::ios::binary) << text;
  }

  std::string folder;
};

bool SkipWithoutCuda() {
#ifdef YUBA_WITH_CUDA
  return false;
#else
  WARN("SKIP: built without CUDA");
  return true;
#endif
}

TEST_CASE("a first run with --tune times products, and later ones have its bits") {
  if (SkipWithoutCuda()) return;
  const Training training("bits");
  const nlohmann::json first = training.Json("--steps 3 --tune t.json");
  const int products = first["tuning"]["products"];
  CHECK(products > 0);
  CHECK(first["tuning"]["timed"] == products);
  CHECK(first["tuning"]["file"] == "t.json");
  const std::string text = training.Read("t.json");
  CHECK(std::count(text.begin(), text.end(), '\n') == products + 1);
  CHECK(static_cast<int>(nlohmann::json::parse(text)["entries"].size()) == products);
  const nlohmann::json second = training.Json("--steps 3 --tune t.json");
  CHECK(second["tuning"]["timed"] == 0);
  CHECK(second["numbers"] == first["numbers"]);
  CHECK(training.Read("t.json") == text);
  CHECK(training.Json("--steps 3").count("tuning") == 0);
  const CommandResult said = training.Run("--tune t.json");
  CHECK(said.out.find("t.json: " + std::to_string(products) +
                      " products by it, of which 0 timed now\n") != std::string::npos);
  // What is lost is timed anew, and entries of another program stay.
  nlohmann::json less = nlohmann::json::parse(text);
  less["entries"].erase(0);
  training.Write("t.json", less.dump());
  CHECK(training.Json("--tune t.json")["tuning"]["timed"] == 1);
  CHECK(training.Read("t.json") == text);
  training.Plan(3);
  const int others = training.Json("--tune t.json")["tuning"]["timed"];
  CHECK(others > 0);
  CHECK(nlohmann::json::parse(training.Read("t.json"))["entries"].size() ==
        static_cast<size_t>(products + others));
}

TEST_CASE("a run that is resumed with its tuning has the bits of one without a pause") {
  if (SkipWithoutCuda()) return;
  const Training training("resumed");
  training.Run("--steps 4 --tune t.json --save whole.st");
  training.Run("--steps 2 --tune t.json --save half.st");
  const std::string half = "--steps 4 --resume half.st --save end.st ";
  training.Run(half + "--tune t.json");
  CHECK(training.Read("end.st") == training.Read("whole.st"));
  training.Refuses(half,
                   "half.st: its run had --tune t.json, and this one has none; --override "
                   "tune goes on with that");
  training.Run(half + "--override tune");
  training.Refuses("--steps 4 --resume end.st --tune t.json --save more.st",
                   "4 steps of it are done");
  training.Refuses("--steps 5 --resume end.st --tune t.json",
                   "end.st: its run had --tune none, and this one has t.json; --override tune");
  training.Write("other.json", BySecondBest(training.Read("t.json")));
  training.Refuses(half + "--tune other.json",
                   "half.st: its run, with --tune t.json, computed f32");
  training.Refuses(half + "--tune other.json",
                   " by id 76 tile 176 stages 276 split_k 2 reduction 2 swizzle 1 custom 3 "
                   "inner_shape 0 cluster_shape 0 bytes ");
  training.Refuses(half + "--tune other.json",
                   ", and this one, with other.json, does by id 77 tile 177");
  training.Run(half + "--tune other.json --override tune");
  // The same choices in another file, and another plan, whose products are others.
  training.Write("same.json", training.Read("t.json"));
  training.Run(half + "--tune same.json");
  training.Plan(3);
  training.Run(half + "--tune same.json");
}

TEST_CASE("what is no file of a tuning is refused before anything runs, and stays as it is") {
  if (SkipWithoutCuda()) return;
  const Training training("refused");
  training.Run("--tune t.json");
  const std::string text = training.Read("t.json");
  const std::string half = text.substr(0, text.size() / 2);
  training.Write("half.json", half);
  training.Refuses("--tune half.json", "half.json: ");
  training.Refuses("--tune half.json", "it is no whole tuning and stays as it is: --tune with");
  CHECK(training.Read("half.json") == half);
  training.Write("chance.json", Replaced(text, "\"reduction\":2", "\"reduction\":1"));
  training.Refuses("--tune chance.json", "chance.json: entries[0].algorithm.reduction is 1, which");
  training.Write("changed.json", Replaced(text, "\"tile\":176", "\"tile\":177"));
  training.Refuses("--tune changed.json", "changed.json: entries[0].check is not of this entry");
  training.Refuses("--tune none/t.json", "--tune: none/t.json: cannot be written");
  training.Refuses("--tune .", ".: ");
  training.Refuses("--tune p.yuba", "p.yuba: ");
}

TEST_CASE("on processors --tune changes nothing") {
  if (SkipWithoutCuda()) return;
  const Training training("elsewhere");
  const std::string model = RepositoryFile("tests/models/mlp/model.onnx") + " ";
  Succeed("cd " + training.folder + " && " + RepositoryFile("tests/runtime/cuda/yuba-on-fakes") +
          " run " + model + "p.json --random --tune t.json");
  CHECK(training.Read("t.json").empty());
}

}  // namespace
}  // namespace yuba
