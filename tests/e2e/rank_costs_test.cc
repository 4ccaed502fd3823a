// What ranks cost is what the plan says: a rank's memory is that of its device, and what MPI sends
// from one rank to another is what the plan's exchanges have between these two devices.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "runtime/exchange_plan.h"
#include "runtime/program/program.h"
#include "runtime/ranks/rank_exchange.h"
#include "runtime/ranks/words.h"
#include "tests/e2e/monitored_run.h"
#include "tests/e2e/pair_bytes.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

TEST_CASE("a rank has the memory of its device in the plan, and a constant") {
  const std::string folder = ScratchFolder("memory"), program = folder + "/program.yuba";
  const std::string model = folder + "/model.onnx", plan = folder + "/plan.json";
  Succeed("yuba zoo mlp --width 2048 --layers 13 --batch 4 -o " + model);
  Succeed("yuba partition " + model + " --devices 2 -o " + plan);
  Succeed("yuba compile " + model + " " + plan + " -o " + program);
  constexpr int64_t kWeights = int64_t{12} * 2048 * 2048 * 4, kConstant = 48 << 20;
  const CommandResult alone = Succeed("yuba-run " + program + " --random --json");
  CHECK(alone.peak_bytes > kWeights);
  const CommandResult ranks =
      Succeed("yuba-run " + program + " --random --json --ranks 2 --interface lo");
  const nlohmann::json json = JsonOf(ranks.out);
  const int64_t device =
      json["arena_bytes"].get<int64_t>() + json["workspace_bytes"].get<int64_t>();
  // Some processors' libraries keep weights in a form of their own, as workspace.
  CHECK(json["arena_bytes"].get<int64_t>() > kWeights / 2);
  CHECK(json["arena_bytes"].get<int64_t>() < kWeights / 2 + (4 << 20));
  INFO(ranks.peak_bytes << " bytes where the plan has " << device);
  CHECK(ranks.peak_bytes > device);
  CHECK(ranks.peak_bytes < device + kConstant);
}

// What is sent in each step beside the plan's exchanges, on the data channel: whether a signal came
// (StopRequest), to rank 0 and back, and each number of the step from rank 0 to all (the size of it
// and four bytes).
Sent BesideExchanges(int from, int to, int numbers) {
  if (from != 0) return to == 0 ? Sent{1, 1} : Sent{};
  return {1 + numbers * (8 + 4), 1 + numbers * 2};
}

// Of all exchanges: how many messages, which only tells words of the watch from them.
std::vector<std::vector<int64_t>> MessagesOf(const runtime::LoadedProgram& program) {
  const int ranks = program.devices();
  std::vector<std::vector<int64_t>> messages(ranks, std::vector<int64_t>(ranks, 0));
  for (const program::Instruction& instruction : program.instructions()) {
    if (!instruction.has_exchange()) continue;
    const program::Exchange& exchange = instruction.exchange();
    runtime::ExchangePlan plan = runtime::PlanExchange(program, exchange);
    if (exchange.collective() != 0) plan = *runtime::PlanCollective(program, exchange);
    for (int rank = 0; rank < ranks; ++rank) {
      for (const auto& message : runtime::RankExchangeOf(plan, rank).messages)
        messages[rank][message.peer] += message.send ? 1 : 0;
    }
  }
  return messages;
}

void CheckPairs(const std::string& model, const std::string& flags, int ranks) {
  const MonitoredProgram monitored(model, flags, ranks);
  const auto program = runtime::LoadedProgram::FromFile(monitored.program());
  REQUIRE(program.ok());
  const PairBytes expected = PairBytesOf(**program);
  const auto messages = MessagesOf(**program);
  // Two steps more: what is sent before and after all steps is in both.
  const MonitoredRun few = monitored.Run(1), many = monitored.Run(3);
  const int numbers =
      few.said.contains("numbers") ? static_cast<int>(few.said["numbers"].size()) : 0;
  int64_t total = 0;
  for (int from = 0; from < ranks; ++from) {
    int64_t out = 0, in = 0;
    for (int to = 0; to < ranks; ++to) {
      if (from == to) continue;
      const Sent beside = BesideExchanges(from, to, numbers);
      const int64_t more = many.sent[from][to].messages - few.sent[from][to].messages;
      // Rank 0 sends answers to the others' words, any number of times a second.
      const int64_t watched = more - 2 * (messages[from][to] + beside.messages);
      const int64_t size = from == 0 ? sizeof(runtime::Answer) : sizeof(runtime::RankWord);
      const int64_t bytes = many.sent[from][to].bytes - few.sent[from][to].bytes;
      INFO("from " << from << " to " << to << " of " << ranks << ", watched " << watched);
      if (from != 0 && to != 0) CHECK(watched == 0);
      CHECK(bytes - watched * size - 2 * beside.bytes == 2 * expected[from][to]);
      out += expected[from][to];
      in += expected[to][from];
    }
    INFO("rank " << from << " of " << ranks);
    CHECK(out > 0);
    CHECK(many.said["bytes_out"][from] == 3 * out);
    CHECK(many.said["bytes_in"][from] == 3 * in);
    total += out;
  }
  CHECK(total == monitored.planned_bytes());
  CHECK(many.said["bytes"] == 3 * total);
}

TEST_CASE("between each two ranks Open MPI sends the bytes that the plan's exchanges have there") {
  if (std::system("command -v mpirun.openmpi > /dev/null 2>&1") != 0) {
    WARN("SKIP: mpirun.openmpi is missing");
    return;
  }
  const std::string training = "--train adam --loss softmax-cross-entropy";
  for (const int ranks : {2, 3, 4}) {
    for (const std::string& flags : {training, std::string()}) {
      INFO("gpt " << flags);
      CheckPairs("gpt", flags, ranks);
    }
  }
  // Halos; replicas, whose gradients are added up for all.
  CheckPairs("conv", "", 4);
  CheckPairs("gpt", training + " --replicate auto", 4);
}

}  // namespace
}  // namespace yuba
