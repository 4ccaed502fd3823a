// Exchanges against element marking: what each element must be is decided one element at a time, by
// code that shares nothing with the runtime's boxes, walks and plans.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "opsemantics/base/collectives.h"
#include "tests/runtime/exchange_programs.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

bool Holds(const Box& box, const std::vector<int64_t>& point) {
  for (size_t d = 0; d < box.size(); ++d) {
    if (point[d] < box[d].begin || point[d] >= box[d].end) return false;
  }
  return true;
}

// The element's position in a dense buffer over `box`.
int64_t PlaceIn(const Box& box, const std::vector<int64_t>& point) {
  int64_t place = 0;
  for (size_t d = 0; d < box.size(); ++d) place = place * box[d].size() + point[d] - box[d].begin;
  return place;
}

float ValueOf(int device, int64_t place) { return static_cast<float>(device * 1000 + place); }

std::vector<float> Buffer(Session& session, int device, int buffer) {
  const LoadedProgram& program = session.program();
  std::vector<float> values(Volume(program.BufferBox(buffer, device)));
  REQUIRE_THAT(
      session.fleet().devices[device]->Read(program.message().buffers(buffer).offset(),
                                            reinterpret_cast<char*>(values.data()),
                                            static_cast<int64_t>(values.size() * sizeof(float))),
      IsOk());
  return values;
}

void Write(Session& session, int device, int buffer, const std::vector<float>& values) {
  REQUIRE_THAT(
      session.fleet().devices[device]->Write(session.program().message().buffers(buffer).offset(),
                                             reinterpret_cast<const char*>(values.data()),
                                             static_cast<int64_t>(values.size() * sizeof(float))),
      IsOk());
}

