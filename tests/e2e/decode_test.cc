// A decoder that makes one token a step, with its key-value caches as states: planned, proved and
// run for 16 steps in one session. The expected logits are PyTorch's, of all 16 tokens at once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba {
namespace {

constexpr char kStates[] =
    " --state pos_next=pos --state k0_next=k0 --state v0_next=v0 --state k1_next=k1 "
    "--state v1_next=v1 ";
constexpr int kTokens = 16;

std::string Folder() { return RepositoryFile("tests/models/decoder_cache"); }
std::string Model() { return Folder() + "/model.onnx"; }

std::string Planned(const std::string& options) {
  const std::string plan = ScratchFolder("decode") + "/plan.json";
  Succeed("yuba partition " + Model() + kStates + options + " -o " + plan);
  return plan;
}

// A copy of the data sets that a test may change.
std::string CopiedData() {
  const std::string data = ScratchFolder("decode_data") + "/data";
  std::filesystem::copy(Folder(), data, std::filesystem::copy_options::recursive);
  for (const auto& file : std::filesystem::recursive_directory_iterator(data)) {
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  return data;
}

size_t Count(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST_CASE("token by token a decoder with caches gives PyTorch's logits") {
  for (const char* options : {"--devices 1", "--devices 2", "--devices 3", "--devices 8",
                              "--devices 8 --space tofu", "--devices 6 --replicate auto"}) {
    INFO(options);
    const std::string plan = Planned(options);
    Succeed("yuba check " + Model() + " " + plan);  // the plan knows its states
    const CommandResult verified = Succeed("yuba verify " + Model() + " " + plan);
    CHECK(verified.out.find("bit for bit") != std::string::npos);
    CHECK(verified.out.find("after 3 steps") != std::string::npos);
    for (const char* executor : {"", " --interleave 7", " --guard memory"}) {
      const CommandResult ran = Succeed("yuba run " + Model() + " " + plan + " --inputs " +
                                        Folder() + " --expect 2e-5" + executor);
      CHECK(Count(ran.out, "ok   logits of step ") == kTokens);
    }
  }
}

TEST_CASE("a compiled decoder runs the same steps") {
  const std::string plan = Planned("--devices 2"), program = plan + ".yuba";
  Succeed("yuba compile " + Model() + " " + plan + " -o " + program);
  const CommandResult ran =
      Succeed("yuba-run " + program + " --inputs " + Folder() + " --expect 2e-5 --steps 5 --json");
  const nlohmann::json report = nlohmann::json::parse(ran.out);
  CHECK(report["steps"] == 5);
  REQUIRE(report["check"]["outputs"].size() == 5);
  CHECK(report["check"]["outputs"][4]["step"] == 5);
}

TEST_CASE("a wrong answer is named with its step, and later steps run") {
  const std::string data = CopiedData(), plan = Planned("--devices 2");
  std::filesystem::copy(data + "/test_data_set_3/output_0.pb",
                        data + "/test_data_set_4/output_0.pb",
                        std::filesystem::copy_options::overwrite_existing);
  const CommandResult ran =
      RunCommand("yuba run " + Model() + " " + plan + " --inputs " + data + " --expect 2e-5");
  CHECK(ran.exit_code == 1);
  CHECK(ran.out.find("WRONG logits of step 5") != std::string::npos);
  CHECK(Count(ran.out, "WRONG") == 1);
  CHECK(Count(ran.out, "ok   ") == kTokens - 1);
}

TEST_CASE("a step keeps the inputs that its folder lacks") {
  const std::string data = CopiedData(), plan = Planned("--devices 2");
  std::filesystem::remove(data + "/test_data_set_1/input_0.pb");
  const CommandResult ran =
      RunCommand("yuba run " + Model() + " " + plan + " --inputs " + data + " --expect 2e-5");
  CHECK(ran.exit_code == 1);  // the first token came twice
  CHECK(ran.out.find("ok   logits of step 1:") != std::string::npos);
  CHECK(ran.out.find("WRONG logits of step 2:") != std::string::npos);
}

TEST_CASE("more steps than the folder has inputs for are refused") {
  const std::string plan = Planned("--devices 2");
  const CommandResult ran =
      RunCommand("yuba run " + Model() + " " + plan + " --inputs " + Folder() + " --steps 17");
  CHECK(ran.exit_code == 2);
  CHECK(ran.error.find("--steps 17") != std::string::npos);
  CHECK(ran.error.find("16 steps") != std::string::npos);
}

}  // namespace
}  // namespace yuba
