// Programs in which any field may have any value: refused when they are loaded, or else run without
// touching memory that is not theirs. Under the address sanitizer every byte of the arenas outside
// the buffers' boxes is poisoned; otherwise guard bands find stray writes. Generated code is
// trusted and is not run here.
#include <sanitizer/asan_interface.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>

#include "compiler/phases.h"
#include "opsemantics/base/collectives.h"
#include "opsemantics/language/library.h"
#include "runtime/program/references.h"
#include "runtime/session.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/command.h"
#include "tests/support/mutate_message.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kPoisons = true;
#else
constexpr bool kPoisons = false;
#endif

constexpr int64_t kMostRun = 1 << 20;  // bytes of an arena of programs that are run

// While it lives, only the bytes of the device's boxes may be touched.
class PoisonedArenas {
 public:
  explicit PoisonedArenas(runtime::Session& session) : session_(session) {
    if (!kPoisons) return;
    const runtime::LoadedProgram& program = session.program();
    for (int device = 0; device < program.devices(); ++device) {
      char* const arena = session.fleet().devices[device]->arena();
      ASAN_POISON_MEMORY_REGION(arena, program.message().arena_size());
      for (int b = 0; b < program.message().buffers_size(); ++b) {
        ASAN_UNPOISON_MEMORY_REGION(arena + program.message().buffers(b).offset(),
                                    Volume(program.BufferBox(b, device)) * program.ElementBytes(b));
      }
    }
  }
  ~PoisonedArenas() {
    if (!kPoisons) return;
    for (const auto& device : session_.fleet().devices) {
      ASAN_UNPOISON_MEMORY_REGION(device->arena(), session_.program().message().arena_size());
    }
  }
  PoisonedArenas(const PoisonedArenas&) = delete;

 private:
  runtime::Session& session_;
};

void Use(runtime::Session& session) {
  if (!session.Randomize(1).ok() || !session.Step().ok()) return;
  for (const program::Port& port : session.program().message().outputs()) {
    REQUIRE_THAT(session.Get(port.name()), IsOk());
  }
}

// Loads the mutant and runs it where it was accepted; returns whether it was.
bool LoadAndRun(program::Program message, Random& random) {
  const auto program = runtime::LoadedProgram::FromMessage(std::move(message));
  if (!program.ok()) {
    REQUIRE(program.status().code() != absl::StatusCode::kInternal);
    REQUIRE(!program.status().message().empty());
    return false;
  }
  if ((*program)->devices() > 64) return true;
  const bool small = (*program)->message().arena_size() <= kMostRun;
  runtime::RunOptions options;
  options.interleave = true;
  options.interleave_seed = random();
  options.recognise = Below(random, 2) == 0;
  options.guards = small && (!kPoisons || Below(random, 4) == 0);
  auto session = runtime::Session::Open(*program, options);
  if (!session.ok() || !small) return true;
  if (options.guards) {
    Use(**session);
  } else {
    const PoisonedArenas poisoned(**session);
    Use(**session);
  }
  return true;
}

void Fuzz(const std::string& name, const program::Program& sound, int rounds) {
  Random unchanged(0);
  REQUIRE(LoadAndRun(sound, unchanged));
  const uint64_t seed = Catch::rngSeed() * uint64_t{1000003};
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    Random random(seed + round);
    // A crash ends the process: the seed must be on the screen before it.
    std::cerr << name << " seed " << seed + round << "\r" << std::flush;
    INFO("seed " << seed + round);
    program::Program mutant = sound;
    for (size_t changes = 1 + Below(random, 4); changes > 0; --changes)
      MutateMessage(mutant, random);
    accepted += LoadAndRun(std::move(mutant), random);
  }
  std::cerr << name << ": " << accepted << " of " << rounds << " mutants were accepted\n";
  CHECK(accepted < rounds);
}

// Removes kernels of generated code: library calls, opaque functions and exchanges stay.
void DropGenerated(program::Program& program) {
  std::vector<int> number(program.functions_size(), -1);
  google::protobuf::RepeatedPtrField<program::Function> functions;
  for (int f = 0; f < program.functions_size(); ++f) {
    if (!program.functions(f).has_library() && !program.functions(f).has_opaque()) continue;
    number[f] = functions.size();
    *functions.Add() = program.functions(f);
  }
  google::protobuf::RepeatedPtrField<program::Instruction> instructions;
  for (program::Instruction instruction : program.instructions()) {
    if (instruction.has_kernel()) {
      const int function = number[instruction.kernel().function()];
      if (function < 0) continue;
      instruction.mutable_kernel()->set_function(function);
    }
    *instructions.Add() = instruction;
  }
  *program.mutable_functions() = functions;
  *program.mutable_instructions() = instructions;
  program.clear_code();
}

