// Programs of graphs with states under any plan are proved and right after several steps; of seeded
// faults each is noticed by CheckCoverage or CheckMatchesGraph.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/spmd/spmd.h"
#include "compiler/verify/coverage.h"
#include "compiler/verify/matches_graph.h"
#include "google/protobuf/message.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"
#include "tests/compiler/support/carried_graphs.h"
#include "tests/compiler/support/emulator.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

constexpr int kSteps = 3;

struct Case {
  CarriedModel carried;
  program::Program program;
};

Case CaseOf(CarriedModel carried, int devices, Random& random) {
  Case c;
  const search::Plan plan = RandomPlan(carried.model.graph, yuba::MeshOf(devices), random);
  c.program = MakeSpmdProgram(carried.model, plan, Arithmetic::kHash);
  c.carried = std::move(carried);
  return c;
}

Case RandomCase(int seed) {
  Random random(seed);
  CarriedModel carried = RandomCarried(random);
  return CaseOf(std::move(carried), 1 + seed % 6, random);
}

// On one device: s_next = s + x.
Case Counter() {
  Random random(1);
  ModelBuilder build;
  const TensorId s = build.Input({4, 3}), x = build.Input({4, 3});
  const TensorId next = build.Add(s, x);
  return CaseOf(Carried(build.Finish({next}), {{s, next}}), 1, random);
}

// On one device: each row of the next value is made of three rows of the state.
Case Halo() {
  Random random(1);
  ModelBuilder build;
  const TensorId s = build.Input({4, 3}), f = build.Input({3, 3}, TensorKind::kParameter);
  const TensorId next = build.Window(s, f, 1, 1);
  return CaseOf(Carried(build.Finish({next}), {{s, next}}), 1, random);
}

// Whether the program reads only what is there and gives the outputs of steps done by hand.
bool IsRight(const Case& c) {
  Random random(7);
  const auto values = RandomValues(c.carried.before.graph, Arithmetic::kHash, random);
  const Emulation emulation =
      Emulate(c.program, c.carried.model.graph, ValuesOfModel(c.carried, values), kSteps);
  return emulation.fault.empty() &&
         SameElements(emulation.outputs, StepsByHand(c.carried, values, kSteps).back());
}

// What the checks say; "" where they find nothing.
std::string Refusal(const Case& c) {
  absl::Status status = CheckCoverage(c.program);
  if (status.ok()) status = CheckMatchesGraph(c.carried.model.graph, c.program);
  return std::string(status.message());
}

auto* Instructions(Case& c) { return c.program.mutable_instructions(); }

bool Writes(const program::Instruction& instruction, int buffer) {
  return instruction.has_exchange() ? instruction.exchange().destination() == buffer
                                    : instruction.kernel().results(0).buffer() == buffer;
}

bool Reads(const program::Instruction& instruction, int buffer) {
  if (instruction.has_exchange()) return instruction.exchange().source() == buffer;
  const auto& operands = instruction.kernel().operands();
  return std::any_of(operands.begin(), operands.end(),
                     [&](const program::Access& operand) { return operand.buffer() == buffer; });
}

// The first instruction that writes the buffer; the number of instructions where none does.
int FirstWrite(Case& c, int buffer) {
  const auto& all = *Instructions(c);
  return static_cast<int>(
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return Writes(one, buffer); }) -
      all.begin());
}

// Buffers of carried tensors.
std::vector<int> States(const Case& c) {
  std::vector<int> states;
  for (const program::Initializer& parameter : c.program.parameters()) {
    for (const Tensor& tensor : c.carried.model.graph.tensors) {
      if (IsCarried(tensor) && tensor.name == parameter.port().name())
        states.push_back(parameter.port().buffer());
    }
  }
  return states;
}

TEST_CASE("programs of graphs with states are proved, and right after several steps") {
  int in_place = 0, aside = 0;
  for (int seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Case c = RandomCase(seed);
    CHECK_THAT(CheckCoverage(c.program), IsOk());
    CHECK_THAT(CheckMatchesGraph(c.carried.model.graph, c.program), IsOk());
    CHECK(IsRight(c));
    REQUIRE(States(c).size() == c.carried.pairs.size());
    for (const int state : States(c)) {
      const auto& first = Instructions(c)->Get(FirstWrite(c, state));
      in_place += Writes(first, state) && Reads(first, state);
      aside += first.has_exchange();
    }
  }
  CHECK(in_place > 30);
  CHECK(aside > 30);
}

