// The checksums of a program's file: no byte of it can change, go or come unnoticed.
#include "runtime/program/program_file.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "opsemantics/base/file_range.h"
#include "runtime/program/program.h"
#include "runtime/program/references.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

std::string Path(const std::string& name = "m.yuba") {
  return std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
}

std::string Noise(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// A copy from x to y, and bytes that stand for code.
program::Program Sound() {
  ProgramBuilder builder({2});
  const std::vector<Box> both(2, WholeBox({8}));
  const int x = builder.AddBuffer("x", program::F32, {8}, CutAlong({8}, 0, 2));
  const int y = builder.AddBuffer("y", program::F32, {8}, both);
  builder.AddExchange(x, y);
  builder.AddInput("x", x);
  builder.AddOutput("y", y);
  builder.message().set_code(Noise(3000, 3));
  return builder.message();
}

// Not WriteFile, which keeps what was read.
std::string Write(const std::string& name, const std::string& bytes) {
  std::ofstream(Path(name), std::ios::binary) << bytes;
  return Path(name);
}

// The bytes of the file of a program. Written anew, as what was read is not overwritten.
std::string Written(const program::Program& program, FileValues values = FileValues::kCopy) {
  std::filesystem::remove(Path("written"));
  REQUIRE_THAT(WriteProgramFile(program, values, Path("written")), IsOk());
  return ReadFile(Path("written")).value();
}

absl::Status Read(const std::string& bytes) {
  return ReadProgramFile(Write("m.yuba", bytes)).status();
}

TEST_CASE("what is written is read") {
  Write("m.yuba", Written(Sound()));
  const auto program = ReadProgramFile(Path());
  REQUIRE_THAT(program, IsOk());
  CHECK(program->SerializeAsString() == Sound().SerializeAsString());
  CHECK_THAT(LoadedProgram::FromFile(Path()), IsOk());
}

TEST_CASE("each flipped bit, cut end and added byte is refused by the file's name") {
  const std::string sound = Written(Sound());
  for (size_t bit = 0; bit < sound.size() * 8;
       bit += bit < 600 || bit > sound.size() * 8 - 600 ? 1 : 41) {
    INFO("bit " << bit);
    std::string bytes = sound;
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    const absl::Status status = Read(bytes);
    REQUIRE_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "m.yuba"));
    REQUIRE_THAT(status, Fails("yuba compile"));
  }
  for (size_t end = 0; end < sound.size(); end += 57) {
    REQUIRE_THAT(Read(sound.substr(0, end)),
                 StatusIs(absl::StatusCode::kInvalidArgument, "m.yuba"));
  }
  CHECK_THAT(Read(sound.substr(0, 2000)), Fails("cut short"));
  CHECK_THAT(Read(sound + '\0'),
             StatusIs(absl::StatusCode::kInvalidArgument, "it was cut short or changed"));
  CHECK_THAT(Read(sound.substr(0, 15) + '\0' + sound.substr(15)), Fails("bytes behind its values"));
  CHECK_THAT(Read(Sound().SerializeAsString()),
             StatusIs(absl::StatusCode::kInvalidArgument, "is no program"));
}

TEST_CASE("a file that cannot be read is named") {
  CHECK_THAT(ReadProgramFile("/none/m.yuba"), Fails("/none/m.yuba"));
  CHECK_THAT(ReadProgramFile(std::getenv("TEST_TMPDIR")),
             StatusIs(absl::StatusCode::kInvalidArgument, "Is a directory"));
}

// So can a test put a fault into a program on purpose, for the loader to find.
TEST_CASE("a program that is changed and written again is read as it is") {
  program::Program program = Sound();
  program.clear_instructions();
  Write("m.yuba", Written(program));
  const auto loaded = LoadedProgram::FromFile(Path());
  REQUIRE_THAT(loaded, IsOk());
  CHECK((*loaded)->instructions().empty());
}

// Parameters with values of these sizes: in the message, in the message and large, in a file.
constexpr size_t kSmall = 4096, kLarge = 6000, kStored = 3'000'000;

program::Program WithValues() {
  ProgramBuilder builder({2});
  for (const size_t bytes : {kSmall, kLarge, kStored}) {
    const int64_t elements = static_cast<int64_t>(bytes / 4);
    const std::string name = "w" + std::to_string(bytes);
    const int buffer =
        builder.AddBuffer(name, program::F32, {elements}, CutAlong({elements}, 0, 2));
    builder.message().mutable_buffers(buffer)->set_initialized(true);
    program::Initializer* parameter = builder.message().add_parameters();
    parameter->mutable_port()->set_name(name);
    parameter->mutable_port()->set_buffer(buffer);
    parameter->mutable_port()->add_shape(elements);
    builder.AddOutput(name, buffer);
    if (bytes < kStored) parameter->set_data(Noise(bytes, static_cast<uint32_t>(bytes)));
  }
  const std::string file = Write("weights", "ab" + Noise(kStored, kStored) + "c");
  *builder.message().mutable_parameters(2)->mutable_reference() =
      ReferenceTo({file, 2, kStored, kStored + 3});
  return builder.message();
}

