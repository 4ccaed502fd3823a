// Values in and out, values made up, and the debugging of memory.
#include "runtime/session.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <set>

#include "opsemantics/base/hash_order.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

// x and the parameter w (bf16) stored in shards, and an output that is x gathered.
ProgramBuilder Stored(int devices, int dim, bool hash = false) {
  ProgramBuilder builder({devices});
  builder.message().set_hash_arithmetic(hash);
  const int x = builder.AddBuffer("x", program::F32, {6, 5}, CutAlong({6, 5}, dim, devices));
  const int w = builder.AddBuffer("w", program::BF16, {4, 5}, CutAlong({4, 5}, dim, devices));
  const int ids = builder.AddBuffer("ids", program::I32, {9}, CutAlong({9}, 0, devices));
  const int one =
      builder.AddBuffer("one", program::F32, {}, std::vector<Box>(devices, WholeBox({})));
  const int y =
      builder.AddBuffer("y", program::F32, {6, 5}, std::vector<Box>(devices, WholeBox({6, 5})));
  builder.AddExchange(x, y);
  builder.AddInput("x", x);
  builder.AddInput("ids", ids);
  for (const auto& [name, buffer] : {std::pair("w", w), std::pair("one", one)}) {
    program::Port* port = builder.message().add_parameters()->mutable_port();
    port->set_name(name);
    port->set_buffer(buffer);
    *port->mutable_shape() = builder.message().buffers(buffer).dims();
    builder.message().mutable_buffers(buffer)->set_initialized(true);
  }
  const float value = 2.5f;
  builder.message().mutable_parameters(1)->set_fill(&value, sizeof value);
  for (const auto& [name, buffer] :
       {std::pair("y", y), std::pair("w", w), std::pair("ids", ids), std::pair("one", one)}) {
    builder.AddOutput(name, buffer);
  }
  return builder;
}

