// Indices outside of their tables are errors that name node, tensor, index and extent: of the run
// where a file gives them, of the model where it decides them.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace yuba {
namespace {

// 48 numbers of words, of which there are 61, with `odd` in one place, in a .npy file.
std::string WordsWith(int64_t odd, const std::string& shape, const std::string& folder) {
  std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(117, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += header;
  for (int64_t t = 0; t < 48; ++t) {
    const int64_t word = t == 29 ? odd : t % 61;
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  const std::string file = folder + "/x.npy";
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

TEST_CASE("a token outside of the vocabulary ends the run") {
  const std::string folder = ScratchFolder("tokens"), plan = folder + "/p.json";
  const std::string model = RepositoryFile("tests/models/gpt/model.onnx");
  Succeed("yuba partition " + model + " --devices 4 -o " + plan);
  const std::string run = "yuba run " + model + " " + plan + " --input x=";
  for (const int64_t inside : {60, -61}) Succeed(run + WordsWith(inside, "4, 12", folder));
  for (const int64_t outside : {61, -62}) {
    const CommandResult result =
        RunCommand(run + WordsWith(outside, "4, 12", folder) + " --outputs " + folder + "/out");
    INFO(result.error);
    CHECK(result.exit_code == 2);
    for (const std::string& part : {std::string("step 1"), std::string("/e/Gather"),
                                    "x holds " + std::to_string(outside) + " at [2, 5]",
                                    std::string("61 elements (-61 to 60)")}) {
      CHECK(result.error.find(part) != std::string::npos);
    }
    CHECK_FALSE(std::ifstream(folder + "/out/output_0.npy").good());
  }
}

TEST_CASE("a label that is no class ends a training step") {
  const std::string folder = ScratchFolder("labels"), plan = folder + "/p.json";
  const std::string model = RepositoryFile("tests/models/gpt/model.onnx");
  Succeed("yuba partition " + model +
          " --train sgd --loss softmax-cross-entropy --lr 0.1 --devices 2 -o " + plan);
  const std::string run = "yuba run " + model + " " + plan + " --random --input labels=";
  const CommandResult result = RunCommand(run + WordsWith(61, "48,", folder));
  INFO(result.error);
  CHECK(result.exit_code == 2);
  CHECK(result.error.find("labels holds 61 at [29], which is no label of 61 classes (0 to 60; "
                          "-100 is ignored)") != std::string::npos);
}

// A .npy file of these integers.
std::string Integers(const std::vector<int64_t>& values, const std::string& folder) {
  std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (" +
                       std::to_string(values.size()) + ",), }";
  header.resize(117, ' ');
  header += '\n';
  std::ofstream(folder + "/n.npy", std::ios::binary)
      << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header
      << std::string(reinterpret_cast<const char*>(values.data()), values.size() * 8);
  return folder + "/n.npy";
}

TEST_CASE("a length that no sequence has, and rows that do not fit, end the run") {
  struct Case {
    const char *model, *input, *what;
    std::vector<int64_t> right, wrong;
  };
  const std::string folder = ScratchFolder("lengths"), plan = folder + "/p.json";
  for (const Case& one : {Case{"lstm_lengths", "lengths", "one of 0 to 4", {0, 4, 1}, {2, 5, 1}},
                          Case{"lstm_lengths", "lengths", "one of 0 to 4", {0, 4, 1}, {2, -1, 1}},
                          Case{"attention_lengths", "l", "one of 0 to 5", {0, 5, 1}, {0, 6, 1}},
                          Case{"write_rows", "to", "one of 0 to 4", {0, 4}, {0, 5}}}) {
    const std::string data = RepositoryFile(std::string("tests/models/operators/") + one.model);
    Succeed("yuba partition " + data + "/model.onnx --devices 2 -o " + plan);
    const std::string run = "yuba run " + data + "/model.onnx " + plan + " --inputs " + data +
                            "/test_data_set_0 --input " + one.input + "=";
    Succeed(run + Integers(one.right, folder));
    const CommandResult result = RunCommand(run + Integers(one.wrong, folder));
    INFO(result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find("holds " + std::to_string(one.wrong[1]) + " at [1], which is not " +
                            one.what) != std::string::npos);
  }
}

}  // namespace
}  // namespace yuba
