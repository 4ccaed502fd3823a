// Searches that a time limit or Ctrl-C ends, and searches with any number of threads, as users see
// them.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

std::string Model(const std::string& name) {
  return RepositoryFile("tests/models/" + name + "/model.onnx");
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// What ended the search; "" where nothing did.
std::string Stopped(const std::string& plan) {
  const nlohmann::json json = nlohmann::json::parse(Read(plan), nullptr, false);
  REQUIRE(json.is_object());
  return json.value("stopped", "");
}

void CheckShortPlan(const std::string& model, const std::string& plan, const std::string& by) {
  CHECK(Stopped(plan) == by);
  const CommandResult check = RunCommand("yuba check " + model + " " + plan);
  INFO(check.error);
  CHECK(check.exit_code == 0);
  CHECK(RunCommand("yuba show " + plan).out.find("cut short") != std::string::npos);
}

TEST_CASE("a time limit ends the search with a plan that says so") {
  const std::string plan = ScratchFolder("limit") + "/p.json";
  for (const std::string flags : {"--devices 8", "--devices 1024", "--search recursive",
                                  "--pin 'e.weight=[-,a]'", "--search spartan"}) {
    INFO(flags);
    const CommandResult result = RunCommand("yuba partition " + Model("gpt") + " " + flags +
                                            " --time-limit 0.000001 -o " + plan);
    INFO(result.error);
    REQUIRE(result.exit_code == 0);
    CHECK(result.out.find("CUT SHORT by its time limit") != std::string::npos);
    CheckShortPlan(Model("gpt"), plan, "time limit");
  }
}

TEST_CASE("a limit that is not struck leaves no trace") {
  const std::string folder = ScratchFolder("no_trace");
  const std::string partition = "yuba partition " + Model("conv") + " -o " + folder;
  REQUIRE(RunCommand(partition + "/a.json").exit_code == 0);
  REQUIRE(RunCommand(partition + "/b.json --time-limit 100000").exit_code == 0);
  CHECK(Stopped(folder + "/a.json").empty());
  CHECK(Read(folder + "/a.json") == Read(folder + "/b.json"));
}

TEST_CASE("a bound that nobody has replayed is never called optimal") {
  const std::string plan = ScratchFolder("unchecked") + "/p.json", model = Model("conv");
  const auto is_replayed = [&] {
    return nlohmann::json::parse(Read(plan)).at("replayed").get<bool>();
  };
  const std::string partition = "yuba partition " + model + " -o " + plan;
  const CommandResult checked = RunCommand(partition);
  CHECK(checked.out.find("optimal in its space") != std::string::npos);
  CHECK(is_replayed());
  // Without the checker, and where a search that ends with its bound leaves no time for it.
  const CommandResult unchecked = RunCommand(partition + " --no-check");
  REQUIRE(unchecked.exit_code == 0);
  CHECK(unchecked.out.find("bound not yet checked: yuba check") != std::string::npos);
  CHECK(unchecked.out.find("optimal") == std::string::npos);
  CHECK_FALSE(is_replayed());
  CHECK(Read(plan).find("\"no-check\":\"true\"") != std::string::npos);
  const CommandResult shown = RunCommand("yuba show " + plan);
  CHECK(shown.out.find("bound not yet checked: yuba check") != std::string::npos);
  REQUIRE(RunCommand(partition + " --time-limit 0.000001").exit_code == 0);
  CHECK_FALSE(is_replayed());
  const CommandResult check = RunCommand("yuba check " + model + " " + plan);
  INFO(check.error);
  CHECK(check.exit_code == 0);
}

TEST_CASE("limits and threads that are none are refused") {
  for (const char* flag : {"--time-limit 0", "--time-limit -1", "--time-limit nan",
                           "--time-limit 3s", "--threads 0", "--threads 1.5", "--threads x"}) {
    INFO(flag);
    const std::string plan = ScratchFolder("refused") + "/p.json";
    const CommandResult result =
        RunCommand("yuba partition " + Model("mlp") + " " + flag + " -o " + plan);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find(std::string(flag).substr(0, 9)) != std::string::npos);
    CHECK(!std::filesystem::exists(plan));
    CHECK(RunCommand(std::string("yuba-bench solve no_such_file ") + flag).exit_code == 2);
  }
}

// Sends a signal to the command after so many seconds. Job control lets it see SIGINT.
CommandResult Interrupted(const std::string& command, const std::string& signal, double seconds) {
  return RunCommand("set -m\n" + command + " & sleep " + std::to_string(seconds) + "; kill -" +
                    signal + " $!; wait $!");
}

TEST_CASE("Ctrl-C ends the search with the best plan so far") {
  const std::string model = Model("gpt");
  for (const std::string signal : {"INT", "TERM"}) {
    const std::string plan = ScratchFolder("signal") + "/p.json";
    const std::string partition = "yuba partition " + model + " --devices 512 -o " + plan;
    // While the model is read there is no plan: the signal is sent later and later.
    for (double after = 0.25; after < 64; after *= 1.5) {
      const CommandResult result = Interrupted(partition, signal, after);
      INFO(signal << " after " << after << " s: " << result.out << result.error);
      if (result.exit_code != 0) {
        CHECK((result.exit_code == 130 || result.exit_code == 143));  // caught, or not yet
        CHECK(!std::filesystem::exists(plan));
        continue;
      }
      CheckShortPlan(model, plan, "interrupt");
      break;
    }
    CHECK(std::filesystem::exists(plan));
  }
}

TEST_CASE("Ctrl-C in compare prints the rows so far") {
  const std::string compare = "yuba compare " + Model("gpt") + " --devices 512";
  for (double after = 2; after < 64; after *= 1.5) {
    const CommandResult result = Interrupted(compare, "INT", after);
    INFO("after " << after << " s: " << result.out << result.error);
    if (result.exit_code != 0) continue;  // before the first row
    CHECK(result.out.find("\ndefault ") != std::string::npos);
    CHECK(result.out.find("\nmegatron ") == std::string::npos);
    CHECK(result.out.find("interrupted: other rows were not searched") != std::string::npos);
    return;
  }
  FAIL("no row");
}

TEST_CASE("Ctrl-C before there is a plan leaves no file") {
  CHECK(Succeed("yuba --help").out.find("130 interrupted: a search before it had a plan") !=
        std::string::npos);
  const std::string folder = ScratchFolder("early");
  const CommandResult result = Interrupted(
      "yuba partition " + Model("gpt") + " --devices 512 -o " + folder + "/p.json", "INT", 0);
  CHECK(result.exit_code == 130);
  CHECK(std::filesystem::is_empty(folder));
}

TEST_CASE("any number of threads writes the same bytes") {
  const std::string folder = ScratchFolder("threads");
  for (const std::string what :
       {"mlp --devices 6", "conv --devices 8", "gpt --devices 64", "lstm --devices 8",
        "conv --devices 4 --space copies=none --replicate auto --memory 300kB"}) {
    INFO(what);
    const size_t name = what.find(' ');
    const std::string partition =
        "yuba partition " + Model(what.substr(0, name)) + what.substr(name) + " -o " + folder + "/";
    std::string alone;
    for (const char* threads : {"1", "2", "3", "5"}) {
      const CommandResult result = RunCommand(partition + threads + ".json --threads " + threads);
      INFO(result.error);
      REQUIRE(result.exit_code == 0);
      const std::string bytes = Read(folder + "/" + threads + ".json");
      if (alone.empty()) alone = bytes;
      CHECK(bytes == alone);
    }
  }
}

}  // namespace
}  // namespace yuba::tools
