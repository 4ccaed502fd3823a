// --state that names what is not there or cannot be a state: place, cause and next step are named,
// and nothing is written.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Model(const std::string& name) {
  return RepositoryFile("tests/models/states/" + name + "/model.onnx");
}

// Partitions the model with these flags: all of `messages` are on stderr, and there is no plan.
void ExpectRefused(const std::string& model, const std::string& flags,
                   const std::vector<std::string>& messages) {
  const std::string plan = ScratchFolder("refused") + "/p.json";
  const CommandResult result =
      RunCommand("yuba partition " + Model(model) + " --devices 2 -o " + plan + " " + flags);
  INFO(flags << "\n" << result.error);
  CHECK(result.exit_code == 2);
  for (const std::string& message : messages) {
    INFO(message);
    CHECK(result.error.find(message) != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(plan));
}

TEST_CASE("outputs and inputs that are not there are no states") {
  ExpectRefused("sgd", "--state nope=w",
                {"model.onnx", "--state nope=w", "has no output 'nope'", "`yuba info` lists"});
  ExpectRefused("sgd", "--state p=w", {"has no output 'p'"});  // inside the model
  ExpectRefused("sgd", "--state w_next=nope",
                {"--state w_next=nope", "no node reads an input or initializer 'nope'",
                 "one of those that the model reads"});
  ExpectRefused("sgd", "--state w_next=d", {"no node reads an input or initializer 'd'"});
}

TEST_CASE("a state keeps its type and shape") {
  ExpectRefused("sgd", "--state loss=w",
                {"--state loss=w", "the output is f32[], the state f32[16, 8]",
                 "a state keeps its type and shape"});
  ExpectRefused("counter", "--state y=n", {"the output is f32[12, 10], the state i64[1]"});
}

TEST_CASE("states and next values occur once") {
  ExpectRefused("sgd", "--state w_next=w --state m_next=w",
                {"--state w_next=w", "'w' has another next value already", "leave out one"});
  ExpectRefused("sgd", "--state w_next=w --state w_next=m",
                {"--state w_next=w and --state w_next=m", "give one of them"});
}

TEST_CASE("text that is no pair is refused") {
  for (const char* text : {"w_next", "w_next=", "=w", "="}) {
    ExpectRefused("sgd", std::string("--state ") + text,
                  {std::string("--state ") + text, "expected OUT=IN"});
  }
}

TEST_CASE("what is bound to a value is no state") {
  const std::string bound = RepositoryFile("tests/models/states/sgd/test_data_set_0/input_2.pb");
  ExpectRefused("sgd", "--state m_next=m --bind m=" + bound,
                {"--state m_next=m", "'m' is bound to a value", "leave out --bind or --state"});
}

TEST_CASE("a state that only what no output needs reads is refused") {
  // Of the outputs, none is made of s: its reader is left out of the graph.
  ExpectRefused("unread", "--state s_next=s",
                {"--state s_next=s", "no output needs the state", "leave it out"});
}

TEST_CASE("a plan whose states were changed is refused with the field") {
  const std::string folder = ScratchFolder("changed_states");
  const std::string plan = folder + "/p.json";
  Succeed("yuba partition " + Model("sgd") + " --devices 2 --state w_next=w --state m_next=m -o " +
          plan);
  std::ifstream file(plan);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto expect = [&](const std::string& from, const std::string& to,
                          const std::vector<std::string>& messages) {
    std::string changed = text;
    const size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    const std::string path = folder + "/changed.json";
    std::ofstream(path) << changed;
    const CommandResult result = RunCommand("yuba check " + Model("sgd") + " " + path);
    INFO(to << "\n" << result.error);
    CHECK(result.exit_code == 2);
    for (const std::string& message : messages)
      CHECK(result.error.find(message) != std::string::npos);
  };
  const std::string state = R"("state.w_next":"w")";
  expect(state, R"("state.w_next":"nope")",
         {"changed.json", "options.state.w_next=nope", "no node reads"});
  expect(state, R"("state.nope":"w")", {"options.state.nope=w", "has no output 'nope'"});
  expect(state, R"("state.w_next":"m")", {"options.state.", "'m' has another next value already"});
  expect("," + state, "", {"the plan is of another graph", "plan this model again"});
  expect(R"("writes":"w")", R"("writes":"m")", {"node w_next computes another tensor"});
}

}  // namespace
}  // namespace yuba
