// The programs of real models on made-up machines: what a prediction must keep to, whatever the
// program is.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/exchange_plan.h"
#include "runtime/model/exchange_reads.h"
#include "runtime/model/predict.h"
#include "runtime/program/check_streams.h"
#include "runtime/program/program.h"
#include "runtime/program/work.h"
#include "tests/runtime/model/compiled_model.h"
#include "tests/support/part.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

// Nodes of two devices, joined by slow links of which two devices share one.
Machine SomeMachine(int devices, bool processors) {
  Machine machine;
  machine.name = "some";
  machine.device.bandwidth = 2e10;
  machine.device.launch = 1e-6;
  machine.device.issue = 5e-7;
  machine.device.processors = processors ? 2 : 0;
  for (int type = 0; type <= static_cast<int>(ElementType::kBool); ++type)
    machine.device.rates[static_cast<ElementType>(type)] = 5e10;
  for (int library : {0, 1}) {
    for (KernelModel& model : machine.device.kernels[library]) {
      model.start = 2e-6;
      model.rate_share = library == 1 ? 1 : 0.25;
    }
  }
  machine.links.push_back({"inner", 2, 2e-6, 1e10, 1, {}});
  machine.nodes = (devices + 1) / 2;
  if (machine.nodes > 1) {
    machine.links.push_back({"outer", 2 * machine.nodes, 1e-5, 1e9, 2, {}});
  }
  return machine;
}

double Predicted(const LoadedProgram& program, const Machine& machine, const RunPolicy& policy,
                 bool classes = true) {
  PredictOptions options;
  options.classes = classes;
  const auto prediction = PredictStep(program, machine, policy, options);
  REQUIRE_THAT(prediction, IsOk());
  return prediction->seconds;
}

// Calls test(program, machine, policy) for models on several devices.
template <typename Test>
void ForEachRun(const Test& test) {
  size_t number = 0;
  for (const char* name : {"mlp", "conv", "gpt", "lstm", "moe"}) {
    for (const int devices : {1, 2, 3, 6, 8}) {
      if (!IsTried(number++, 2)) continue;
      for (const bool processors : {false, true}) {
        const auto program = CompiledModel(name, devices, true, processors ? "host" : "cuda");
        CHECK(program::HasStreams(program->message()) == (!processors && devices > 1));
        for (const RunPolicy& policy : {OneProcessPolicy(), RanksPolicy(Sums::kOrdered)}) {
          INFO(name << " on " << devices << " devices, " << policy.name
                    << (processors ? ", shared processors" : ""));
          test(*program, SomeMachine(devices, processors), policy);
        }
      }
    }
  }
}

TEST_CASE("devices by class take as long as one by one") {
  int fewer = 0;
  ForEachRun([&](const LoadedProgram& program, const Machine& machine, const RunPolicy& policy) {
    const double alone = Predicted(program, machine, policy, false);
    CHECK(Predicted(program, machine, policy) == Approx(alone).epsilon(1e-9));
    const auto prediction = PredictStep(program, machine, policy);
    fewer += prediction->list.classes() < program.devices();
  });
  CHECK(fewer > 10);
}

TEST_CASE("a prediction is the same each time") {
  ForEachRun([](const LoadedProgram& program, const Machine& machine, const RunPolicy& policy) {
    CHECK(Predicted(program, machine, policy) == Predicted(program, machine, policy));
  });
}

TEST_CASE("a slower machine is not faster") {
  ForEachRun([](const LoadedProgram& program, const Machine& machine, const RunPolicy& policy) {
    const double before = Predicted(program, machine, policy) * (1 - 1e-9);
    const auto changed = [&](const std::function<void(Machine&)>& change) {
      Machine other = machine;
      change(other);
      return Predicted(program, other, policy);
    };
    for (size_t kind = 0; kind < machine.links.size(); ++kind) {
      CHECK(changed([&](Machine& m) { m.links[kind].latency *= 3; }) >= before);
      CHECK(changed([&](Machine& m) { m.links[kind].bandwidth /= 3; }) >= before);
    }
    CHECK(changed([](Machine& m) { m.device.bandwidth /= 3; }) >= before);
    CHECK(changed([](Machine& m) { m.device.launch *= 3; }) >= before);
    CHECK(changed([](Machine& m) { m.device.issue *= 3; }) >= before);
    CHECK(changed([](Machine& m) {
            for (auto& [type, rate] : m.device.rates) rate /= 3;
          }) >= before);
  });
}

