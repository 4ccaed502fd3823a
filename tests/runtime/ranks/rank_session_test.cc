// Sessions of which each has one device of a program, against a session that has all: the same bits
// in every buffer, and the same counts of what moves.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "opsemantics/base/collectives.h"
#include "opsemantics/base/status.h"
#include "tests/runtime/program_builder.h"
#include "tests/runtime/ranks/run_job.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

using Random = std::mt19937;

int64_t Pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

Box RandomBox(Random& random, const std::vector<int64_t>& dims) {
  Box box;
  for (int64_t dim : dims) {
    const int64_t a = Pick(random, 0, dim), b = Pick(random, 0, dim);
    box.push_back({std::min(a, b), std::max(a, b)});
  }
  return box;
}

// What a session leaves: of each buffer what device `device` has of it; and what has moved.
struct Left {
  absl::Status status;
  std::vector<std::string> shards;
  std::vector<int64_t> bytes_in, bytes_out;
  int64_t bytes = 0;
};

absl::StatusOr<std::string> ShardOf(Session& session, int device, int buffer) {
  const LoadedProgram& program = session.program();
  std::string shard(
      static_cast<size_t>(Volume(program.BufferBox(buffer, device)) * program.ElementBytes(buffer)),
      '\0');
  YUBA_RETURN_IF_ERROR(session.fleet().devices[device]->Read(
      program.message().buffers(buffer).offset(), &shard[0], static_cast<int64_t>(shard.size())));
  return shard;
}

absl::Status Fill(Session& session, int device, int buffer) {
  const LoadedProgram& program = session.program();
  std::vector<float> values(static_cast<size_t>(Volume(program.BufferBox(buffer, device))));
  Random random(static_cast<uint32_t>(100 * device + buffer));
  for (float& value : values) {
    value = std::ldexp(static_cast<float>(Pick(random, -999, 999)),
                       static_cast<int>(Pick(random, -20, 20)));
  }
  return session.fleet().devices[device]->Write(
      program.message().buffers(buffer).offset(), reinterpret_cast<const char*>(values.data()),
      static_cast<int64_t>(values.size() * sizeof(float)));
}

Left Run(const std::shared_ptr<const LoadedProgram>& program, Job* job, int device) {
  Left left;
  RunOptions options;
  options.poison = true;
  options.job = job;
  auto session = Session::Open(program, options);
  left.status = session.status();
  if (!session.ok()) return left;
  for (int d = 0; d < program->devices(); ++d) {
    if (job == nullptr || d == job->rank()) left.status.Update(Fill(**session, d, 0));
  }
  for (int step = 0; step < 2; ++step) left.status.Update((*session)->Step());
  for (int buffer = 0; buffer < program->message().buffers_size(); ++buffer) {
    const absl::StatusOr<std::string> shard = ShardOf(**session, device, buffer);
    left.status.Update(shard.status());
    left.shards.push_back(shard.value_or(""));
  }
  const Statistics statistics = (*session)->statistics();
  left.bytes_in = statistics.bytes_in;
  left.bytes_out = statistics.bytes_out;
  left.bytes = statistics.bytes;
  return left;
}

void RequireEqual(const std::shared_ptr<const LoadedProgram>& program) {
  std::vector<Left> ranks(program->devices());
  LocalNetwork network(program->devices());
  RunJob(network, FactsOfRanks(program->devices()), Long(), [&](Job& job) {
    ranks[job.rank()] = Run(program, &job, job.rank());
    return 0;
  });
  for (int device = 0; device < program->devices(); ++device) {
    INFO("device " << device);
    const Left alone = Run(program, nullptr, device);
    REQUIRE_THAT(alone.status, IsOk());
    REQUIRE_THAT(ranks[device].status, IsOk());
    REQUIRE(ranks[device].shards == alone.shards);
    REQUIRE(ranks[device].bytes_in == alone.bytes_in);
    REQUIRE(ranks[device].bytes_out == alone.bytes_out);
    REQUIRE(ranks[device].bytes == alone.bytes);
  }
}

TEST_CASE("ranks gather the same boxes as devices of one process") {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const int devices = static_cast<int>(Pick(random, 2, 5));
    std::vector<int64_t> dims(static_cast<size_t>(Pick(random, 1, 3)));
    for (int64_t& dim : dims) dim = Pick(random, 1, 6);
    std::vector<Box> has, reads;
    for (int d = 0; d < devices; ++d) {
      has.push_back(RandomBox(random, dims));
      reads.push_back(RandomBox(random, dims));
    }
    ProgramBuilder builder({devices});
    const int source = builder.AddBuffer("x", program::F32, dims, has);
    const int destination = builder.AddBuffer("fetched", program::F32, dims, reads);
    builder.AddExchange(source, destination);
    builder.message().mutable_buffers(source)->set_initialized(true);
    RequireEqual(builder.Load());
  }
}

