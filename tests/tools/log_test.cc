// `yuba run --log`: a table of the steps, which goes on where a run does.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba {
namespace {

std::vector<std::vector<std::string>> ReadTable(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

struct Training {
  explicit Training(const std::string& name)
      : folder(ScratchFolder("log_" + name)), models(RepositoryFile("tests/models/mlp")) {
    Succeed("yuba partition " + models + "/model.onnx --devices 2 -o " + folder + "/p.json " +
            "--train momentum --loss softmax-cross-entropy --eval-entry 2");
  }
  std::string Command(const std::string& flags) const {
    const std::string data = " --data " + models, labels = " --input labels=" + models;
    return "cd " + folder + " && yuba run " + models + "/model.onnx p.json --json" + data + labels +
           "/labels.pb --log " + flags;
  }

  std::string folder, models;
};

TEST_CASE("a table has a line for each step, and those of a run that went on") {
  const Training training("table");
  const std::string file = training.folder + "/t.csv",
                    eval = " --eval " + training.models + " --eval-every 2 --lr-schedule 0.5 ";
  const nlohmann::json numbers = nlohmann::json::parse(
      Succeed(training.Command("t.csv" + eval + "--steps 4 --save c.st")).out)["numbers"];
  const auto rows = ReadTable(file);
  REQUIRE(rows.size() == 5);
  const std::vector<std::string>& columns = rows[0];
  CHECK(columns[0] == "entry");
  CHECK(columns[1] == "step");
  for (int step = 1; step <= 4; ++step) {
    REQUIRE(rows[step].size() == columns.size());
    CHECK(rows[step][0] == "step");
    CHECK(rows[step][1] == std::to_string(step));
    for (size_t c = 2; c < columns.size(); ++c) {
      INFO(columns[c] << " of step " << step << " is " << rows[step][c]);
      const bool evaluated = columns[c].rfind("eval:", 0) == 0;
      if (evaluated && step % 2 == 1) {
        CHECK(rows[step][c].empty());
      } else if (numbers.contains(columns[c])) {
        const double expected = numbers[columns[c]][evaluated ? step / 2 - 1 : step - 1];
        CHECK(std::stod(rows[step][c]) == Approx(expected).epsilon(1e-8));
      } else {
        CHECK(std::stod(rows[step][c]) > 0);  // seconds, examples_per_second, moved_bytes
      }
    }
  }
  for (const char* name : {"step:loss", "lr", "eval:loss", "seconds", "moved_bytes"}) {
    CHECK(std::count(columns.begin(), columns.end(), name) == 1);
  }
  // Lines of steps that are done again are replaced.
  std::ofstream(file, std::ios::app) << "step,5,1\nstep,6,1\n";
  Succeed(training.Command("t.csv" + eval + "--steps 5 --resume c.st"));
  const auto more = ReadTable(file);
  REQUIRE(more.size() == 6);
  for (int step = 0; step <= 4; ++step) CHECK(more[step] == rows[step]);
  CHECK(more[5][1] == "5");
  const CommandResult other = RunCommand(training.Command("t.csv --steps 6 --resume c.st"));
  CHECK(other.exit_code == 2);
  CHECK(other.error.find("--log t.csv: it is there and has other columns") != std::string::npos);
  CHECK(ReadTable(file) == more);
  Succeed(training.Command("t.csv --steps 1 --save one.st"));  // a new run, and a new table
  CHECK(ReadTable(file).size() == 2);
  Succeed(training.Command("t.csv --steps 2 --resume one.st"));  // whose rate is the plan's
  const auto plain = ReadTable(file);
  REQUIRE(plain.size() == 3);
  const size_t rate = std::find(plain[0].begin(), plain[0].end(), "lr") - plain[0].begin();
  REQUIRE(rate < plain[0].size());
  CHECK((plain[1][rate] == "0.01" && plain[2][rate] == "0.01"));
  const CommandResult nowhere = RunCommand(training.Command("no/t.csv --steps 1"));
  CHECK(nowhere.exit_code == 2);
}

}  // namespace
}  // namespace yuba
