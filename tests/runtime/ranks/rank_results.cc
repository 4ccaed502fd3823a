#include "tests/runtime/ranks/rank_results.h"

#include <algorithm>
#include <cmath>

#include "opsemantics/base/status.h"
#include "tests/runtime/program_builder.h"

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

std::vector<int64_t> RandomDims(Random& random) {
  std::vector<int64_t> dims(static_cast<size_t>(Pick(random, 1, 3)));
  for (int64_t& dim : dims) dim = Pick(random, 1, 6);
  return dims;
}

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

}  // namespace

RankResult RunSteps(const std::shared_ptr<const LoadedProgram>& program, const RunOptions& options,
                    int device, int steps) {
  RankResult result;
  auto session = Session::Open(program, options);
  result.status = session.status();
  if (!session.ok()) return result;
  for (int d = 0; d < program->devices(); ++d) {
    if (options.job == nullptr || d == device) result.status.Update(Fill(**session, d, 0));
  }
  for (int step = 0; step < steps; ++step) result.status.Update((*session)->Step());
  for (int buffer = 0; buffer < program->message().buffers_size() && result.status.ok(); ++buffer) {
    const absl::StatusOr<std::string> shard = ShardOf(**session, device, buffer);
    result.status.Update(shard.status());
    result.shards.push_back(shard.value_or(""));
  }
  const Statistics statistics = (*session)->statistics();
  result.bytes_in = statistics.bytes_in;
  result.bytes_out = statistics.bytes_out;
  result.bytes = statistics.bytes;
  return result;
}

std::vector<RankResult> RunRanks(const std::shared_ptr<const LoadedProgram>& program,
                                 const std::vector<RankFacts>& facts, const RunOptions& options,
                                 int steps) {
  std::vector<RankResult> results(facts.size());
  LocalNetwork network(static_cast<int>(facts.size()));
  RunJob(network, facts, Long(), [&](Job& job) {
    RunOptions own = options;
    own.job = &job;
    RankResult& result = results[job.rank()];
    result = RunSteps(program, own, job.rank(), steps);
    if (result.status.ok()) return 0;
    job.Fail(result.status);
    return 3;
  });
  return results;
}

std::shared_ptr<const LoadedProgram> RandomGather(Random& random) {
  const int devices = static_cast<int>(Pick(random, 2, 5));
  const std::vector<int64_t> dims = RandomDims(random);
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
  return builder.Load();
}

std::shared_ptr<const LoadedProgram> RandomSum(Random& random) {
  const int owners = static_cast<int>(Pick(random, 1, 3));
  const int devices = owners * static_cast<int>(Pick(random, owners == 1 ? 2 : 1, 2));
  const int partials = static_cast<int>(Pick(random, 2, 4));
  const std::vector<int64_t> dims = RandomDims(random);
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
  return builder.Load();
}

}  // namespace yuba::runtime
