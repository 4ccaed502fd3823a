// Values from memory and from files get to the shards of all devices, piece by piece.
#include "runtime/set_values.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "opsemantics/base/hash_order.h"
#include "runtime/program/references.h"
#include "runtime/walk.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string Noise(size_t size) {
  std::mt19937 random(static_cast<uint32_t>(size));
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST_CASE("pieces follow each other, are small, and are consecutive in every box") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> dims(random() % 5);
    for (int64_t& dim : dims) dim = static_cast<int64_t>(random() % 6) + (round % 7 > 0);
    const int64_t most = 1 + static_cast<int64_t>(random() % 40);
    INFO(ToString(WholeBox(dims)) << " in pieces of " << most);
    int64_t next = 0;
    const absl::Status status = ForEachPiece(dims, most, [&](const Box& piece) {
      const BoxWalk walk = WalkOf(piece, {WholeBox(dims)});
      CHECK(walk.buffers[0].offset == next);
      CHECK((walk.extents.size() == 1 && walk.buffers[0].strides[0] == 1));
      CHECK(Volume(piece) <= most);
      next += Volume(piece);
      Box shard;
      for (const int64_t dim : dims) {
        const int64_t begin = static_cast<int64_t>(random() % (dim + 1));
        shard.push_back({begin, begin + static_cast<int64_t>(random() % (dim - begin + 1))});
      }
      const Box shared = Intersect(shard, piece);
      if (!IsEmpty(shared)) {
        const BoxWalk own = WalkOf(shared, {shard});
        CHECK((own.extents.size() == 1 && own.buffers[0].strides[0] == 1));
      }
      return absl::OkStatus();
    });
    CHECK_THAT(status, IsOk());
    CHECK(next == Volume(WholeBox(dims)));
  }
  CHECK_THAT(ForEachPiece({4}, 1, [](const Box&) { return absl::InternalError("enough"); }),
             StatusIs(absl::StatusCode::kInternal, "enough"));
}

// A parameter of this type, cut along `dim` over the devices; the caller gives its value.
ProgramBuilder OneParameter(program::ElementType type, const std::vector<int64_t>& dims,
                            int devices, int dim, bool hash = false) {
  ProgramBuilder builder({devices});
  builder.message().set_hash_arithmetic(hash);
  const int w = builder.AddBuffer("w", type, dims, CutAlong(dims, dim, devices));
  builder.message().mutable_buffers(w)->set_initialized(true);
  program::Port* port = builder.message().add_parameters()->mutable_port();
  port->set_name("w");
  port->set_buffer(w);
  for (const int64_t extent : dims) port->add_shape(extent);
  builder.AddOutput("w", w);
  return builder;
}

TEST_CASE("a value of several pieces is the same from a file and from memory, however it is cut") {
  const std::vector<int64_t> dims = {700, 3, 1100};  // 9 MB, more than two pieces
  const std::string value = Noise(700 * 3 * 1100 * 4);
  const std::string file = Write("w", "head" + value + "tail");
  for (const auto& [devices, dim] :
       {std::pair(1, 0), std::pair(3, 0), std::pair(2, 1), std::pair(7, 2)}) {
    INFO(devices << " devices, dimension " << dim);
    ProgramBuilder builder = OneParameter(program::F32, dims, devices, dim);
    *builder.message().mutable_parameters(0)->mutable_reference() = ReferenceTo(
        {file, 4, static_cast<int64_t>(value.size()), static_cast<int64_t>(value.size()) + 8});
    auto session = OpenSession(builder.Load());
    CHECK(session->Missing().empty());
    CHECK(session->Get("w")->data == value);
    REQUIRE_THAT(session->Set("w", FloatTensor(dims, std::vector<float>(value.size() / 4, 1))),
                 IsOk());
    CHECK(FloatsOf(*session->Get("w"))[2'000'000] == 1);
    const StoredTensor stored{
        ElementType::kF32,
        dims,
        {file, 4, static_cast<int64_t>(value.size()), static_cast<int64_t>(value.size()) + 8}};
    REQUIRE_THAT(session->SetFromFile("w", stored), IsOk());
    CHECK(session->Get("w")->data == value);
  }
}

TEST_CASE("what nobody needs of a file is passed over, and counts in its checksum all the same") {
  const std::string value = Noise(3000);
  const FileRange range = {Write("skipped", value), 0, 3000, 3000};
  Checksum right;
  right.Add(value);
  for (const uint64_t checksum : {uint64_t{0}, right.value()}) {
    const auto source = FileSource::Open(range, checksum);
    REQUIRE(source.ok());
    CHECK((*source)->Next(1000)->compare(value.substr(0, 1000)) == 0);
    CHECK_THAT((*source)->Skip(1500), IsOk());
    CHECK((*source)->Next(500)->compare(value.substr(2500)) == 0);
  }
  const auto wrong = FileSource::Open(range, right.value() + 1);
  REQUIRE(wrong.ok());
  CHECK_THAT((*wrong)->Skip(3000), StatusIs(absl::StatusCode::kInvalidArgument, "checksum"));
}