TEST_CASE("a step takes at least what the busiest device computes and the busiest link carries") {
  ForEachRun([](const LoadedProgram& program, const Machine& machine, const RunPolicy& policy) {
    std::vector<double> busy(program.devices(), 0);
    std::vector<std::vector<double>> in(machine.links.size()), out(machine.links.size());
    for (auto* bytes : {&in, &out}) {
      for (auto& of_kind : *bytes) of_kind.resize(program.devices());
    }
    for (const program::Instruction& instruction : program.instructions()) {
      if (instruction.has_kernel()) {
        for (int d = 0; d < program.devices(); ++d) {
          const program::Work work =
              program::WorkOn(program.message(), program.mesh(), instruction.kernel(), d);
          // The kernels of this machine start alike; their times are those of both processors.
          if (work.points > 0) busy[d] += KernelSeconds(machine, work.kernel) - 2e-6;
        }
        continue;
      }
      const ExchangeReads reads = ReadsOf(program, instruction.exchange());
      for (int d = 0; d < program.devices(); ++d) {
        for (const Read& read : reads.reads[d]) {
          const int kind = KindBetween(machine, d, read.source);
          const int ports = machine.links[kind].shared_by;
          in[kind][d / ports] += static_cast<double>(read.bytes);
          out[kind][read.source / ports] += static_cast<double>(read.bytes);
        }
      }
    }
    const double step = Predicted(program, machine, policy) * (1 + 1e-9);
    const int processors = std::max(1, machine.device.processors);
    double all = 0;
    for (const double seconds : busy) {
      CHECK(step >= seconds);
      all += seconds;
    }
    if (machine.device.processors > 0) CHECK(step >= all / processors);
    for (size_t kind = 0; kind < machine.links.size(); ++kind) {
      const LinkModel& link = machine.links[kind];
      for (int d = 0; d < program.devices(); ++d) {
        CHECK(step >= in[kind][d] / (link.bandwidth * link.shared_by));
        CHECK(step >= out[kind][d] / (link.bandwidth * link.shared_by));
      }
    }
  });
}

TEST_CASE("what devices receive is what the run time's plans copy") {
  for (const char* name : {"mlp", "conv", "gpt"}) {
    for (const int devices : {3, 8}) {
      const auto program = CompiledModel(name, devices);
      int64_t bytes = 0, messages = 0;
      for (const program::Instruction& instruction : program->instructions()) {
        if (!instruction.has_exchange()) continue;
        const program::Exchange& exchange = instruction.exchange();
        ExchangePlan plan = PlanExchange(*program, exchange);
        if (exchange.collective() != 0) plan = *PlanCollective(*program, exchange);
        const ExchangeReads reads = ReadsOf(*program, exchange);
        for (int d = 0; d < devices; ++d) {
          std::vector<int> sources;
          std::vector<int64_t> received;
          for (const Read& read : reads.reads[d]) {
            sources.push_back(read.source);
            received.push_back(read.bytes);
            bytes += read.bytes;
            ++messages;
          }
          CHECK(sources == plan.devices[d].sources);
          CHECK(received == plan.devices[d].received);
        }
      }
      const auto prediction =
          PredictStep(*program, SomeMachine(devices, false), OneProcessPolicy());
      REQUIRE_THAT(prediction, IsOk());
      CHECK(prediction->bytes == bytes);
      CHECK(prediction->messages == messages);
      CHECK(bytes > 0);
    }
  }
}

TEST_CASE("a filter that stays the same moves no bytes on a host, which keeps it") {
  const auto program = CompiledModel("conv", 1);
  const auto host = PredictStep(*program, SomeMachine(1, true), OneProcessPolicy());
  const auto other = PredictStep(*program, SomeMachine(1, false), OneProcessPolicy());
  REQUIRE_THAT(host, IsOk());
  REQUIRE_THAT(other, IsOk());
  int kept = 0;
  for (size_t s = 0; s < host->list.steps.size(); ++s) {
    const Step& step = host->list.steps[s];
    const program::Kernel& kernel = program->instructions()[step.instruction].kernel();
    const program::Function& function = program->message().functions(kernel.function());
    double filter = 0;
    if (function.library().kind() == program::LibraryCall::CONVOLUTION) {
      const int buffer = kernel.operands(function.library().right()).buffer();
      filter = static_cast<double>(Volume(program->BufferBox(buffer, 0)) * 4);
      ++kept;
    }
    CHECK(host->list.kernels[step.row][0].bytes + filter ==
          other->list.kernels[other->list.steps[s].row][0].bytes);
  }
  CHECK(kept > 0);
}

TEST_CASE("a program is predicted only on a machine that it is for") {
  const auto program = CompiledModel("mlp", 4, false);
  CHECK_THAT(PredictStep(*program, SomeMachine(2, true), OneProcessPolicy()).status(),
             StatusIs(absl::StatusCode::kInvalidArgument, "is for 4 devices, and some has 2"));
  CHECK_THAT(PredictStep(*program, SomeMachine(4, false), OneProcessPolicy()).status(),
             StatusIs(absl::StatusCode::kInvalidArgument, "compiled for the target host"));
  program::Program old = program->message();
  for (program::Function& function : *old.mutable_functions()) {
    for (program::FunctionDefinition& definition : *function.mutable_definitions()) {
      definition.clear_kernel_class();
      definition.clear_operations();
    }
  }
  const auto loaded = LoadedProgram::FromMessage(old);
  REQUIRE_THAT(loaded, IsOk());
  CHECK_THAT(PredictStep(**loaded, SomeMachine(4, true), OneProcessPolicy()).status(),
             StatusIs(absl::StatusCode::kInvalidArgument, "does not say what its kernels do"));
}

}  // namespace
}  // namespace yuba::runtime