TEST_CASE("made-up values are the same for every sharding and differ by seed and name") {
  std::vector<std::string> x, w, ids;
  for (const auto& [devices, dim] : {std::pair(1, 0), std::pair(2, 1), std::pair(4, 0)}) {
    auto session = OpenSession(Stored(devices, dim).Load());
    REQUIRE_THAT(session->Randomize(7), IsOk());
    REQUIRE_THAT(session->Step(), IsOk());
    x.push_back(session->Get("y")->data);
    w.push_back(session->Get("w")->data);
    ids.push_back(session->Get("ids")->data);
    for (float value : FloatsOf(*session->Get("y"))) REQUIRE(std::fabs(value) <= 1);
  }
  CHECK((x[0] == x[1] && x[1] == x[2]));
  CHECK((w[0] == w[1] && w[1] == w[2]));
  CHECK((ids[0] == ids[1] && ids[1] == ids[2]));
  auto session = OpenSession(Stored(2, 0).Load());
  REQUIRE_THAT(session->Randomize(8), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  CHECK(session->Get("y")->data != x[0]);
  std::set<float> different;
  for (float value : FloatsOf(*session->Get("y"))) different.insert(value);
  CHECK(different.size() == 30);
}

TEST_CASE("a step without all values names what is missing") {
  auto session = OpenSession(Stored(2, 0).Load());
  CHECK_THAT(session->Step(), Fails("no value for x, ids, w; give files"));
  REQUIRE_THAT(session->Set("x", FloatTensor({6, 5}, std::vector<float>(30, 1))), IsOk());
  CHECK(session->Missing() == std::vector<std::string>{"ids", "w"});
}

TEST_CASE("values that do not fit are refused") {
  auto session = OpenSession(Stored(2, 0).Load());
  CHECK_THAT(session->Set("z", FloatTensor({1}, {1})),
             Fails("no input or parameter z; it has x, ids"));
  CHECK_THAT(session->Set("x", FloatTensor({5, 6}, std::vector<float>(30, 1))),
             Fails("x has shape [5, 6], the program was made for [6, 5]"));
  TensorData ids;
  ids.type = ElementType::kI64;
  ids.dims = {9};
  std::vector<int64_t> values(9, 3);
  ids.data.assign(reinterpret_cast<const char*>(values.data()), 72);
  CHECK_THAT(session->Set("ids", ids), IsOk());
  values[4] = int64_t{1} << 40;
  ids.data.assign(reinterpret_cast<const char*>(values.data()), 72);
  CHECK_THAT(session->Set("ids", ids), Fails("1099511627776 does not fit i32"));
  CHECK_THAT(session->Set("ids", FloatTensor({9}, std::vector<float>(9, 1))),
             Fails("ids: elements of f32, the program wants i32"));
  ids.data.pop_back();
  CHECK_THAT(session->Set("ids", ids),
             StatusIs(absl::StatusCode::kInvalidArgument, "ids has 71 bytes"));
  CHECK_THAT(session->Get("nothing"),
             StatusIs(absl::StatusCode::kInvalidArgument, "no output nothing"));
}

TEST_CASE("hash arithmetic keeps single constants and makes up all else") {
  auto session = OpenSession(Stored(2, 0, true).Load());
  REQUIRE_THAT(session->Set("x", FloatTensor({6, 5}, std::vector<float>(30, 2))), IsOk());
  REQUIRE_THAT(session->Randomize(3), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  const TensorData one = *session->Get("one");
  CHECK(one.type == ElementType::kI64);
  const uint64_t expected = HashOf(2.5);
  CHECK(one.data == std::string(reinterpret_cast<const char*>(&expected), 8));
  const uint64_t two = 2;  // whole numbers stay themselves
  CHECK(session->Get("y")->data.substr(0, 8) ==
        std::string(reinterpret_cast<const char*>(&two), 8));
  CHECK(session->Get("ids")->type == ElementType::kI32);
}

TEST_CASE("memory that was never written is NaN, and state survives steps") {
  ProgramBuilder builder = Stored(2, 0);
  // The second device's half of y is asked for by nobody.
  program::Exchange* exchange = builder.message().mutable_instructions(0)->mutable_exchange();
  *exchange->mutable_to() = builder.BoxTable({{{0, 6}, {0, 5}}, {{0, 3}, {0, 5}}});
  RunOptions options;
  options.poison = true;
  auto session = OpenSession(builder.Load(), options);
  REQUIRE_THAT(session->Randomize(7), IsOk());
  for (int step = 0; step < 2; ++step) {
    // What an earlier buffer left in these bytes is not there to be read either.
    REQUIRE_THAT(session->fleet().devices[1]->Fill(builder.message().buffers(4).offset(), 0, 120),
                 IsOk());
    REQUIRE_THAT(session->Step(), IsOk());
    std::vector<float> second(30);
    REQUIRE_THAT(session->fleet().devices[1]->Read(builder.message().buffers(4).offset(),
                                                   reinterpret_cast<char*>(second.data()), 120),
                 IsOk());
    CHECK(!std::isnan(second[14]));
    for (int i = 15; i < 30; ++i) REQUIRE(std::isnan(second[i]));
    const float first = FloatsOf(*session->Get("w"))[0];  // stored values are not poisoned
    CHECK(!std::isnan(first));
  }
}

TEST_CASE("a write outside every buffer is found") {
  RunOptions options;
  options.guards = true;
  const auto program = Stored(2, 0).Load();
  auto session = OpenSession(program, options);
  REQUIRE_THAT(session->Randomize(1), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  const ArenaLayout layout = SpreadLayout(*program);
  REQUIRE_THAT(session->fleet().devices[1]->Fill(layout.offsets[1] + 40, 1, 1), IsOk());
  const absl::Status status = session->Step();
  CHECK_THAT(status, StatusIs(absl::StatusCode::kInternal, "device 1, instruction 0"));
  CHECK_THAT(status, Fails("40 bytes after the start of w"));
}

TEST_CASE("buffers that share memory while both live stay together when spread") {
  ProgramBuilder builder = Stored(1, 0);
  program::Buffer* alias = builder.message().add_buffers();
  *alias = builder.message().buffers(0);
  alias->set_name("the second half of x");
  alias->set_offset(alias->offset() + 60);
  alias->set_size(60);
  *alias->mutable_box() = builder.BoxTable({{{3, 6}, {0, 5}}});
  const auto program = builder.Load();
  const ArenaLayout layout = SpreadLayout(*program);
  CHECK(layout.offsets[5] == layout.offsets[0] + 60);
  CHECK(layout.offsets[1] >= layout.offsets[0] + 120 + kGuardBytes);
}

TEST_CASE("a program's values may go once a session has them") {
  ProgramBuilder builder = Stored(2, 0);
  std::string data(40, 0);
  for (int i = 0; i < 40; ++i) data[i] = static_cast<char>(i);
  builder.message().mutable_parameters(0)->set_data(data);
  auto program = LoadedProgram::FromMessage(builder.message());
  REQUIRE_THAT(program, IsOk());
  auto session = OpenSession(*program);
  (*program)->DropValues();
  CHECK((*program)->message().ByteSizeLong() + 40 <= builder.message().ByteSizeLong());
  REQUIRE_THAT(session->Randomize(1), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  CHECK(session->Get("w")->data == data);
}

TEST_CASE("a trace has every instruction of every device, in order") {
  RunOptions options;
  options.trace = true;
  auto session = OpenSession(Stored(3, 0).Load(), options);
  REQUIRE_THAT(session->Randomize(1), IsOk());
  for (int step = 0; step < 2; ++step) REQUIRE_THAT(session->Step(), IsOk());
  for (int device = 0; device < 3; ++device) {
    int advanced = 0;
    double now = 0;
    for (const TraceEvent& event : session->trace(device)) {
      REQUIRE(event.instruction == 0);
      REQUIRE(event.begin >= now);
      now = event.end;
      advanced += event.waiting ? 0 : 1;
    }
    CHECK(advanced >= 2 * 3);  // arrive, copy, leave
  }
  CHECK(session->statistics().copy_share + session->statistics().wait_share <= 1);
}

TEST_CASE("devices share out the machine's threads, and interleaved ones have one") {
  const auto threads = [](const RunOptions& options) {
    return OpenSession(Stored(2, 0).Load(), options)->statistics().threads_per_device;
  };
  RunOptions options;
  CHECK(threads(options) == DefaultThreads(2));
  options.threads_per_device = 3;
  CHECK(threads(options) == 3);
  options.interleave = true;
  CHECK(threads(options) == 1);

  const char* const set = std::getenv("OMP_NUM_THREADS");
  const std::string before = set == nullptr ? "" : set;
  setenv("OMP_NUM_THREADS", "12", 1);
  CHECK(DefaultThreads(1) == 12);
  CHECK(DefaultThreads(5) == 2);
  CHECK(DefaultThreads(13) == 1);
  if (set == nullptr)
    unsetenv("OMP_NUM_THREADS");
  else
    setenv("OMP_NUM_THREADS", before.c_str(), 1);
  CHECK(DefaultThreads(1 << 16) == 1);
}

TEST_CASE("an unknown back end is an error that lists those there are") {
  RunOptions options;
  options.backend = "abacus";
  const auto session = Session::Open(Stored(1, 0).Load(), options);
  CHECK_THAT(session,
             StatusIs(absl::StatusCode::kInvalidArgument, "no back end abacus; there are host"));
}

}  // namespace
}  // namespace yuba::runtime
