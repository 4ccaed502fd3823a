// The seal of a program's file: no byte of it can change, go or come unnoticed.
#include "runtime/program/program_file.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <random>

#include "runtime/program/program.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

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
  REQUIRE_THAT(bytes, IsOk());
  Write(*bytes);
  const auto program = ReadProgramFile(Path());
  REQUIRE_THAT(program, IsOk());
  CHECK(program->SerializeAsString() == Sound().SerializeAsString());
  CHECK_THAT(LoadedProgram::FromFile(Path()), IsOk());
}

TEST_CASE("each flipped bit, cut end and added byte is refused by the file's name") {
  const std::string sound = *FormatProgram(Sound());
  for (size_t bit = 0; bit < sound.size() * 8; bit += bit < 600 ? 1 : 41) {
    INFO("bit " << bit);
    std::string bytes = sound;
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    const absl::Status status = Read(bytes);
    REQUIRE_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "m.yuba"));
    REQUIRE_THAT(status, Fails("yuba compile"));
  }
  for (size_t end = 0; end < sound.size(); end += 57)
    REQUIRE_THAT(Read(sound.substr(0, end)),
                 StatusIs(absl::StatusCode::kInvalidArgument, "m.yuba"));
  CHECK_THAT(Read(sound.substr(0, 2000)), Fails("cut short"));
  CHECK_THAT(Read(sound + '\0'),
             StatusIs(absl::StatusCode::kInvalidArgument, "it was cut short or changed"));
  CHECK_THAT(Read(Sound().SerializeAsString()),
             StatusIs(absl::StatusCode::kInvalidArgument, "is no program"));
}

TEST_CASE("a file that cannot be read is named") {
  CHECK_THAT(ReadProgramFile("/none/m.yuba"), Fails("/none/m.yuba"));
  CHECK_THAT(ReadProgramFile(std::getenv("TEST_TMPDIR")),
             StatusIs(absl::StatusCode::kInvalidArgument, "Is a directory"));
}

// So can a test put a fault into a program on purpose, for the loader to find.
TEST_CASE("a program that is changed and sealed again is read as it is") {
  program::Program program = Sound();
  program.mutable_stages(0)->clear_instructions();
  Write(*FormatProgram(program));
  const auto loaded = LoadedProgram::FromFile(Path());
  REQUIRE_THAT(loaded, IsOk());
  CHECK((*loaded)->instructions().empty());
}

}  // namespace
}  // namespace yuba::runtime