TEST_CASE("a value is the same in a buffer whose dimensions lie in another order") {
  const std::vector<int64_t> shape = {700, 3, 1100}, dims = {3, 1100, 700};
  const std::string value = Noise(700 * 3 * 1100 * 4);
  for (const auto& [devices, dim] : {std::pair(1, 0), std::pair(2, 0), std::pair(3, 2)}) {
    INFO(devices << " devices, dimension " << dim);
    ProgramBuilder builder = OneParameter(program::F32, dims, devices, dim);
    program::Program& message = builder.message();
    for (program::Port* port :
         {message.mutable_parameters(0)->mutable_port(), message.mutable_outputs(0)})
      port->mutable_shape()->Assign(shape.begin(), shape.end());
    for (const int place : {1, 2, 0}) message.mutable_buffers(0)->add_order(place);
    auto session = OpenSession(builder.Load());
    REQUIRE_THAT(session->Set("w", {ElementType::kF32, shape, value}), IsOk());
    CHECK(session->Get("w")->data == value);
    CHECK(session->GetBuffer(0)->dims == shape);
    REQUIRE_THAT(session->Randomize(3), IsOk());
    CHECK(session->Get("w")->data == value);
  }
}

TEST_CASE("made-up values do not depend on the order in memory") {
  const std::vector<int64_t> shape = {5, 3, 7};
  for (const int devices : {1, 2}) {
    std::vector<std::string> values;
    for (const std::vector<int>& order : {std::vector<int>{0, 1, 2}, {1, 2, 0}, {2, 1, 0}}) {
      std::vector<int64_t> dims;
      for (const int dim : order) dims.push_back(shape[dim]);
      ProgramBuilder builder = OneParameter(program::F32, dims, devices, 1);
      program::Program& message = builder.message();
      for (program::Port* port :
           {message.mutable_parameters(0)->mutable_port(), message.mutable_outputs(0)})
        port->mutable_shape()->Assign(shape.begin(), shape.end());
      for (const int dim : order) message.mutable_buffers(0)->add_order(dim);
      auto session = OpenSession(builder.Load());
      REQUIRE_THAT(session->Randomize(3), IsOk());
      values.push_back(session->Get("w")->data);
    }
    CHECK(values[1] == values[0]);
    CHECK(values[2] == values[0]);
  }
}

TEST_CASE("values in files become elements of hash arithmetic, and bools become 0 or 1") {
  const std::vector<float> floats = {1.5f, -2, 3};
  const std::string file =
      Write("hash", std::string(reinterpret_cast<const char*>(floats.data()), 12));
  ProgramBuilder hash = OneParameter(program::F32, {3}, 2, 0, true);
  *hash.message().mutable_parameters(0)->mutable_reference() = ReferenceTo({file, 0, 12, 12});
  const std::string elements = OpenSession(hash.Load())->Get("w")->data;
  for (int i = 0; i < 3; ++i) {
    const uint64_t expected = HashOf(floats[i]);
    CHECK(elements.substr(8 * i, 8) == std::string(reinterpret_cast<const char*>(&expected), 8));
  }
  ProgramBuilder bools = OneParameter(program::BOOL, {4}, 2, 0);
  *bools.message().mutable_parameters(0)->mutable_reference() =
      ReferenceTo({Write("bools", std::string("\0\1\2\xff", 4)), 0, 4, 4});
  CHECK(OpenSession(bools.Load())->Get("w")->data == std::string("\0\1\1\1", 4));
}

TEST_CASE("integers in files are converted where they fit, and a value that fails is none") {
  auto session = OpenSession(OneParameter(program::I32, {3}, 2, 0).Load());
  std::vector<int64_t> wide = {1, -2, 3};
  const auto stored = [&] {
    const std::string bytes(reinterpret_cast<const char*>(wide.data()), 24);
    return StoredTensor{ElementType::kI64, {3}, {Write("wide", bytes), 0, 24, 24}};
  };
  REQUIRE_THAT(session->SetFromFile("w", stored()), IsOk());
  const std::vector<int32_t> narrow = {1, -2, 3};
  CHECK(session->Get("w")->data == std::string(reinterpret_cast<const char*>(narrow.data()), 12));
  wide[2] = int64_t{1} << 40;
  CHECK_THAT(session->SetFromFile("w", stored()),
             Fails("w: the value 1099511627776 does not fit i32"));
  CHECK(session->Missing() == std::vector<std::string>{"w"});
}

TEST_CASE("a file that shrinks under a session is an error") {
  auto session = OpenSession(OneParameter(program::F32, {8}, 2, 0).Load());
  const std::string file = Write("shrinks", Noise(32));
  const StoredTensor stored{ElementType::kF32, {8}, {file, 0, 32, 32}};
  REQUIRE_THAT(session->SetFromFile("w", stored), IsOk());
  const auto source = FileSource::Open(stored.bytes, 0);
  REQUIRE_THAT(source, IsOk());
  std::filesystem::resize_file(file, 16);
  CHECK_THAT(session->SetFromFile("w", stored), Fails("shrinks: has 16 bytes, not the 32"));
  CHECK_THAT((*source)->Next(32), Fails("shrinks: ends at byte 16 of 32"));
}

TEST_CASE("references that cannot be are refused when the program is loaded") {
  const auto refuses = [](const FileRange& range, const std::string& why) {
    ProgramBuilder builder = OneParameter(program::F32, {8}, 2, 0);
    *builder.message().mutable_parameters(0)->mutable_reference() = ReferenceTo(range);
    CHECK_THAT(LoadedProgram::FromMessage(builder.message()), Fails("parameter w: " + why));
  };
  refuses({"", 0, 32, 32}, "its value refers to no file");
  refuses({"f", 0, 31, 40}, "31 bytes of f for a value of 32");
  refuses({"f", -1, 32, 40}, "32 bytes from -1 of f, which has 40");
  refuses({"f", 9, 32, 40}, "32 bytes from 9 of f, which has 40");
  refuses({"f", INT64_MAX, 32, INT64_MAX}, "32 bytes from 9223372036854775807 of f");
  refuses({"f", 0, 32, -1}, "32 bytes from 0 of f, which has -1");
}

}  // namespace
}  // namespace yuba::runtime
