// A model that draws random numbers (tests/models/random), planned, proved and run. Expected are
// the outputs of formulas with the same generator written a second time (make.py).
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Folder() { return RepositoryFile("tests/models/random"); }
std::string Model() { return Folder() + "/model.onnx"; }

std::string Planned(const std::string& flags) {
  const std::string plan = ScratchFolder("random") + "/plan.json";
  Succeed("yuba partition " + Model() + " " + flags + " -o " + plan);
  return plan;
}

std::string RunOf(const std::string& plan, const std::string& flags) {
  return "yuba run " + Model() + " " + plan + " " + flags;
}

// Three steps with the seed 0, and two with another.
void CheckSteps(const std::string& run) {
  Succeed(run + " --inputs " + Folder() + " --expect 1e-5");
  Succeed(run + " --seed 7 --inputs " + Folder() + "/seed_7 --expect 1e-5");
}

TEST_CASE("on any number of devices a step draws the numbers of its place, step and seed") {
  for (const char* devices : {"1", "2", "3", "5", "8"}) {
    const std::string plan = Planned(std::string("--devices ") + devices);
    Succeed("yuba check " + Model() + " " + plan);
    const CommandResult verified = Succeed("yuba verify " + Model() + " " + plan);
    CHECK(verified.out.find("bit for bit") != std::string::npos);
    CHECK(verified.out.find("after 3 steps") != std::string::npos);
    CheckSteps(RunOf(plan, ""));
    CheckSteps(RunOf(plan, "--guard memory --interleave 3"));
  }
}

TEST_CASE("and in every space of plans") {
  for (const char* flags : {"--space tofu", "--space flat", "--space factored", "--replicate auto",
                            "--space copies=none", "--search data", "--search recursive"}) {
    const std::string plan = Planned(std::string("--devices 6 ") + flags);
    Succeed("yuba verify " + Model() + " " + plan);
    CheckSteps(RunOf(plan, ""));
  }
}

TEST_CASE("a run that goes on from a checkpoint draws what comes next") {
  const std::string plan = Planned("--devices 3"), scratch = ScratchFolder("random_resumed");
  const std::string input = " --input x=" + Folder() + "/test_data_set_0/input_0.pb ";
  Succeed(RunOf(plan, input + "--steps 3 --outputs " + scratch + "/whole"));
  Succeed(RunOf(plan, input + "--steps 2 --save " + scratch + "/states"));
  Succeed(RunOf(plan, input + "--weights " + scratch + "/states --outputs " + scratch + "/rest"));
  for (const char* file : {"/output_0.npy", "/output_1.npy", "/output_2.npy"})
    Succeed("cmp " + scratch + "/whole" + file + " " + scratch + "/rest" + file);
}

TEST_CASE("what is drawn is the same bit for bit, whatever the plan") {
  const std::string input = " --input x=" + Folder() + "/test_data_set_0/input_0.pb --steps 3 ";
  const std::string whole = ScratchFolder("random_whole");
  Succeed(RunOf(Planned("--devices 1"), input + "--outputs " + whole));
  for (const char* flags :
       {"--devices 2", "--devices 3", "--devices 5", "--devices 8", "--devices 8 --space flat"}) {
    const std::string cut = ScratchFolder("random_cut");
    Succeed(RunOf(Planned(flags), input + "--seed 0 --outputs " + cut));
    for (const char* file : {"/output_1.npy", "/output_2.npy"})  // the mask, and u
      Succeed("cmp " + whole + file + " " + cut + file);
  }
}

TEST_CASE("another seed and another step give other numbers") {
  const std::string run = RunOf(Planned("--devices 3"), "");
  CHECK(RunCommand(run + "--seed 8 --inputs " + Folder() + "/seed_7 --expect 1e-5").exit_code == 1);
  // The second step again in place of the first.
  CHECK(RunCommand(run + "--inputs " + Folder() + "/test_data_set_1 --expect 1e-5").exit_code == 1);
}

TEST_CASE("a compiled program draws the same without the compiler") {
  const std::string program = ScratchFolder("random_program") + "/random.yuba";
  Succeed("yuba compile " + Model() + " " + Planned("--devices 3") + " -o " + program);
  CheckSteps("yuba-run " + program);
}

TEST_CASE("a seed is of random numbers, and of 32 bits") {
  const std::string run = RunOf(Planned("--devices 2"), "--inputs " + Folder());
  const CommandResult large = RunCommand(run + " --seed 4294967296");
  CHECK(large.exit_code == 2);
  CHECK(large.error.find("--seed") != std::string::npos);
  const std::string mlp = RepositoryFile("tests/models/mlp/model.onnx");
  const std::string plan = ScratchFolder("random_none") + "/plan.json";
  Succeed("yuba partition " + mlp + " --devices 2 -o " + plan);
  const CommandResult none = RunCommand("yuba run " + mlp + " " + plan + " --random --seed 3");
  CHECK(none.exit_code == 2);
  CHECK(none.error.find("draws no random numbers") != std::string::npos);
}

}  // namespace
}  // namespace yuba
