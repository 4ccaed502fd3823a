// Which exchanges are calls of a collective, of which counts, and where a rank has what it gives
// and gets. That the right bytes move is tested with a library (tests/runtime/cuda).
#include "runtime/ranks/rank_collective.h"

#include <catch2/catch.hpp>

#include "runtime/ranks/exchange_groups.h"
#include "tests/runtime/exchange_programs.h"
#include "tests/runtime/program_builder.h"

namespace yuba::runtime {
namespace {

// A plan with the program's offsets, made without looking at what the exchange is called.
ExchangePlan PlanOf(const LoadedProgram& program, int instruction) {
  return PlanExchange(program, program.instructions()[instruction].exchange());
}

// Boxes of two buffers, x and y, between which one exchange moves.
ExchangePlan GatherOf(const std::vector<int64_t>& dims, const std::vector<Box>& have,
                      const std::vector<Box>& need) {
  ProgramBuilder builder({static_cast<int>(have.size())});
  const int x = builder.AddBuffer("x", program::F32, dims, have);
  builder.AddExchange(x, builder.AddBuffer("y", program::F32, dims, need));
  return PlanOf(*builder.Load(), 0);
}
ExchangePlan GatherAll(const std::vector<int64_t>& dims, const std::vector<Box>& have) {
  return GatherOf(dims, have, std::vector<Box>(have.size(), WholeBox(dims)));
}

TEST_CASE("rows that lie side by side are gathered from and to where they lie") {
  const ExchangePlan plan = GatherAll({6, 4}, CutAlong({6, 4}, 0, 3));
  for (int rank = 0; rank < 3; ++rank) {
    const auto exchange = AllGatherOf(plan, rank);
    REQUIRE(exchange.has_value());
    CHECK(exchange->group_of == std::vector<int>(3, 0));
    const RankCall& call = exchange->call.value();
    CHECK(call.kind == RankCall::kAllGather);
    CHECK(call.count == 2 * 4);
    CHECK(call.element_bytes == 4);
    CHECK(call.send.room == Room::kArena);
    CHECK(call.send.offset == plan.source_offset);
    CHECK(call.receive.room == Room::kArena);
    CHECK(call.receive.offset == plan.destination_offset);
    CHECK(exchange->messages.empty());
    CHECK(exchange->packings.empty());
    CHECK(exchange->results.empty());
    CHECK(exchange->send_bytes + exchange->receive_bytes == 0);
  }
}

TEST_CASE("columns are gathered through staging, and rows in another order too") {
  const ExchangePlan columns = GatherAll({4, 6}, CutAlong({4, 6}, 1, 3));
  auto exchange = AllGatherOf(columns, 1);
  REQUIRE(exchange.has_value());
  CHECK(exchange->call->send.room == Room::kArena);  // its own columns are all that the buffer has
  CHECK(exchange->call->receive.room == Room::kReceiveBuffer);
  CHECK(exchange->receive_bytes == 3 * 8 * 4 / 64 * 64 + 64 * (3 * 8 * 4 % 64 > 0));
  CHECK(exchange->results.size() == 3);
  const std::vector<Box> turned = {{{4, 6}, {0, 4}}, {{0, 2}, {0, 4}}, {{2, 4}, {0, 4}}};
  exchange = AllGatherOf(GatherAll({6, 4}, turned), 2);
  REQUIRE(exchange.has_value());
  CHECK(exchange->call->receive.room == Room::kReceiveBuffer);
  CHECK(exchange->results.size() == 3);
}

TEST_CASE("parts of different sizes are padded where that makes at most a quarter more of them") {
  // 4 of 7 rows twice are 8; 3 of 4 rows twice are 6.
  const ExchangePlan fits = GatherAll({7, 3}, CutAlong({7, 3}, 0, 2));
  for (int rank : {0, 1}) {
    const auto exchange = AllGatherOf(fits, rank);
    REQUIRE(exchange.has_value());
    CHECK(exchange->call->count == 4 * 3);
    CHECK(exchange->packings.size() == (rank == 0 ? 1 : 0));  // PartOf gives it 3 rows
    CHECK(exchange->results.size() == 2);
  }
  CHECK_FALSE(AllGatherOf(GatherAll({4, 3}, {{{0, 3}, {0, 3}}, {{3, 4}, {0, 3}}}), 0).has_value());
}

TEST_CASE("what is no gather of all parts by all is none") {
  const std::vector<Box> rows = CutAlong({6, 4}, 0, 3);
  std::vector<Box> need(3, WholeBox({6, 4}));
  need[2] = {{0, 4}, {0, 4}};  // without its own part
  CHECK_FALSE(AllGatherOf(GatherOf({6, 4}, rows, need), 0).has_value());
  need[2] = {{0, 6}, {0, 3}};
  CHECK_FALSE(AllGatherOf(GatherOf({6, 4}, rows, need), 0).has_value());
  // Rows become columns: each device reads another box of each other one.
  CHECK_FALSE(
      AllGatherOf(GatherOf({6, 6}, CutAlong({6, 6}, 0, 3), CutAlong({6, 6}, 1, 3)), 1).has_value());
  // Nothing moves.
  CHECK_FALSE(AllGatherOf(GatherOf({6, 4}, rows, rows), 1).has_value());
}

TEST_CASE("groups are devices that exchange something, and one that is alone calls nothing") {
  // Devices 0 and 2 have halves of the first rows, and device 1 has the last row.
  const std::vector<Box> have = {{{0, 2}, {0, 2}}, {{2, 3}, {0, 4}}, {{0, 2}, {2, 4}}};
  const std::vector<Box> need = {{{0, 2}, {0, 4}}, {{2, 3}, {0, 4}}, {{0, 2}, {0, 4}}};
  const ExchangePlan plan = GatherOf({3, 4}, have, need);
  for (int rank = 0; rank < 3; ++rank) {
    const auto exchange = AllGatherOf(plan, rank);
    REQUIRE(exchange.has_value());
    CHECK(exchange->group_of == std::vector<int>{0, 1, 0});
    CHECK(exchange->call.has_value() == (rank != 1));
    CHECK(exchange->messages.empty());
  }
}

TEST_CASE("a combination and the gather of its result, in place, are one call of any sizes") {
  Random random(1);
  for (const CollectiveForm& form : {CollectiveForm{1, 3}, CollectiveForm{2, 3}}) {
    const auto program = RandomCollective(random, Collected::kReduce, form);
    const ExchangePlan sum = PlanOf(*program, 0), gather = PlanOf(*program, 1);
    for (int rank = 0; rank < program->devices(); ++rank) {
      const auto exchange = AllReduceOf(sum, gather, rank);
      REQUIRE(exchange.has_value());
      CHECK(exchange->call->kind == RankCall::kAllReduce);
      CHECK(exchange->call->count == Volume(program->BufferBox(0, rank)));
      CHECK(exchange->group_of[rank] == rank / 3 * 3);
      CHECK_FALSE(AllReduceOf(sum, sum, rank).has_value());
      CHECK_FALSE(ReduceScatterOf(gather, rank).has_value());
    }
  }
  CollectiveForm wider = {1, 4};
  wider.result = program::BF16;
  const auto program = RandomCollective(random, Collected::kReduce, wider);
  CHECK_FALSE(AllReduceOf(PlanOf(*program, 0), PlanOf(*program, 1), 0).has_value());
}

TEST_CASE("all ranks of a group come to the same call") {
  Random random(4);
  int calls = 0;
  for (int round = 0; round < 60; ++round) {
    const CollectiveForm form = {1 + round % 3, 2 + round % 4};
    const auto program = RandomCollective(random, Collected::kGather, form);
    const ExchangePlan plan = PlanOf(*program, 0);
    const bool is_one = AllGatherOf(plan, 0).has_value();
    for (int rank = 0; rank < program->devices(); ++rank) {
      const auto exchange = AllGatherOf(plan, rank);
      REQUIRE(exchange.has_value() == is_one);
      if (!is_one) continue;
      ++calls;
      const auto first = AllGatherOf(plan, exchange->group_of[rank]);
      CHECK(exchange->group_of == first->group_of);
      CHECK(exchange->call->count == first->call->count);
    }
  }
  CHECK(calls > 0);
}

TEST_CASE("a sum that only one device gets is no call, but with a gather it is") {
  Random random(2);
  const auto program = RandomCollective(random, Collected::kReduceScalar, {1, 4});
  const ExchangePlan sum = PlanOf(*program, 0), gather = PlanOf(*program, 1);
  for (int rank = 0; rank < 4; ++rank) {
    CHECK_FALSE(ReduceScatterOf(sum, rank).has_value());
    const auto both = AllReduceOf(sum, gather, rank);
    REQUIRE(both.has_value());
    CHECK(both->call->count == 1);
    CHECK(both->call->send.room == Room::kArena);
  }
}

TEST_CASE("a device that lacks a partial makes no call of it") {
  ProgramBuilder builder({2});
  const std::vector<int64_t> dims = {4, 4};
  // Device 1 has written three of four rows.
  const int made =
      builder.AddBuffer("made", program::F32, dims, {WholeBox(dims), {{0, 3}, {0, 4}}});
  const int y = builder.AddBuffer("y", program::F32, dims, CutAlong(dims, 0, 2));
  builder.AddReduction(made, y, program::SUM, 2, {0, 1});
  CHECK_FALSE(ReduceScatterOf(PlanOf(*builder.Load(), 0), 0).has_value());
}

TEST_CASE("staging of exchanges that begin together does not overlap") {
  const std::vector<int64_t> dims = {4, 6};
  const ExchangePlan plan = GatherAll(dims, CutAlong(dims, 1, 2));
  std::vector<ExchangePlan> plans = {plan, plan, plan};
  plans[1].joins = plans[2].joins = true;
  for (ExchangePlan& each : plans) each.destination_offset += 4096 * (&each - plans.data());
  const auto none = [](const Combination&) { return false; };
  const std::vector<ExchangeGroup> groups = ExchangeGroupsOf(plans);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].begin == 0);
  CHECK(groups[0].end == 3);
  std::vector<RankExchange> made = RankExchangesOf(plans, 0, none);
  for (int i = 0; i < 3; ++i) {
    CHECK(made[i].call->receive.offset == i * 128);  // of 96 bytes
    CHECK(made[i].results[1].parts[0].offset == i * 128 + 48);
    CHECK(made[i].receive_bytes == (i + 1) * 128);
  }
  plans[2].joins = false;
  CHECK(ExchangeGroupsOf(plans).size() == 2);
  CHECK(RankExchangesOf(plans, 0, none)[2].receive_bytes == 128);
}

TEST_CASE("a gather in another entry is not part of the sum before it") {
  Random random(3);
  const auto program = RandomCollective(random, Collected::kReduce, {1, 2});
  std::vector<ExchangePlan> plans = {PlanOf(*program, 0), PlanOf(*program, 1)};
  const auto all = [](const Combination&) { return true; };
  CHECK(RankExchangesOf(plans, 0, all)[0].call->kind == RankCall::kAllReduce);
  CHECK(!RankExchangesOf(plans, 0, all)[1].call.has_value());
  plans[1].entry = 1;
  const std::vector<RankExchange> made = RankExchangesOf(plans, 0, all);
  CHECK((!made[0].call.has_value() || made[0].call->kind == RankCall::kReduceScatter));
  plans[1].entry = 0;
  plans.insert(plans.begin() + 1, ExchangePlan());  // a kernel between them
  CHECK((!RankExchangesOf(plans, 0, all)[0].call.has_value() ||
         RankExchangesOf(plans, 0, all)[0].call->kind == RankCall::kReduceScatter));
}

}  // namespace
}  // namespace yuba::runtime
