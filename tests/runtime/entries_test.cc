// Sessions of programs with several entries: what each needs, what it leaves, and when init runs.
#include "runtime/program/entries.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

// Entry `a` copies the input x to y, entry `b` copies u to z.
ProgramBuilder TwoEntries() {
  ProgramBuilder builder({2});
  const auto add = [&](const std::string& name, int dim) {
    return builder.AddBuffer(name, program::F32, {4}, CutAlong({4}, dim, 2));
  };
  const int x = add("x", 0), u = add("u", 0), y = add("y", 0), z = add("z", 0);
  builder.AddExchange(x, y);
  builder.AddExchange(u, z);
  builder.AddInput("a:in", x);
  builder.AddInput("b:in", u);
  builder.AddOutput("a:out", y);
  builder.AddOutput("b:out", z);
  for (const auto& [name, begin] : {std::pair("a", 0), std::pair("b", 1)}) {
    program::Entry* entry = builder.message().add_entries();
    entry->set_name(name);
    entry->set_begin(begin);
  }
  return builder;
}

TensorData Four(float value) { return FloatTensor({4}, std::vector<float>(4, value)); }

TEST_CASE("an entry needs its own inputs, and gives its own outputs") {
  auto session = OpenSession(TwoEntries().Load());
  CHECK_THAT(session->Step("a"), Fails("no value for a:in"));
  REQUIRE_THAT(session->Set("a:in", Four(3)), IsOk());
  REQUIRE_THAT(session->Step("a"), IsOk());
  CHECK(FloatsOf(*session->Get("a:out")) == std::vector<float>(4, 3));
  CHECK_THAT(session->Get("b:out").status(), Fails("run entry b first"));
  CHECK_THAT(session->Step("b"), Fails("no value for b:in"));
  CHECK_THAT(session->Step("c"), Fails("no entry c; it has a, b"));
  REQUIRE_THAT(session->Set("b:in", Four(5)), IsOk());
  REQUIRE_THAT(session->Step("b"), IsOk());
  CHECK(FloatsOf(*session->Get("b:out")) == std::vector<float>(4, 5));
  CHECK(FloatsOf(*session->Get("a:out")) == std::vector<float>(4, 3));
  CHECK(session->statistics().steps == 2);
}

TEST_CASE("without a name the first entry runs, interleaved too") {
  RunOptions options;
  options.interleave = true;
  auto session = OpenSession(TwoEntries().Load(), options);
  REQUIRE_THAT(session->Set("a:in", Four(1)), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  CHECK(FloatsOf(*session->Get("a:out")) == std::vector<float>(4, 1));
}

// `init` copies the parameter w to the state s, `step` copies s to y.
ProgramBuilder WithInit() {
  ProgramBuilder builder({2});
  const auto add = [&](const std::string& name) {
    return builder.AddBuffer(name, program::F32, {4}, CutAlong({4}, 0, 2));
  };
  const int w = add("w"), s = add("s"), y = add("y");
  builder.AddExchange(w, s);
  builder.AddExchange(s, y);
  const float zero = 0;
  for (const auto& [name, buffer] : {std::pair("w", w), std::pair("s", s)}) {
    program::Initializer* parameter = builder.message().add_parameters();
    parameter->mutable_port()->set_name(name);
    parameter->mutable_port()->set_buffer(buffer);
    parameter->mutable_port()->add_shape(4);
    builder.message().mutable_buffers(buffer)->set_initialized(true);
    if (buffer == s) parameter->set_fill(&zero, sizeof zero);
  }
  builder.AddOutput("y", y);
  for (const auto& [name, begin] : {std::pair("init", 0), std::pair("step", 1)}) {
    program::Entry* entry = builder.message().add_entries();
    entry->set_name(name);
    entry->set_begin(begin);
  }
  return builder;
}

TEST_CASE("init runs before the first step, and again once a parameter was set") {
  auto session = OpenSession(WithInit().Load());
  CHECK_THAT(session->Step(), Fails("no value for w"));
  REQUIRE_THAT(session->Set("w", Four(2)), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  CHECK(FloatsOf(*session->Get("y")) == std::vector<float>(4, 2));
  CHECK(session->statistics().steps == 2);  // init is one
  REQUIRE_THAT(session->Step(), IsOk());
  CHECK(session->statistics().steps == 3);
  REQUIRE_THAT(session->Set("w", Four(7)), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  CHECK(FloatsOf(*session->Get("y")) == std::vector<float>(4, 7));
}

TEST_CASE("entries that leave instructions out or have one name are refused") {
  const auto refusal = [](int first, int second, const char* name) {
    ProgramBuilder builder = TwoEntries();
    builder.message().mutable_entries(0)->set_begin(first);
    builder.message().mutable_entries(1)->set_begin(second);
    builder.message().mutable_entries(1)->set_name(name);
    return LoadedProgram::FromMessage(builder.message()).status();
  };
  CHECK_THAT(refusal(0, 1, "b"), IsOk());
  CHECK_THAT(refusal(0, 2, "b"), IsOk());
  CHECK_THAT(refusal(1, 1, "b"), Fails("begins at instruction 1, not at 0"));
  CHECK_THAT(refusal(0, 3, "b"), Fails("begins at instruction 3"));
  CHECK_THAT(refusal(0, -1, "b"), Fails("begins at instruction -1"));
  CHECK_THAT(refusal(0, 1, "a"), Fails("empty or taken"));
  CHECK_THAT(refusal(0, 1, ""), Fails("empty or taken"));
}

}  // namespace
}  // namespace yuba::runtime