// Lets all that is written to `state` be written to, and then read from, a buffer of its own.
void DropTie(Case& c, int state) {
  program::Program& program = c.program;
  const int apart = program.buffers_size();
  const program::Buffer like = program.buffers(state);
  *program.add_buffers() = like;
  program.mutable_buffers(apart)->set_initialized(false);
  const int first = FirstWrite(c, state);
  for (int i = first; i < Instructions(c)->size(); ++i) {
    program::Instruction& instruction = *Instructions(c)->Mutable(i);
    if (instruction.has_exchange()) {
      program::Exchange& exchange = *instruction.mutable_exchange();
      if (i > first && exchange.source() == state) exchange.set_source(apart);
      if (exchange.destination() == state) exchange.set_destination(apart);
      continue;
    }
    program::Kernel& kernel = *instruction.mutable_kernel();
    for (program::Access& operand : *kernel.mutable_operands()) {
      if (i > first && operand.buffer() == state) operand.set_buffer(apart);
    }
    if (kernel.results(0).buffer() == state) kernel.mutable_results(0)->set_buffer(apart);
  }
  for (program::Port& output : *c.program.mutable_outputs()) {
    if (output.buffer() == state) output.set_buffer(apart);
  }
}

TEST_CASE("a next value in a buffer of its own is refused") {
  for (int seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    const Case whole = RandomCase(seed);
    for (const int state : States(whole)) {
      Case broken = whole;
      DropTie(broken, state);
      CHECK_THAT(Refusal(broken), Catch::Contains("is not in its place at the end of the step"));
    }
  }
  Case counter = Counter();
  DropTie(counter, States(counter)[0]);
  CHECK_FALSE(IsRight(counter));
}

TEST_CASE("what reads the old value and is moved behind its writer is refused") {
  int moved = 0;
  for (int seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Case whole = RandomCase(seed);
    for (const int state : States(whole)) {
      const int writer = FirstWrite(whole, state);
      for (int i = 0; i < writer; ++i) {
        if (!Reads(Instructions(whole)->Get(i), state)) continue;
        CAPTURE(i);
        Case broken = whole;
        for (int at = i; at < writer; ++at) Instructions(broken)->SwapElements(at, at + 1);
        const std::string refusal = Refusal(broken);
        const bool clear = refusal.find("which nothing has written") != std::string::npos ||
                           refusal.find("which does not hold") != std::string::npos ||
                           refusal.find("the graph's next node is") != std::string::npos;
        INFO(refusal);
        CHECK(clear);
        ++moved;
      }
    }
  }
  CHECK(moved > 100);
}

// Kernels stay in the graph's order: only which value the exchange brings is wrong, to a reader of
// the next value or to other devices that store it.
TEST_CASE("an exchange of the next value that comes before its writer is refused") {
  int moved = 0, wrong = 0;
  for (int seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Case whole = RandomCase(seed);
    for (const int state : States(whole)) {
      const int writer = FirstWrite(whole, state);
      for (int i = writer + 1; i < Instructions(whole)->size(); ++i) {
        const program::Instruction& gather = Instructions(whole)->Get(i);
        if (!gather.has_exchange() || !Reads(gather, state)) continue;
        Case broken = whole;
        for (int at = i; at > writer; --at) Instructions(broken)->SwapElements(at, at - 1);
        const bool broadcast = gather.exchange().destination() == state;
        CHECK_THAT(Refusal(broken),
                   Catch::Contains(broadcast ? "only the next value of a state belongs"
                                             : "which does not hold the next value of"));
        wrong += !IsRight(broken);  // some next values are as the old ones
        ++moved;
      }
    }
  }
  CHECK(wrong > 20);
  CHECK(moved >= wrong);
}

