// What a run time with fused attention keeps on the chip, in programs of real models.
#include "runtime/model/on_chip.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <string>

#include "opsemantics/base/files.h"
#include "runtime/model/predict.h"
#include "runtime/program/work.h"
#include "tests/runtime/model/compiled_model.h"
#include "tests/support/status_matchers.h"
#include "tools/zoo/zoo.h"

namespace yuba::runtime {
namespace {

// How many batched products have results on the chip; the result says which buffers are.
int ScoresOf(const LoadedProgram& program, const std::vector<bool>& on_chip) {
  int scores = 0;
  for (const program::Instruction& instruction : program.instructions()) {
    if (!instruction.has_kernel()) continue;
    const program::Kernel& kernel = instruction.kernel();
    const program::Function& function = program.message().functions(kernel.function());
    if (!on_chip[kernel.results(0).buffer()] || !function.has_library()) continue;
    CHECK(function.library().batch_size() > 0);
    ++scores;
  }
  return scores;
}

// Two layers of Llama: 32 positions, heads of 4 elements, so that scores have more elements than
// queries and keys.
std::string WriteLlama() {
  const auto made = zoo::MakeModel("llama", {{"batch", 4},
                                             {"feed-forward", 48},
                                             {"heads", 8},
                                             {"kv-heads", 2},
                                             {"layers", 2},
                                             {"sequence", 32},
                                             {"vocab", 50},
                                             {"width", 32}});
  REQUIRE_THAT(made, IsOk());
  std::string file = std::string(getenv("TEST_TMPDIR")) + "/llama.onnx";
  REQUIRE_THAT(WriteFile(file, made->bytes), IsOk());
  return file;
}

std::shared_ptr<const LoadedProgram> Llama(int devices) {
  static const std::string* const file = new std::string(WriteLlama());
  return CompiledFile(*file, devices);
}

TEST_CASE("scores of attention stay on the chip, with what maps make of them") {
  const auto program = Llama(1);
  const std::vector<bool> on_chip = OnChip(*program);
  CHECK(ScoresOf(*program, on_chip) == 2);  // one a layer
  for (size_t b = 0; b < on_chip.size(); ++b) {
    const Box box = program->BufferBox(static_cast<int>(b), 0);
    if (on_chip[b]) CHECK(Volume(box) == 4 * 8 * 32 * 32);
  }
  // And two maps of each: scaled and masked, and what the second product reads.
  CHECK(std::count(on_chip.begin(), on_chip.end(), true) == 6);
}

TEST_CASE("what a caller sees is in memory") {
  const auto program = Llama(1);
  program::Program message = program->message();
  const std::vector<bool> on_chip = OnChip(*program);
  const auto scores = std::find(on_chip.begin(), on_chip.end(), true) - on_chip.begin();
  program::Port& port = *message.add_outputs();
  port.set_name("scores");
  port.set_buffer(static_cast<int>(scores));
  for (const int64_t dim : message.buffers(port.buffer()).dims()) port.add_shape(dim);
  const auto seen = LoadedProgram::FromMessage(std::move(message));
  REQUIRE_THAT(seen, IsOk());
  CHECK_FALSE(OnChip(**seen)[scores]);
}

TEST_CASE("products without a batch, and small scores, stay in memory") {
  for (const char* name : {"mlp", "conv", "lstm", "gpt"}) {
    INFO(name);
    const std::vector<bool> on_chip = OnChip(*CompiledModel(name, 1));
    CHECK(std::count(on_chip.begin(), on_chip.end(), true) == 0);
  }
}

TEST_CASE("what an exchange moves is in memory") {
  const auto program = Llama(2);
  program::Program message = program->message();
  const std::vector<bool> on_chip = OnChip(*program);
  const auto scores = std::find(on_chip.begin(), on_chip.end(), true) - on_chip.begin();
  REQUIRE(scores < static_cast<int64_t>(on_chip.size()));
  program::Exchange& exchange = *message.add_instructions()->mutable_exchange();
  exchange.set_source(static_cast<int>(scores));
  exchange.set_destination(static_cast<int>(scores));
  exchange.set_partials(1);
  *exchange.mutable_from() = *exchange.mutable_to() = message.buffers(exchange.source()).box();
  const auto moved = LoadedProgram::FromMessage(std::move(message));
  REQUIRE_THAT(moved, IsOk());
  CHECK_FALSE(OnChip(**moved)[scores]);
}

TEST_CASE("fused products take less time, by their bytes alone") {
  const auto program = Llama(1);
  Machine machine;
  machine.name = "memory alone";
  machine.device.bandwidth = 1e9;
  for (int type = 0; type <= static_cast<int>(ElementType::kBool); ++type)
    machine.device.rates[static_cast<ElementType>(type)] = 1e21;
  machine.links.push_back({"link", 1, 0, 1e9, 1, {}});
  machine.device.processors = 1;  // the program is for hosts
  const auto seconds = [&] {
    const auto step = PredictStep(*program, machine, OneProcessPolicy());
    REQUIRE_THAT(step, IsOk());
    return step->seconds;
  };
  const double in_memory = seconds();
  machine.device.fused_products = true;
  const std::vector<bool> on_chip = OnChip(*program);
  double bytes = 0;
  for (const program::Instruction& instruction : program->instructions()) {
    if (!instruction.has_kernel()) continue;
    const auto work = [&](const std::vector<bool>& free) {
      return program::WorkOn(program->message(), program->mesh(), instruction.kernel(), 0, free)
          .kernel.bytes;
    };
    bytes += work({}) - work(on_chip);
  }
  CHECK(bytes > 0);
  CHECK(seconds() == Approx(in_memory - bytes / machine.device.bandwidth));
}

}  // namespace
}  // namespace yuba::runtime
