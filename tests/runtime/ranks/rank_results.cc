#include "tests/runtime/ranks/rank_results.h"

#include "opsemantics/base/status.h"
#include "tests/runtime/exchange_programs.h"

namespace yuba::runtime {
namespace {

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
  const int64_t bytes = Volume(program.BufferBox(buffer, device)) * program.ElementBytes(buffer);
  std::vector<float> values(static_cast<size_t>(bytes) / sizeof(float));
  Random random(static_cast<uint32_t>(100 * device + buffer));
  for (float& value : values) value = AnyFloat(random);
  return session.fleet().devices[device]->Write(
      program.message().buffers(buffer).offset(), reinterpret_cast<const char*>(values.data()),
      static_cast<int64_t>(values.size() * sizeof(float)));
}

}  // namespace

StepsResult RunSteps(const std::shared_ptr<const LoadedProgram>& program, const RunOptions& options,
                     int device, int steps) {
  StepsResult result;
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
  result.groups = statistics.groups;
  result.sums = statistics.sums;
  result.bytes_in = statistics.bytes_in;
  result.bytes_out = statistics.bytes_out;
  result.bytes = statistics.bytes;
  return result;
}

std::vector<StepsResult> RunRanks(const std::shared_ptr<const LoadedProgram>& program,
                                  const std::vector<RankFacts>& facts, const RunOptions& options,
                                  int steps) {
  std::vector<StepsResult> results(facts.size());
  LocalNetwork network(static_cast<int>(facts.size()));
  RunJob(network, facts, Long(), [&](Job& job) {
    RunOptions own = options;
    own.job = &job;
    StepsResult& result = results[job.rank()];
    result = RunSteps(program, own, job.rank(), steps);
    if (result.status.ok()) return 0;
    job.Fail(result.status);
    return 3;
  });
  return results;
}

}  // namespace yuba::runtime
