// A compiled program that was damaged on its way: yuba-run refuses it, wherever the damage is.
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST_CASE("a bit flipped anywhere in a program, its code included, makes yuba-run exit with 2") {
  const std::string folder = ScratchFolder("flip");
  const std::string model = RepositoryFile("tests/models/conv/model.onnx");
  REQUIRE(
      RunCommand("yuba partition " + model + " --devices 2 -o " + folder + "/p.json").exit_code ==
      0);
  const std::string compile =
      "yuba compile --no-library " + model + " " + folder + "/p.json -o " + folder;
  REQUIRE(RunCommand(compile + "/m.yuba").exit_code == 0);
  REQUIRE(RunCommand("yuba-run " + folder + "/m.yuba --random").exit_code == 0);
  const std::string sound = Read(folder + "/m.yuba");
  const size_t code = sound.find(
      "\x7f"
      "ELF");
  REQUIRE(code != std::string::npos);
  std::vector<size_t> places = {0, 5, 14, 20, 31, 40, 47, 48, 49, sound.size() - 1};
  for (int i = 1; i < 24; ++i) places.push_back(sound.size() * i / 24);
  for (int i = 0; i < 24; ++i) places.push_back(code + 97 * i);
  for (const size_t place : places) {
    std::string bytes = sound;
    bytes[place] ^= static_cast<char>(1 << place % 8);
    std::ofstream(folder + "/bad.yuba", std::ios::binary) << bytes;
    const CommandResult result = RunCommand("yuba-run " + folder + "/bad.yuba --random");
    INFO("byte " << place << ": " << result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find("bad.yuba") != std::string::npos);
    CHECK(result.error.find("yuba compile") != std::string::npos);
  }
  std::ofstream(folder + "/bad.yuba", std::ios::binary) << sound.substr(0, sound.size() / 2);
  CHECK(RunCommand("yuba-run " + folder + "/bad.yuba --random").exit_code == 2);
}

}  // namespace
}  // namespace yuba