TEST_CASE("an output or a state that names another buffer is refused") {
  for (int seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const Case whole = RandomCase(seed);
    for (const int state : States(whole)) {
      for (int other = 0; other < whole.program.buffers_size(); ++other) {
        if (other == state) continue;
        Case broken = whole;
        for (program::Port& output : *broken.program.mutable_outputs()) {
          if (output.buffer() == state) output.set_buffer(other);
        }
        CHECK((Refusal(broken) != "" || IsRight(broken)));  // a gather may have brought all of it
      }
      Case doubled = whole;  // the step begins with a second slot
      program::Program& program = doubled.program;
      const program::Buffer like = program.buffers(state);
      *program.add_buffers() = like;
      for (program::Initializer& parameter : *doubled.program.mutable_parameters()) {
        if (parameter.port().buffer() == state)
          parameter.mutable_port()->set_buffer(program.buffers_size() - 1);
      }
      CHECK(Refusal(doubled) != "");
    }
  }
}

TEST_CASE("a kernel that writes over what it has yet to read is refused") {
  Case c = Halo();
  REQUIRE(Instructions(c)->size() == 2);
  CHECK(Refusal(c) == "");
  const int state = States(c)[0];
  Instructions(c)->DeleteSubrange(1, 1);
  Instructions(c)->Mutable(0)->mutable_kernel()->mutable_results(0)->set_buffer(state);
  CHECK_THAT(Refusal(c),
             Catch::Contains("it writes over elements of operand 0 that it has yet to read"));
  CHECK_FALSE(IsRight(c));
}

TEST_CASE("a step that renews only a part of a state is refused") {
  Case c = Halo();
  const int state = States(c)[0];
  program::Exchange& exchange = *Instructions(c)->Mutable(1)->mutable_exchange();
  REQUIRE(exchange.destination() == state);
  exchange.mutable_from()->mutable_dims(0)->mutable_end()->set_values(0, 3);
  exchange.mutable_to()->mutable_dims(0)->mutable_end()->set_values(0, 3);
  CHECK_THAT(Refusal(c), Catch::Contains("nothing writes"));
  CHECK_FALSE(IsRight(c));
}

TEST_CASE("a program with states without one of its exchanges is refused") {
  int dropped = 0;
  for (int seed = 0; seed < 100; ++seed) {
    const Case whole = RandomCase(seed);
    for (int i = 0; i < whole.program.instructions_size(); ++i) {
      if (!whole.program.instructions(i).has_exchange()) continue;
      Case broken = whole;
      Instructions(broken)->DeleteSubrange(i, 1);
      INFO("seed " << seed << ", instruction " << i);
      // Of what slice owners bring to the other owners, these may read nothing.
      const program::Exchange& dropped_one = whole.program.instructions(i).exchange();
      const bool from_slice_owners =
          !dropped_one.reduce() && dropped_one.source() == dropped_one.destination();
      if (from_slice_owners && IsRight(broken)) continue;
      CHECK(Refusal(broken) != "");
      ++dropped;
    }
  }
  CHECK(dropped > 200);
}

// All tables of numbers below the message.
void AddBounds(google::protobuf::Message* message, std::vector<program::Bound*>* bounds) {
  if (auto* bound = dynamic_cast<program::Bound*>(message)) {
    if (bound->values_size() > 0) bounds->push_back(bound);
    return;
  }
  const auto* reflection = message->GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const auto* field : fields) {
    if (field->message_type() == nullptr) continue;
    if (!field->is_repeated()) {
      AddBounds(reflection->MutableMessage(message, field), bounds);
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i)
      AddBounds(reflection->MutableRepeatedMessage(message, field, i), bounds);
  }
}

TEST_CASE("a program with states and one wrong number is refused, or still right") {
  int refused = 0, right = 0;
  for (int seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    Case c = RandomCase(seed % 90);
    std::vector<program::Bound*> bounds;
    const int count = Instructions(c)->size();
    AddBounds(Instructions(c)->Mutable(static_cast<int>(random() % count)), &bounds);
    if (bounds.empty()) continue;
    program::Bound* bound = bounds[random() % bounds.size()];
    const int row = static_cast<int>(random() % bound->values_size());
    bound->set_values(row, bound->values(row) + (random() % 2 == 0 ? 1 : -1));
    CAPTURE(seed);
    if (!Refusal(c).empty()) {
      ++refused;
      continue;
    }
    CHECK(IsRight(c));
    ++right;
  }
  CHECK(refused > 700);
  CHECK(right > 0);
}

}  // namespace
}  // namespace yuba::compiler
