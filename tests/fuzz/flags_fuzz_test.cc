// Command lines put together at random from flags, odd values and files of the wrong kind: an
// answer or a refusal, never a crash, a hang, an internal fault or half a file.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"
#include "tests/support/mutate.h"

namespace yuba {
namespace {

using Words = std::vector<std::string>;

std::string Pick(const Words& words, Random& random) { return words[Below(random, words.size())]; }

// Values for the flags of each kind. Paths are relative to the folder of the case.
const Words kNumbers = {"0",   "1",   "2",     "3",   "7",    "12",   "-1",
                        "1e9", "nan", "-inf",  "0x8", "4096", "4097", "99999999999999999999",
                        "two", "8 8", "1e308", "''",  "2.5",  "٣"};
const Words kFiles = {"model.onnx", "half.onnx", "plan.json",    "half.json",  "empty",
                      "folder",     "none",      "folder/none",  "/dev/null",  "/dev/full",
                      "loop",       "link.onnx", "'naïve 模型'", "input_0.pb", "''"};
const Words kWords = {
    "batch=4",     "batch=0",        "=",     "x",         "a=2",          "a=2,b=3",
    "a=0",         "data=2,model=4", "''",    "batch=",    "x=input_0.pb", "x=none",
    "x=plan.json", "default",        "auto",  "none",      "tofu",         "recursive",
    "megatron",    "host",           "cuda",  "quantum",   "search",       "import",
    "'x=[a, -]'",  "'*=[*]'",        "'x=['", "'*/q=a'",   "batch=a",      "64KB",
    "1B",          "cover",          "full",  "x86-64-v3", "sm_80",        "pdp11"};

struct Flag {
  const char* name;
  const Words* values;  // null: it takes none
};
struct Command {
  const char* name;
  int models, plans;  // positional arguments
  std::vector<Flag> flags;
};

const std::vector<Command>& Commands() {
  const Flag json = {"--json", nullptr}, dim = {"--dim", &kWords}, batch = {"--batch", &kNumbers},
             bind = {"--bind", &kWords}, operators = {"--operators", &kFiles},
             devices = {"--devices", &kNumbers}, mesh = {"--mesh", &kWords},
             output = {"-o", &kFiles};
  static const auto* const commands = new std::vector<Command>{
      {"info", 1, 0, {json, dim, batch, bind, operators}},
      {"partition",
       1,
       0,
       {json,
        dim,
        batch,
        bind,
        operators,
        devices,
        mesh,
        output,
        {"--search", &kWords},
        {"--replicate", &kWords},
        {"--memory", &kWords},
        {"--space", &kWords},
        {"--pin", &kWords},
        {"--dump", &kFiles},
        {"--to", &kWords}}},
      {"compare",
       1,
       0,
       {json,
        dim,
        batch,
        devices,
        mesh,
        {"--space", &kWords},
        {"--machines", &kWords},
        {"--steps", &kNumbers},
        {"--mtbf", &kNumbers},
        {"--checkpoint-bandwidth", &kWords}}},
      {"why", 1, 1, {json, {"--tensor", &kWords}, {"--node", &kWords}}},
      {"show",
       0,
       1,
       {json,
        {"--tensor", &kWords},
        {"--node", &kWords},
        {"--transfers", nullptr},
        {"--arena", nullptr},
        {"--kernels", nullptr},
        {"--all", nullptr},
        {"--html", &kFiles},
        {"--dot", &kFiles},
        {"--diff", &kFiles}}},
      {"check", 1, 1, {json, dim, batch, bind, operators}},
      {"verify", 1, 1, {json, dim, batch, bind, {"--scale", &kWords}, {"--seed", &kNumbers}}},
      {"run",
       1,
       1,
       {json,
        dim,
        batch,
        {"--backend", &kWords},
        {"--input", &kWords},
        {"--inputs", &kFiles},
        {"--outputs", &kFiles},
        {"--weights", &kFiles},
        {"--expect", &kNumbers},
        {"--random", nullptr},
        {"--interleave", &kNumbers},
        {"--sums", &kWords},
        {"--no-graph", nullptr},
        {"--tune", &kFiles},
        {"--guard", &kWords},
        {"--trace", &kFiles},
        {"--no-library", nullptr},
        {"--tf32", nullptr}}},
      {"compile",
       1,
       1,
       {json,
        dim,
        output,
        {"--target", &kWords},
        {"--target-cpu", &kWords},
        {"--no-library", nullptr},
        {"--tf32", nullptr},
        {"--dump-kernels", &kFiles}}},
      {"op", 0, 0, {json, operators}},
      {"devices", 0, 0, {json}}};
  return *commands;
}

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A folder with a model, a plan of it, and files that are neither.
void Furnish(const std::string& folder, const std::string& plan) {
  namespace fs = std::filesystem;
  fs::remove_all(folder);
  fs::create_directories(folder + "/folder");
  const std::string model = Read(RepositoryFile("tests/models/mlp/model_dynamic.onnx"));
  Write(folder + "/model.onnx", model);
  Write(folder + "/half.onnx", model.substr(0, model.size() / 2));
  Write(folder + "/plan.json", plan);
  Write(folder + "/half.json", plan.substr(0, plan.size() / 2));
  Write(folder + "/empty", "");
  Write(folder + "/naïve 模型", model);
  Write(folder + "/input_0.pb",
        Read(RepositoryFile("tests/models/mlp/test_data_set_0/input_0.pb")));
  fs::create_symlink("loop", folder + "/loop");
  fs::create_symlink("model.onnx", folder + "/link.onnx");
}

std::string Line(Random& random) {
  const Command& command = Commands()[Below(random, Commands().size())];
  std::string line = std::string("yuba ") + command.name;
  for (int i = 0; i < command.models; ++i) {
    line += " " + (Below(random, 4) > 0 ? "model.onnx" : Pick(kFiles, random));
  }
  for (int i = 0; i < command.plans; ++i) {
    line += " " + (Below(random, 4) > 0 ? "plan.json" : Pick(kFiles, random));
  }
  for (size_t flags = Below(random, 5); flags > 0; --flags) {
    const Flag& flag = command.flags[Below(random, command.flags.size())];
    line += std::string(" ") + flag.name;
    if (flag.values == nullptr) continue;
    const Words& values = Below(random, 8) > 0 ? *flag.values : kNumbers;
    line += " " + Pick(values, random);
  }
  return line;
}

// No file is half written: a plan is JSON, and none has the name of a file in progress.
void CheckFiles(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    CHECK(name.find(".yuba.") == std::string::npos);
    if (name == "half.json" || !is_regular_file(entry.symlink_status())) continue;
    if (name.find(".json.") != std::string::npos) FAIL("a file that was being written is left");
    if (entry.path().extension() == ".json") {
      CHECK(nlohmann::json::accept(Read(entry.path().string())));
    }
  }
}

TEST_CASE("command lines put together at random are answered or refused") {
  const std::string folder = ScratchFolder("flags"), made = ScratchFolder("plan") + "/plan.json";
  Succeed("yuba partition --devices 4 --batch 4 -o " + made + " " +
          RepositoryFile("tests/models/mlp/model_dynamic.onnx"));
  const std::string plan = Read(made);
  const uint64_t seed = Catch::rngSeed() * uint64_t{1000003};
  int answered = 0;
  constexpr int kRounds = 120;
  for (int round = 0; round < kRounds; ++round) {
    Random random(seed + round);
    Furnish(folder, plan);
    const std::string line = Line(random);
    const CommandResult result = RunCommand("cd " + folder + " && timeout 60 " + line);
    INFO("seed " << seed + round << ": " << line << "\n" << result.error);
    CHECK(result.exit_code >= 0);
    CHECK(result.exit_code <= 2);
    if (result.exit_code == 2) CHECK(result.error.find("yuba") == 0);
    answered += result.exit_code == 0;
    CheckFiles(folder);
  }
  std::cerr << "flags: " << answered << " of " << kRounds << " lines were answered\n";
  CHECK(answered > 0);
  CHECK(answered < kRounds);
}

}  // namespace
}  // namespace yuba
