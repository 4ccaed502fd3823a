// The seal of a program's file: no byte of it can change, go or come unnoticed.
#include "runtime/program/program_file.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <random>

#include "runtime/program/program.h"
#include "tests/runtime/program_builder.h"

namespace yuba::runtime {
namespace {

using Catch::Contains;

std::string Path() { return std::string(std::getenv("TEST_TMPDIR")) + "/m.yuba"; }

// A copy from x to y, and bytes that stand for code.
program::Program Sound() {
  ProgramBuilder builder({2});
  const std::vector<Box> both(2, WholeBox({8}));
  const int x = builder.AddBuffer("x", program::F32, {8}, CutAlong({8}, 0, 2));
  const int y = builder.AddBuffer("y", program::F32, {8}, both);
  builder.AddExchange(x, y);
  builder.AddInput("x", x);
  builder.AddOutput("y", y);
  std::string code(3000, '\0');
  std::mt19937 random(3);
  for (char& byte : code) byte = static_cast<char>(random());
  builder.message().set_host_object(code);
  return builder.message();
}

// Not WriteFile, which keeps what was read.
void Write(const std::string& bytes) { std::ofstream(Path(), std::ios::binary) << bytes; }

absl::Status Read(const std::string& bytes) {
  Write(bytes);
  return ReadProgramFile(Path()).status();
}

TEST_CASE("what is written is read") {
  const auto bytes = FormatProgram(Sound());
  REQUIRE(bytes.ok());
  Write(*bytes);
  const auto program = ReadProgramFile(Path());
  INFO(program.status().message());
  REQUIRE(program.ok());
  CHECK(program->SerializeAsString() == Sound().SerializeAsString());
  CHECK(LoadedProgram::FromFile(Path()).ok());
}

TEST_CASE("each flipped bit, cut end and added byte is refused by the file's name") {
  const std::string sound = *FormatProgram(Sound());
  for (size_t bit = 0; bit < sound.size() * 8; bit += bit < 600 ? 1 : 41) {
    INFO("bit " << bit);
    std::string bytes = sound;
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    const absl::Status status = Read(bytes);
    REQUIRE(status.code() == absl::StatusCode::kInvalidArgument);
    REQUIRE_THAT(std::string(status.message()), Contains("m.yuba") && Contains("yuba compile"));
  }
  for (size_t end = 0; end < sound.size(); end += 57)
    REQUIRE_FALSE(Read(sound.substr(0, end)).ok());
  CHECK_THAT(std::string(Read(sound.substr(0, 2000)).message()), Contains("cut short"));
  CHECK_FALSE(Read(sound + '\0').ok());
  CHECK_FALSE(Read(Sound().SerializeAsString()).ok());
}

TEST_CASE("a file that cannot be read is named") {
  CHECK_THAT(std::string(ReadProgramFile("/none/m.yuba").status().message()),
             Contains("/none/m.yuba"));
  CHECK_FALSE(ReadProgramFile(std::getenv("TEST_TMPDIR")).ok());
}

// So can a test put a fault into a program on purpose, for the loader to find.
TEST_CASE("a program that is changed and sealed again is read as it is") {
  program::Program program = Sound();
  program.mutable_stages(0)->clear_instructions();
  Write(*FormatProgram(program));
  const auto loaded = LoadedProgram::FromFile(Path());
  INFO(loaded.status().message());
  REQUIRE(loaded.ok());
  CHECK((*loaded)->instructions().empty());
}

}  // namespace
}  // namespace yuba::runtime