// Checks that devices get all values of the program in the file.
void CheckValues(const std::string& path) {
  const auto loaded = LoadedProgram::FromFile(path);
  REQUIRE_THAT(loaded, IsOk());
  auto session = OpenSession(*loaded);
  for (const size_t bytes : {kSmall, kLarge, kStored}) {
    const auto value = session->Get("w" + std::to_string(bytes));
    REQUIRE_THAT(value, IsOk());
    CHECK(value->data == Noise(bytes, static_cast<uint32_t>(bytes)));
  }
}

TEST_CASE("values are behind the message, at pages, and the file can be moved") {
  const std::string bytes = Written(WithValues());
  CHECK(bytes.substr(4096, kLarge) == Noise(kLarge, kLarge));
  CHECK(bytes.substr(3 * 4096, kStored) == Noise(kStored, kStored));
  std::filesystem::remove(Path("weights"));
  CheckValues(Write("moved.yuba", bytes));
  const program::Program program = ReadProgramFile(Path("moved.yuba")).value();
  CHECK(program.parameters(0).has_data());
  CHECK(RangeOf(program.parameters(1).reference()) ==
        FileRange{Path("moved.yuba"), 4096, kLarge, static_cast<int64_t>(bytes.size())});
}

TEST_CASE("a program with references leaves values where they are") {
  program::Program program = WithValues();
  const std::string bytes = Written(program, FileValues::kReference);
  CHECK(bytes.size() < 2 * kLarge + 4096 + kSmall);
  CheckValues(Write("beside.yuba", bytes));
  const auto read = ReadProgramFile(Path("beside.yuba")).value().parameters(2).reference();
  CHECK(RangeOf(read) == FileRange{Path("weights"), 2, kStored, kStored + 3});

  Write("weights", "short");
  const auto loaded = LoadedProgram::FromFile(Path("beside.yuba"));
  REQUIRE_THAT(loaded, IsOk());
  const auto session = Session::Open(*loaded, RunOptions());
  CHECK_THAT(session, Fails("the value of parameter w3000000 stays in a file that is not as it "
                            "was: " +
                            Path("weights") + ": has 5 bytes, not the 3000003"));
  CHECK_THAT(session, Fails("bring it back, or write the program again with yuba compile"));
  CHECK_THAT(WriteProgramFile(program, FileValues::kCopy, Path("again")),
             Fails("value of w3000000: "));
  CHECK_FALSE(std::filesystem::exists(Path("again")));
  std::filesystem::remove(Path("weights"));
  CHECK_THAT(Session::Open(*loaded, RunOptions()), Fails("weights: cannot be read: No such file"));
}

TEST_CASE("relative paths of references are written as absolute ones") {
  program::Program program = WithValues();
  std::filesystem::current_path(Path(""));
  program.mutable_parameters(2)->mutable_reference()->set_file("weights");
  const std::string file = Write("absolute.yuba", Written(program, FileValues::kReference));
  std::filesystem::current_path("/");
  CheckValues(file);
}

TEST_CASE("damage in a value, and between values, is found before a step") {
  const std::string sound = Written(WithValues());
  for (const size_t place : {size_t{4096}, 4096 + kLarge - 1, size_t{3 * 4096 + 1'500'000}}) {
    INFO("byte " << place);
    std::string bytes = sound;
    bytes[place] ^= 1;
    const auto loaded = LoadedProgram::FromFile(Write("m.yuba", bytes));
    REQUIRE_THAT(loaded, IsOk());
    const auto session = Session::Open(*loaded, RunOptions());
    CHECK_THAT(session, Fails("m.yuba: the bytes of a value do not match their checksum"));
    CHECK_THAT(session, Fails("yuba compile"));
  }
  for (const size_t place : {size_t{15}, size_t{4095}, 4096 + kLarge}) {
    std::string bytes = sound;
    bytes[place] ^= 1;
    CHECK_THAT(Read(bytes), Fails("m.yuba: has bytes between its values"));
  }
  CHECK_THAT(Read(sound.substr(0, 3 * 4096) + sound.substr(4 * 4096)), Fails("m.yuba: "));
}

TEST_CASE("a program's file that is cut short after it was loaded is an error") {
  const auto loaded = LoadedProgram::FromFile(Write("cut.yuba", Written(WithValues())));
  REQUIRE_THAT(loaded, IsOk());
  std::filesystem::resize_file(Path("cut.yuba"), 100'000);
  CHECK_THAT(Session::Open(*loaded, RunOptions()), Fails("cut.yuba: has 100000 bytes, not the"));
}

}  // namespace
}  // namespace yuba::runtime