void FillSources(Session& session, int buffer) {
  for (int device = 0; device < session.program().devices(); ++device) {
    std::vector<float> values(Volume(session.program().BufferBox(buffer, device)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = ValueOf(device, i);
    Write(session, device, buffer, values);
  }
}

RunOptions SomeExecutor(Random& random) {
  RunOptions options;
  options.interleave = Pick(random, 0, 1) == 1;
  options.interleave_seed = random();
  options.poison = true;
  return options;
}

TEST_CASE("a gather brings each element from its own device, else from the first that has it") {
  Random random(1);
  for (int round = 0; round < 150; ++round) {
    const auto [program, has, reads] = RandomGather(random, 1);
    const int devices = program->devices(), source = 0, destination = 1;
    auto session = OpenSession(program, SomeExecutor(random));
    FillSources(*session, source);
    REQUIRE_THAT(session->Step(), IsOk());

    std::vector<int64_t> in(devices), out(devices);
    for (int d = 0; d < devices; ++d) {
      const std::vector<float> values = Buffer(*session, d, destination);
      ForEachPoint(reads[d], [&](const std::vector<int64_t>& point) {
        int from = -1;
        for (int s = devices - 1; s >= 0; --s) {
          if (Holds(has[s], point)) from = s;
        }
        if (Holds(has[d], point)) from = d;
        const float value = values[PlaceIn(reads[d], point)];
        if (from < 0) {
          REQUIRE(std::isnan(value));  // still poison: nobody has it
          return;
        }
        REQUIRE(value == ValueOf(from, PlaceIn(has[from], point)));
        if (from == d) return;
        in[d] += 4;
        out[from] += 4;
      });
    }
    const Statistics statistics = session->statistics();
    REQUIRE(statistics.bytes_in == in);
    REQUIRE(statistics.bytes_out == out);
  }
}

TEST_CASE("a reduction combines partials in their order, bit for bit, into the first owner") {
  Random random(2);
  for (int round = 0; round < 150; ++round) {
    const auto [program, owners, partials, writes, own, partial] = RandomSum(random, 1);
    const int devices = program->devices(), source = 0, destination = 1;
    auto session = OpenSession(program, SomeExecutor(random));
    std::vector<std::vector<float>> values(devices);
    for (int d = 0; d < devices; ++d) {
      for (int64_t i = 0; i < Volume(writes[d]); ++i) {
        values[d].push_back(AnyFloat(random));
      }
      Write(*session, d, source, values[d]);
    }
    REQUIRE_THAT(session->Step(), IsOk());

    int64_t bytes = 0;
    for (int d = 0; d < devices; ++d) {
      const std::vector<float> result = Buffer(*session, d, destination);
      ForEachPoint(own[d], [&](const std::vector<int64_t>& point) {
        const float value = result[PlaceIn(own[d], point)];
        if (d >= owners) {
          REQUIRE(std::isnan(value));  // not the first owner: an exchange of its own brings it
          return;
        }
        float sum = 0;
        bool first = true;
        for (int p = 0; p < partials; ++p) {
          int producer = -1;
          for (int m = devices - 1; m >= 0; --m) {
            if (partial[m] == p && Holds(writes[m], point)) producer = m;
          }
          if (partial[d] == p && Holds(writes[d], point)) producer = d;
          if (producer < 0) continue;
          const float term = values[producer][PlaceIn(writes[producer], point)];
          sum = first ? term : sum + term;
          first = false;
          if (producer != d) bytes += 4;
        }
        REQUIRE(std::memcmp(&sum, &value, sizeof sum) == 0);
      });
    }
    REQUIRE(session->statistics().bytes == bytes);
  }
}

void RequireSixtyFourTimes(Session& session) {
  REQUIRE_THAT(session.Set("x", Ramp()), IsOk());
  const absl::Status status = session.Step();
  REQUIRE_THAT(status, IsOk());
  const std::vector<float> values = FloatsOf(*session.Get("x")), ramp = FloatsOf(Ramp());
  for (size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == 64 * ramp[i]);
}

TEST_CASE("a chain of exchanges gives the same under every interleaving") {
  const auto program = ExchangeChain();
  for (int seed = 0; seed < 100; ++seed) {
    RunOptions options;
    options.interleave = true;
    options.interleave_seed = seed;
    options.recognise = seed % 2 == 0;
    options.poison = seed % 3 == 0;
    options.guards = seed % 5 == 0;
    RequireSixtyFourTimes(*OpenSession(program, options));
  }
}

// Device 1 reads x from device 0, which then overwrites x without asking anyone; then once more.
TEST_CASE("an exchange is done only when its sources have been read") {
  const std::vector<int64_t> dims = {4};
  const std::vector<Box> on_first = {{{0, 4}}, {{0, 0}}}, on_second = {{{0, 0}}, {{0, 4}}};
  ProgramBuilder builder({2});
  const int x = builder.AddBuffer("x", program::F32, dims, on_first);
  const int z = builder.AddBuffer("z", program::F32, dims, on_first);
  const int before = builder.AddBuffer("before", program::F32, dims, on_second);
  const int after = builder.AddBuffer("after", program::F32, dims, on_second);
  builder.AddExchange(x, before);
  builder.AddExchange(z, x);
  builder.AddExchange(x, after);
  builder.AddInput("x", x);
  builder.AddInput("z", z);
  builder.AddOutput("before", before);
  builder.AddOutput("after", after);
  const auto program = builder.Load();
  const std::vector<float> old_x = {1, 2, 3, 4}, new_x = {5, 6, 7, 8};
  for (int seed = 0; seed < 100; ++seed) {
    RunOptions options;
    options.interleave = true;
    options.interleave_seed = seed;
    auto session = OpenSession(program, options);
    REQUIRE_THAT(session->Set("x", FloatTensor(dims, old_x)), IsOk());
    REQUIRE_THAT(session->Set("z", FloatTensor(dims, new_x)), IsOk());
    REQUIRE_THAT(session->Step(), IsOk());
    REQUIRE(FloatsOf(*session->Get("before")) == old_x);
    REQUIRE(FloatsOf(*session->Get("after")) == new_x);
  }
}

TEST_CASE("a chain of exchanges gives the same on threads, step after step") {
  for (bool recognise : {false, true}) {
    RunOptions options;
    options.recognise = recognise;
    auto session = OpenSession(ExchangeChain(), options);
    for (int step = 0; step < 50; ++step) RequireSixtyFourTimes(*session);
  }
}

TEST_CASE("recognised and plain exchanges move the same bytes") {
  std::vector<Statistics> statistics;
  for (bool recognise : {false, true}) {
    RunOptions options;
    options.recognise = recognise;
    auto session = OpenSession(ExchangeChain(), options);
    RequireSixtyFourTimes(*session);
    statistics.push_back(session->statistics());
  }
  // Every device gathers 3/4 of x, then receives three partials of the quarter that it owns.
  CHECK(statistics[0].bytes == 2 * 3 * (4 * 35 - 35) * 4);
  CHECK(statistics[0].bytes == statistics[1].bytes);
  CHECK(statistics[0].bytes_in == statistics[1].bytes_in);
  CHECK(statistics[0].bytes_out == statistics[1].bytes_out);
}

TEST_CASE("a transfer that is left out shows in the result and in the count") {
  auto session = OpenSession(ExchangeChain());
  ExchangePlan& gather = session->fleet().plans[0];
  REQUIRE(gather.devices[2].pieces.size() == 4);
  size_t remote = 0;
  while (gather.devices[2].pieces[remote].source == 2) ++remote;
  gather.devices[2].pieces.erase(gather.devices[2].pieces.begin() + remote);
  ListPeers(gather);
  REQUIRE_THAT(session->Set("x", Ramp()), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  std::vector<float> whole = FloatsOf(Ramp());
  for (float& value : whole) value *= 64;
  CHECK(FloatsOf(*session->Get("x")) != whole);
  CHECK(session->statistics().bytes < 2 * 3 * (4 * 35 - 35) * 4);
}

TEST_CASE("a collective that its boxes are not is refused") {
  const std::vector<int64_t> dims = {6};
  ProgramBuilder builder({3});
  const int shards = builder.AddBuffer("x", program::F32, dims, CutAlong(dims, 0, 3));
  std::vector<Box> most = {{{0, 4}}, {{0, 6}}, {{0, 6}}};
  const int gathered = builder.AddBuffer("g", program::F32, dims, most);
  program::Exchange* exchange = builder.AddExchange(shards, gathered);
  exchange->set_collective(CollectiveNumber("all_gather"));
  exchange->add_axes(0);
  auto session = Session::Open(builder.Load(), {});
  REQUIRE_THAT(session, StatusIs(absl::StatusCode::kInvalidArgument, "all_gather"));
  RunOptions plain;
  plain.recognise = false;
  CHECK_THAT(Session::Open(builder.Load(), plain), IsOk());
}

}  // namespace
}  // namespace yuba::runtime