TEST_CASE("ranks combine partials in the same order as devices of one process") {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    const int owners = static_cast<int>(Pick(random, 1, 3));
    const int devices = owners * static_cast<int>(Pick(random, owners == 1 ? 2 : 1, 2));
    const int partials = static_cast<int>(Pick(random, 2, 4));
    std::vector<int64_t> dims(static_cast<size_t>(Pick(random, 1, 3)));
    for (int64_t& dim : dims) dim = Pick(random, 1, 6);
    std::vector<Box> writes, own;
    std::vector<int64_t> partial;
    for (int d = 0; d < devices; ++d) {
      writes.push_back(RandomBox(random, dims));
      own.push_back(WholeBox(dims));
      own.back()[0] = PartOf(dims[0], owners, d % owners);
      partial.push_back(Pick(random, 0, partials - 1));
    }
    ProgramBuilder builder({devices});
    const int source = builder.AddBuffer("made", program::F32, dims, writes);
    const int destination = builder.AddBuffer("y", program::F32, dims, own);
    builder.AddReduction(source, destination, program::SUM, partials, partial);
    builder.message().mutable_buffers(source)->set_initialized(true);
    RequireEqual(builder.Load());
  }
}

// x in rows on 4 devices, gathered and summed up three times, in recognised collectives.
std::shared_ptr<const LoadedProgram> Chain() {
  const std::vector<int64_t> dims = {7, 5};
  ProgramBuilder builder({2, 2});
  const int rows = builder.AddBuffer("x", program::F32, dims, CutAlong(dims, 0, 4));
  const int whole =
      builder.AddBuffer("whole", program::F32, dims, std::vector<Box>(4, WholeBox(dims)));
  builder.AddInput("x", rows);
  builder.AddOutput("x", rows);
  program::Exchange* gather = builder.AddExchange(rows, whole);
  gather->set_collective(CollectiveNumber("all_gather"));
  program::Exchange* scatter = builder.AddReduction(whole, rows, program::SUM, 4, {0, 1, 2, 3});
  scatter->set_collective(CollectiveNumber("reduce_scatter"));
  for (program::Exchange* exchange : {gather, scatter}) {
    exchange->add_axes(0);
    exchange->add_axes(1);
  }
  builder.Repeat(3);
  return builder.Load();
}

TensorData Ramp() {
  std::vector<float> values;
  for (int i = 0; i < 35; ++i) values.push_back(static_cast<float>(i) + 0.25f);
  return FloatTensor({7, 5}, values);
}

TEST_CASE("a value is set and gathered by all ranks, or by the first alone") {
  const auto program = Chain();
  std::vector<std::string> everywhere(4), first(4);
  LocalNetwork network(4);
  RunJob(network, FactsOfRanks(4), Long(), [&](Job& job) {
    RunOptions options;
    options.job = &job;
    auto session = Session::Open(program, options);
    if (!session.ok() || !(*session)->Set("x", Ramp()).ok() || !(*session)->Step().ok()) return 3;
    const auto of_all = (*session)->Get("x");
    const auto of_first = (*session)->Get("x", Gathered::kByFirstRank);
    if (!of_all.ok() || !of_first.ok()) return 3;
    everywhere[job.rank()] = of_all->data;
    first[job.rank()] = of_first->data;
    return 0;
  });
  auto alone = OpenSession(program);
  REQUIRE_THAT(alone->Set("x", Ramp()), IsOk());
  REQUIRE_THAT(alone->Step(), IsOk());
  const std::string expected = alone->Get("x")->data;
  CHECK(everywhere == std::vector<std::string>(4, expected));
  CHECK(first == std::vector<std::string>{expected, "", "", ""});
}

TEST_CASE("a rank that fails ends the step on all, for its reason") {
  const auto program = Chain();
  std::vector<absl::Status> statuses(4);
  LocalNetwork network(4);
  RunJob(network, FactsOfRanks(4), Long(), [&](Job& job) {
    RunOptions options;
    options.job = &job;
    auto session = Session::Open(program, options);
    absl::Status& status = statuses[job.rank()];
    status = session.status();
    if (status.ok()) status = (*session)->Set("x", Ramp());
    if (status.ok()) status = (*session)->Step();
    if (job.rank() == 2) {
      job.Fail(InternalError("the fan is off"));
      return 3;
    }
    if (status.ok()) status = (*session)->Step();
    return 3;
  });
  for (int rank : {0, 1, 3}) {
    CHECK_THAT(statuses[rank], StatusIs(absl::StatusCode::kInternal, "the fan is off"));
  }
}

TEST_CASE("a job must have a rank for each device") {
  const auto program = Chain();
  std::vector<absl::Status> opened(2);
  LocalNetwork network(2);
  RunJob(network, FactsOfRanks(2), Long(), [&](Job& job) {
    RunOptions options;
    options.job = &job;
    opened[job.rank()] = Session::Open(program, options).status();
    return 2;
  });
  for (const absl::Status& status : opened) {
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                "the program is for 4 devices, and test has started 2 ranks"));
  }
}

}  // namespace
}  // namespace yuba::runtime
