// Models whose outputs are the next values of their inputs, planned, checked, verified and run for
// 20 steps, against answers of steps that were chained by hand (tests/models/states/make.py).
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/command.h"
#include "tests/support/part.h"

namespace yuba {
namespace {

const std::vector<std::string> kModels = {"adam", "cache", "counter",  "delay", "heads",
                                          "heat", "sgd",   "rotation", "shift", "swap"};

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// One of the models, and a plan of it in a folder of the test's own.
struct StateModel {
  explicit StateModel(const std::string& name)
      : folder(RepositoryFile("tests/models/states/" + name)),
        model(folder + "/model.onnx"),
        states(ReadText(folder + "/states.txt")),
        scratch(ScratchFolder("states_" + name)),
        plan(scratch + "/plan.json") {
    while (!states.empty() && states.back() == '\n') states.pop_back();
  }

  // The commands without the word yuba.
  std::string Partition(const std::string& flags) const {
    return "partition " + model + " " + states + " -o " + plan + " " + flags;
  }
  std::string Run(const std::string& flags = "") const {
    return "run " + model + " " + plan + " --steps 20 --inputs " + folder +
           "/test_data_set_0 --expect 1e-4 " + flags;
  }
  // Plans with these flags; then the plan must pass all checks and the run give the answers.
  void PlanAndRun(const std::string& flags, const std::string& run_flags = "") const {
    Succeed("yuba " + Partition(flags));
    Succeed("yuba check " + model + " " + plan);
    Succeed("yuba verify " + model + " " + plan);
    Succeed("yuba " + Run(run_flags));
  }

  std::string folder, model, states, scratch, plan;
};

TEST_CASE("states have the right values after 20 steps on any number of devices") {
  for (const std::string& name : kModels) {
    const StateModel model(name);
    for (const char* devices : {"1", "2", "3", "8"}) {
      model.PlanAndRun(std::string("--devices ") + devices);
      Succeed("yuba " + model.Run(std::string("--guard memory --interleave ") + devices));
    }
  }
}

// Each model in a part of the spaces, each space with a part of the models.
TEST_CASE("and in every space of plans, and within a limit on memory") {
  const std::vector<std::string> spaces = {"--space tofu",        "--space flat",
                                           "--space copies=none", "--replicate auto",
                                           "--search recursive",  "--search data",
                                           "--memory 4kB",        "--replicate auto --memory 4kB"};
  for (size_t m = 0; m < kModels.size(); ++m) {
    const StateModel model(kModels[m]);
    for (size_t s = 0; s < spaces.size(); ++s) {
      if (!IsTried(m + s, 4)) continue;
      model.PlanAndRun("--devices 6 " + spaces[s], "--guard memory --interleave 4");
    }
  }
}

TEST_CASE("without its states a model gives other answers after 20 steps") {
  for (const std::string& name : kModels) {
    StateModel model(name);
    model.states.clear();
    Succeed("yuba " + model.Partition("--devices 3"));
    // What the file gives as an initializer stays; a step then is as the first one.
    CHECK(RunCommand("yuba " + model.Run()).exit_code == 1);
  }
}

TEST_CASE("a plan remembers the states of its model") {
  const StateModel model("sgd");
  Succeed("yuba " + model.Partition("--devices 4"));
  Succeed("yuba " + model.Run());
  const CommandResult refused = RunCommand("yuba " + model.Run(model.states));
  CHECK(refused.exit_code == 2);
  CHECK(refused.error.find("--state: the plan has it") != std::string::npos);
}

TEST_CASE("a state and its next value are pinned by either name") {
  const StateModel model("sgd");
  for (const char* pin : {"w=[-, model]", "w_next=[-, model]", "m_next=[-, model]", "m=[-, model]",
                          "*_next=[-, model]"}) {
    model.PlanAndRun("--mesh model=4 --pin '" + std::string(pin) + "'");
    const std::string tensor(1, pin[0] == '*' ? 'w' : pin[0]);
    const CommandResult shown = Succeed("yuba show " + model.plan + " --tensor " + tensor);
    CHECK(shown.out.find("[16, 8/model]") != std::string::npos);
  }
}

TEST_CASE("both names of a carried tensor are shown") {
  const StateModel model("sgd");
  Succeed("yuba " + model.Partition("--devices 4"));
  const CommandResult state = Succeed("yuba show " + model.plan + " --tensor w");
  const CommandResult next = Succeed("yuba show " + model.plan + " --tensor w_next");
  CHECK(state.out.find("w_next") != std::string::npos);
  CHECK(state.out == next.out);
  const CommandResult all = Succeed("yuba show " + model.plan + " --all");
  const std::string row = all.out.substr(all.out.find("\nw_next"));
  CHECK(row.substr(0, row.find('\n', 1)).find("[16") != std::string::npos);  // as w is stored
  const CommandResult info = Succeed("yuba info " + model.model + " " + model.states);
  CHECK(info.out.find("w <- w_next") != std::string::npos);
}

TEST_CASE("all baselines plan a model with states") {
  for (const std::string& name : kModels) {
    const StateModel model(name);
    Succeed("yuba compare " + model.model + " " + model.states + " --devices 6");
  }
}

// How many kernels of a dumped program compute these nodes, alone or with others.
int KernelsOf(const std::string& dump, const std::vector<std::string>& nodes) {
  int kernels = 0;
  std::istringstream lines(dump);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(kernel (") == std::string::npos) continue;
    const size_t names = line.find(", node [");
    const std::string list = line.substr(names, line.find(']', names) - names);
    kernels += std::any_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
      return list.find("\"" + node + "\"") != std::string::npos;
    });
  }
  return kernels;
}

// Two where the order puts the scalars that depend on the step between the moments and the weight:
// only neighbours join.
TEST_CASE("an optimizer's update is at most two kernels for each tensor that it updates") {
  const StateModel model("adam");
  for (const char* devices : {"1", "2", "3", "8"}) {
    INFO(devices << " devices");
    const std::string dump = model.scratch + "/update";
    Succeed("yuba " + model.Partition(std::string("--dump ") + dump + " --devices " + devices));
    const std::string text = ReadText(dump + "/09-spmd.txt");
    for (const std::string of : {"w", "b"}) {
      const int kernels = KernelsOf(text, {"m_" + of + "_next", "v_" + of + "_next", of + "_next"});
      CHECK(kernels >= 1);
      CHECK(kernels <= 2);
    }
    const CommandResult shown = Succeed("yuba show --kernels " + model.plan);
    CHECK(shown.out.find("loops with ") != std::string::npos);
  }
}

TEST_CASE("a compiled program carries its states without the compiler") {
  const StateModel model("cache");
  const std::string file = model.scratch + "/m.yuba";
  Succeed("yuba " + model.Partition("--devices 5"));
  Succeed("yuba compile " + model.model + " " + model.plan + " -o " + file);
  Succeed("yuba-run " + file + " --steps 20 --inputs " + model.folder +
          "/test_data_set_0 --expect 1e-4");
}

}  // namespace
}  // namespace yuba
