// Ranges of files: what is read, what is refused, and files that change between the two.
#include "opsemantics/base/file_range.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

std::string Path(const std::string& name) {
  return std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
}

std::string Write(const std::string& name, const std::string& bytes) {
  std::ofstream(Path(name), std::ios::binary) << bytes;
  return Path(name);
}

TEST_CASE("a piece of a range is read from its place in the file") {
  const FileRange range{Write("letters", "abcdefghij"), 2, 6, 10};
  const auto reader = RangeReader::Open(range);
  REQUIRE_THAT(reader, IsOk());
  std::string piece(3, '?');
  REQUIRE_THAT(reader->Read(1, 3, piece.data()), IsOk());
  CHECK(piece == "def");
  CHECK(ReadRange(range).value() == "cdefgh");
  CHECK(ReadRange({Path("letters"), 10, 0, 10}).value().empty());
}

TEST_CASE("ranges that leave the file are refused, whatever their numbers") {
  const std::string file = Write("ten", "0123456789");
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const auto& [offset, length] : std::vector<std::pair<int64_t, int64_t>>{
           {5, 6}, {11, 0}, {-1, 2}, {0, -1}, {kMost, kMost}, {1, kMost}}) {
    INFO(offset << " " << length);
    CHECK_FALSE(IsWithinFile({file, offset, length, 10}));
    CHECK_THAT(RangeReader::Open({file, offset, length, 10}), Fails("ten: has only 10 bytes"));
  }
}

TEST_CASE("a file that is missing, of another size or no file is named") {
  CHECK_THAT(ReadRange({"/none/w", 0, 1, 1}), Fails("/none/w: cannot be read: No such file"));
  CHECK_THAT(ReadRange({Write("grown", "abcd"), 0, 1, 3}),
             Fails("grown: has 4 bytes, not the 3 that it had"));
  CHECK_THAT(SizeOfFile(std::getenv("TEST_TMPDIR")), Fails("Is a directory"));
}

TEST_CASE("a file that is cut short while it is read is an error, no signal") {
  const std::string file = Write("shrinks", std::string(100'000, 'x'));
  const auto reader = RangeReader::Open({file, 0, 100'000, 100'000});
  REQUIRE_THAT(reader, IsOk());
  std::filesystem::resize_file(file, 50'000);
  std::string bytes(100'000, '?');
  CHECK_THAT(reader->Read(0, 50'000, bytes.data()), IsOk());
  CHECK_THAT(reader->Read(0, 100'000, bytes.data()),
             StatusIs(absl::StatusCode::kInvalidArgument, "shrinks: ends at byte 50000 of 100000"));
}

TEST_CASE("a file is written in pieces, and its zeros take no room") {
  const std::string file = Path("pieces");
  const std::string zeros(1 << 20, '\0');
  REQUIRE_THAT(WriteFileInPieces(file,
                                 [&](const WritePiece& write) {
                                   for (const std::string& piece : {zeros, {"end"}, zeros}) {
                                     if (absl::Status s = write(piece); !s.ok()) return s;
                                   }
                                   return absl::OkStatus();
                                 }),
               IsOk());
  CHECK(ReadFile(file).value() == zeros + "end" + zeros);
  struct stat facts;
  REQUIRE(::stat(file.c_str(), &facts) == 0);
  CHECK(facts.st_blocks * 512 < 1 << 20);
}

TEST_CASE("where a piece cannot be made no file is left") {
  const std::string file = Path("half");
  CHECK_THAT(WriteFileInPieces(file,
                               [](const WritePiece& write) {
                                 const absl::Status status = write("half");
                                 return status.ok() ? absl::InternalError("no more") : status;
                               }),
             StatusIs(absl::StatusCode::kInternal, "no more"));
  CHECK_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace yuba
