// Bad input to the commands: the exit code, a message that names what is wrong, and no file left
// behind.
#include "tests/support/command.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

namespace yuba {
namespace {

const char kModel[] = "tests/models/mlp/model.onnx";

std::string Model() { return RepositoryFile(kModel); }

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void ExpectError(const std::string& line, int exit_code, const std::string& message) {
  INFO(line);
  const CommandResult result = RunCommand(line);
  INFO(result.error);
  CHECK(result.exit_code == exit_code);
  CHECK(result.error.find(message) != std::string::npos);
}

TEST_CASE("usage errors exit with 2 and name the flag") {
  ExpectError("yuba", 2, "subcommand");
  ExpectError("yuba frobnicate", 2, "frobnicate");
  ExpectError("yuba partition " + Model() + " --nonsense", 2, "--nonsense");
  ExpectError("yuba partition " + Model() + " --devices 0", 2,
              "--devices: 0 is not a whole number from 1 to 4096");
  ExpectError("yuba partition " + Model() + " --devices 99999999999999", 2,
              "--devices: 99999999999999 is not a whole number from 1 to 4096");
  ExpectError("yuba partition " + Model() + " --mesh data=1", 2, "--mesh data=1");
  ExpectError("yuba partition " + Model() + " --mesh data=2 --devices 2", 2, "--devices");
  ExpectError("yuba partition " + Model() + " --devices -3", 2, "--devices");
  ExpectError("yuba partition " + Model() + " --dim batch", 2, "NAME=N");
  ExpectError("yuba partition " + Model() + " --batch 0", 2, "--batch");
  ExpectError("yuba info " + Model() + " --to-tensors ,y", 2, "--to-tensors ,y: a name is empty");
  ExpectError("yuba info " + Model() + " --from-tensors x,", 2, "--from-tensors x,: a name is");
  ExpectError("yuba partition " + Model() + " --space copies=8", 2, "--space");
  ExpectError("yuba op no_such_operator", 2, "no_such_operator");
}

TEST_CASE("a missing or broken model exits with 2, names the file and writes nothing") {
  const std::string folder = ScratchFolder("broken");
  ExpectError("yuba info " + folder + "/none.onnx", 2, "none.onnx");
  const std::string whole = Read(Model());
  REQUIRE(whole.size() > 1000);
  Write(folder + "/half.onnx", whole.substr(0, whole.size() / 2));
  ExpectError("yuba partition " + folder + "/half.onnx", 2, "half.onnx");
  Write(folder + "/text.onnx", "this is no model");
  ExpectError("yuba partition " + folder + "/text.onnx", 2, "text.onnx");
  CHECK_FALSE(std::filesystem::exists(folder + "/half.plan.json"));
  CHECK_FALSE(std::filesystem::exists(folder + "/text.plan.json"));
}

TEST_CASE("an output that cannot be written exits with 2 and leaves nothing") {
  const std::string folder = ScratchFolder("output");
  ExpectError("yuba partition " + Model() + " -o " + folder + "/none/x.plan.json", 2,
              "x.plan.json");
  ExpectError("yuba partition " + Model() + " -o /dev/full", 2, "/dev/full");
  ExpectError("yuba partition " + Model() + " -o " + folder, 2, folder);
  CHECK(std::filesystem::is_empty(folder));
}

TEST_CASE("a plan that is broken, of another graph, or lies is refused") {
  const std::string folder = ScratchFolder("plans");
  const std::string plan = folder + "/p.json";
  REQUIRE(RunCommand("yuba partition " + Model() + " --devices 6 -o " + plan).exit_code == 0);
  REQUIRE(RunCommand("yuba check " + Model() + " " + plan).exit_code == 0);
  ExpectError("yuba check " + RepositoryFile("tests/models/conv/model.onnx") + " " + plan, 2,
              "p.json");
  const std::string text = Read(plan);
  Write(folder + "/half.json", text.substr(0, text.size() / 2));
  ExpectError("yuba show " + folder + "/half.json", 2, "half.json");
  ExpectError("yuba check " + Model() + " " + folder + "/none.json", 2, "none.json");
  const size_t at = text.find("\"bytes\":", text.find("\"cost\""));
  REQUIRE(at != std::string::npos);
  const size_t digit = text.find_first_of("0123456789", at);
  std::string lie = text;
  lie.insert(digit, "1");
  Write(folder + "/lie.json", lie);
  const CommandResult result = RunCommand("yuba check " + Model() + " " + folder + "/lie.json");
  INFO(result.error);
  CHECK(result.exit_code == 1);
}

TEST_CASE("nothing that a command reads is overwritten by it") {
  const std::string folder = ScratchFolder("keep");
  const std::string model = folder + "/m.onnx", plan = folder + "/p.json";
  std::filesystem::copy(Model(), model);
  ExpectError("yuba partition " + model + " -o " + model, 2, "m.onnx");
  CHECK(Read(model) == Read(Model()));
  REQUIRE(RunCommand("yuba partition " + model + " --devices 2 -o " + plan).exit_code == 0);
  ExpectError("yuba compile " + model + " " + plan + " -o " + plan, 2, "p.json");
  ExpectError("yuba show " + plan + " --html " + plan, 2, "p.json");
  const std::string data = folder + "/data";
  std::filesystem::copy(RepositoryFile("tests/models/mlp/test_data_set_0"), data);
  ExpectError("yuba run " + model + " " + plan + " --inputs " + data + " --outputs " + data, 2,
              "--outputs");
}

TEST_CASE("an output that is a link to a file is written through it") {
  const std::string folder = ScratchFolder("links");
  Write(folder + "/real.json", "old");
  std::filesystem::create_symlink("real.json", folder + "/link.json");
  REQUIRE(RunCommand("yuba partition " + Model() + " --devices 2 -o " + folder + "/link.json")
              .exit_code == 0);
  CHECK(std::filesystem::is_symlink(folder + "/link.json"));
  CHECK(RunCommand("yuba check " + Model() + " " + folder + "/real.json").exit_code == 0);
}

TEST_CASE("a file that may not grow is an error and leaves nothing") {
  const std::string folder = ScratchFolder("limit");
  ExpectError("ulimit -f 1; yuba partition " + Model() + " -o " + folder + "/p.json", 2, "p.json");
  CHECK(std::filesystem::is_empty(folder));
}

TEST_CASE("a plan whose shardings move other bytes than it says is refused before it runs") {
  const std::string folder = ScratchFolder("moved");
  const std::string plan = folder + "/p.json";
  REQUIRE(RunCommand("yuba partition " + Model() + " --devices 2 -o " + plan).exit_code == 0);
  std::string text = Read(plan);
  const size_t at = text.find("\"axes\":[\"a\"]", text.find("\"tensors\""));
  REQUIRE(at != std::string::npos);
  Write(folder + "/other.json", text.replace(at, 12, "\"axes\":[]"));
  for (const char* command : {"check", "verify", "run"}) {
    INFO(command);
    CHECK(RunCommand(std::string("yuba ") + command + " " + Model() + " " + folder + "/other.json")
              .exit_code == 1);
  }
}

TEST_CASE(
    "a plan whose program needs more than its limit is refused by all that make the program") {
  const std::string folder = ScratchFolder("limits");
  const std::string plan = folder + "/p.json", both = Model() + " " + folder + "/lie.json";
  REQUIRE(
      RunCommand("yuba partition " + Model() + " --devices 2 --memory 1MB -o " + plan).exit_code ==
      0);
  std::string text = Read(plan);
  const size_t at = text.find("\"memory\":1000000");
  REQUIRE(at != std::string::npos);
  Write(folder + "/lie.json", text.replace(at, 16, "\"memory\":100"));
  const std::string why = "allows 100 bytes a device (space.memory), but its program allocates";
  ExpectError("yuba run --random " + both, 2, why);
  ExpectError("yuba compile -o " + folder + "/o.yuba " + both, 2, why);
  ExpectError("yuba check " + both, 1, "its limit is 100");
  CHECK_FALSE(std::filesystem::exists(folder + "/o.yuba"));
  // The elements of hash arithmetic are larger, which no limit is about.
  const size_t arena = text.find("\"arena\":") + 8;
  const std::string bytes = text.substr(arena, text.find('}', arena) - arena);
  REQUIRE(RunCommand("yuba partition " + Model() + " --devices 2 --memory " + bytes + " -o " + plan)
              .exit_code == 0);
  for (const std::string command : {"run --random ", "verify ", "check "}) {
    INFO(command);
    CHECK(RunCommand("yuba " + command + Model() + " " + plan).exit_code == 0);
  }
}

TEST_CASE("an option of a plan that is wrong is named as the plan's, not as a flag") {
  const std::string folder = ScratchFolder("options");
  const std::string plan = folder + "/p.json", lie = folder + "/lie.json";
  REQUIRE(RunCommand("yuba partition " + Model() + " --devices 2 -o " + plan).exit_code == 0);
  const auto says = [&](const std::string& option, const std::string& words) {
    std::string text = Read(plan);
    Write(lie, text.insert(text.find("\"copies\":\"all\""), option + ","));
    const CommandResult result = RunCommand("yuba run " + Model() + " " + lie);
    INFO(option << ": " << result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find("lie.json: ") != std::string::npos);
    CHECK(result.error.find(words) != std::string::npos);
    CHECK(result.error.find("--") == std::string::npos);
  };
  says("\"dim.zork\":\"4\"", "options.dim.zork=4: no input has a dimension of that name");
  says("\"bind.x\":\"none.npy\"", "options.bind.x: none.npy: cannot be read");
  says("\"bind.zork\":\"" + RepositoryFile("tests/models/mlp/test_data_set_0/input_0.pb") + "\"",
       "options.bind.zork: the model has no input of that name");
  says("\"batch\":\"-1\"", "options.batch -1: it is a number of examples, at least 1");
  says("\"zork\":\"1\"", "options.zork is an option that plans do not have");
}

TEST_CASE("check refuses pins that the shardings do not have, and factors that the graph has not") {
  const std::string folder = ScratchFolder("claims");
  const std::string plan = folder + "/p.json", lie = folder + "/lie.json";
  const std::string mesh = " --mesh data=2,model=4 -o " + plan;
  const std::string check = "yuba check " + Model() + " ";
  REQUIRE(RunCommand("yuba partition " + Model() + mesh + " --pin batch=data").exit_code == 0);
  CHECK(RunCommand(check + plan).exit_code == 0);
  const std::string text = Read(plan);
  const auto say = [&](const std::string& words, const std::string& others) {
    const size_t at = text.find(words);
    REQUIRE(at != std::string::npos);
    std::string changed = text;
    Write(lie, changed.replace(at, words.size(), others));
  };
  say("\"batch=data\"", "\"l.1.weight=[-, -]\"");
  ExpectError(check + lie, 1,
              "the pin of tensor l.1.weight cannot be satisfied (l.1.weight=[-, -])");
  say("\"batch=data\"", "\"l.1.weight=[*, *]\"");
  ExpectError(check + lie, 1, "space.pins are not what the texts of the pins in options demand");
  say("\"pin.0\":\"batch=data\",", "");
  ExpectError(check + lie, 1, "space.pins are not what the texts of the pins in options demand");
  say("\"element\":0,", "\"element\":99,");
  ExpectError(check + lie, 2, "space.pins[0].element is 99");
  say("\"batch=data\"", "\"batch=rows\"");
  ExpectError(check + lie, 1, "options.pin.0 is batch=rows, which is no pin of this model");
  say("\"factors\":true", "\"factors\":false");
  ExpectError(check + lie, 1, "its space has no factors");
  REQUIRE(RunCommand("yuba partition " + Model() + mesh + " --space tofu").exit_code == 0);
  std::string tofu = Read(plan);
  const size_t at = tofu.find("\"factors\":false");
  REQUIRE(at != std::string::npos);
  Write(lie, tofu.replace(at, 15, "\"factors\":true"));
  ExpectError(check + lie, 1, "its space has factors");
}

TEST_CASE("a description with a type error is underlined") {
  const std::string folder = ScratchFolder("operators");
  Write(folder + "/bad.tdl", "op twice(x[n]) -> y[n]\n  y[i] = x[j]\n");
  ExpectError("yuba info " + Model() + " --operators " + folder + "/bad.tdl", 2, "^");
}

TEST_CASE("running without weights or inputs is an error that says what to give") {
  const std::string folder = ScratchFolder("run");
  const std::string plan = folder + "/p.json";
  REQUIRE(RunCommand("yuba partition " + Model() + " --devices 2 -o " + plan).exit_code == 0);
  ExpectError("yuba run " + Model() + " " + plan, 2, "--random");
  ExpectError("yuba run " + Model() + " " + plan + " --inputs " + folder + "/none", 2, "none");
  ExpectError("yuba run " + Model() + " " + plan + " --backend zz", 2,
              "zz not in {host,cuda,model}");
}

}  // namespace
}  // namespace yuba