// A program of the bundled model for so many devices, without its generated code.
program::Program Compiled(const std::string& model, int devices) {
  const OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  compiler::Compilation state;
  state.request.model_file = RepositoryFile("tests/models/" + model + "/model.onnx");
  state.request.import.library = &library;
  state.request.search.mesh = MeshOf(devices);
  compiler::PhaseOptions options;
  options.to = "kernels";
  const absl::Status status = compiler::RunPhases(options, state);
  REQUIRE_THAT(status, IsOk());
  DropGenerated(state.program);
  return state.program;
}

TEST_CASE("mutants of a convolutional program") { Fuzz("conv", Compiled("conv", 6), 600); }
TEST_CASE("mutants of a program of products") { Fuzz("mlp", Compiled("mlp", 4), 800); }
TEST_CASE("mutants of a program with an opaque function") { Fuzz("moe", Compiled("moe", 4), 800); }
TEST_CASE("mutants of a recurrent program") { Fuzz("lstm", Compiled("lstm", 3), 100); }

// Exchanges between buffers of rank 1, in quarters, in halves and whole, and of rank 0.
class Exchanges {
 public:
  Exchanges() : builder_({2, 2}) {}

  program::Program Message() {
    for (program::ElementType type : {program::F32, program::I64, program::BF16}) AddMoves(type);
    for (program::Reducer reducer : {program::SUM, program::MAX, program::MIN, program::PROD,
                                     program::ANY, program::ALL, program::PICK}) {
      AddReduction(reducer);
    }
    AddScalar();
    AddReference();
    return builder_.message();
  }

 private:
  static std::vector<Box> Halves() { return {{{0, 4}}, {{0, 4}}, {{4, 8}}, {{4, 8}}}; }
  static std::vector<Box> Whole() { return std::vector<Box>(4, WholeBox({8})); }

  int Add(const char* name, program::ElementType type, const std::vector<Box>& boxes) {
    return builder_.AddBuffer(name + std::to_string(builder_.message().buffers_size()), type, {8},
                              boxes);
  }

  void AddMoves(program::ElementType type) {
    const int x = Add("x", type, CutAlong({8}, 0, 4));
    program::Exchange* gather = builder_.AddExchange(x, Add("half", type, Halves()));
    gather->set_collective(CollectiveNumber("all_gather"));
    gather->add_axes(1);
    const int whole = Add("whole", type, Whole());
    builder_.AddExchange(x, whole);
    std::vector<Box> turned = CutAlong({8}, 0, 4);
    std::rotate(turned.begin(), turned.begin() + 1, turned.end());
    program::Exchange* permute = builder_.AddExchange(x, Add("turned", type, turned));
    permute->set_collective(CollectiveNumber("permute"));
    permute->add_axes(0);
    permute->add_axes(1);
    builder_.AddInput("x" + std::to_string(x), x);
    builder_.AddOutput("y" + std::to_string(whole), whole);
  }

  void AddReduction(program::Reducer reducer) {
    const int made = Add("made", program::F32, Whole());
    const int y = Add("y", reducer == program::SUM ? program::F16 : program::F32, Halves());
    builder_.AddReduction(made, y, reducer, 4, {0, 1, 2, 3});
    builder_.AddReduction(y, y, reducer, 1, {0, 0, 0, 0});
    program::Initializer* parameter = builder_.message().add_parameters();
    parameter->mutable_port()->set_name("made" + std::to_string(made));
    parameter->mutable_port()->set_buffer(made);
    parameter->mutable_port()->add_shape(2);
    parameter->mutable_port()->add_shape(4);
    if (reducer != program::SUM) parameter->set_fill(std::string(4, '\1'));
    builder_.message().mutable_buffers(made)->set_initialized(true);
  }

  void AddScalar() {
    const std::vector<Box> everywhere(4);
    const int x = builder_.AddBuffer("scalar", program::BOOL, {}, everywhere);
    builder_.AddExchange(x, builder_.AddBuffer("copy", program::BOOL, {}, everywhere))
        ->set_from_first_only(true);
    builder_.AddInput("scalar", x);
    builder_.AddOutput("copy", x + 1);
  }

  // A parameter whose value is in a file.
  void AddReference() {
    const std::string file = ScratchFolder("fuzz") + "/w.data";
    std::ofstream(file, std::ios::binary) << std::string(40, 'w');
    const int w = Add("w", program::F32, Halves());
    builder_.message().mutable_buffers(w)->set_initialized(true);
    program::Initializer* parameter = builder_.message().add_parameters();
    parameter->mutable_port()->set_name("w");
    parameter->mutable_port()->set_buffer(w);
    parameter->mutable_port()->add_shape(8);
    *parameter->mutable_reference() = ReferenceTo({file, 4, 32, 40});
  }

  ProgramBuilder builder_;
};

TEST_CASE("mutants of a program of exchanges") { Fuzz("exchanges", Exchanges().Message(), 2000); }

}  // namespace
}  // namespace yuba::runtime
