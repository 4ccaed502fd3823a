#include "tests/e2e/monitored_run.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/command.h"

namespace yuba {
namespace {

// Of the files that the component leaves, one for each rank.
std::vector<std::vector<Sent>> ReadSent(const std::string& file, int ranks) {
  std::vector<std::vector<Sent>> sent(ranks, std::vector<Sent>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    std::ifstream profile(file + "." + std::to_string(rank) + ".prof");
    REQUIRE(profile.is_open());
    std::string line;
    while (std::getline(profile, line)) {
      std::istringstream words(line);
      std::string kind, unit;
      int from = 0, to = 0;
      Sent row;
      if (!(words >> kind) || kind != "E") continue;
      REQUIRE((words >> from >> to >> row.bytes >> unit >> row.messages));
      REQUIRE(from == rank);
      REQUIRE(to < ranks);
      sent[from][to].bytes += row.bytes;
      sent[from][to].messages += row.messages;
    }
  }
  return sent;
}

}  // namespace

nlohmann::json JsonOf(const std::string& out) {
  const size_t begin = out.find('{');
  REQUIRE(begin != out.npos);
  return nlohmann::json::parse(out.substr(begin));
}

MonitoredProgram::MonitoredProgram(const std::string& model, const std::string& flags, int ranks)
    : ranks_(ranks), folder_(ScratchFolder("monitored")) {
  const std::string file = RepositoryFile("tests/models/" + model) + "/model.onnx";
  const std::string plan = folder_ + "/plan.json";
  Succeed("yuba partition " + file + " " + flags + " --devices " + std::to_string(ranks) + " -o " +
          plan);
  Succeed("yuba compile " + file + " " + plan + " -o " + program());
  std::ifstream stream(plan);
  planned_bytes_ = nlohmann::json::parse(stream)["cost"]["bytes"].get<int64_t>();
}

MonitoredRun MonitoredProgram::Run(int steps) const {
  const std::string file = folder_ + "/steps" + std::to_string(steps);
  const CommandResult run =
      Succeed(std::string(kMpirun) +
              "--mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 "
              "--mca pml_monitoring_filename " +
              file + " -n " + std::to_string(ranks_) + " yuba-run " + program() +
              " --random --json --steps " + std::to_string(steps));
  return {ReadSent(file, ranks_), JsonOf(run.out)};
}

}  // namespace yuba
