// Programs for two streams, and what becomes of them when one number is changed.
#include "runtime/program/check_streams.h"

#include <algorithm>
#include <bitset>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/phases.h"
#include "opsemantics/language/library.h"
#include "runtime/program/all_reduce.h"
#include "runtime/program/check_attention.h"
#include "runtime/program/check_joint_calls.h"
#include "runtime/program/entries.h"
#include "tests/support/status_matchers.h"
#include "tools/calibrate/exchange_program.h"

namespace yuba::compiler {
namespace {

const OperatorLibrary& Library() {
  static const OperatorLibrary* const library = new OperatorLibrary(*OperatorLibrary::BuiltIn());
  return *library;
}

program::Program Compiled(const std::string& name, int devices, bool trained) {
  Compilation compilation;
  compilation.request.model_file = "tests/models/" + name + "/model.onnx";
  compilation.request.import.library = &Library();
  if (trained) {
    onnx::TrainOptions train;
    train.optimizer = "adam";
    train.loss = "softmax-cross-entropy";
    compilation.request.import.train = train;
  }
  compilation.request.search.mesh = MeshOf(devices);
  compilation.request.kernels.code = false;
  compilation.request.kernels.target = kernels::KernelTarget(*kernels::FindTarget("cuda"));
  REQUIRE_THAT(RunPhases(PhaseOptions(), compilation), IsOk());
  return std::move(compilation.program);
}

// All orders that a program promises, from its definition and not from how it is checked: a graph
// of begins and ends of instructions, and who is reached from whom.
class Promised {
 public:
  explicit Promised(const program::Program& program)
      : program_(program), count_(program.instructions_size()), reaches_(2 * count_) {
    REQUIRE(2 * count_ <= static_cast<int>(kMost));
    for (int i = 0; i < count_; ++i) group_.push_back({i, i + 1});
    for (const program::EntryRange& entry : program::EntriesOf(program)) AddGroups(entry);
    for (int i = 0; i < count_; ++i) reaches_[Begin(i)].set(End(i));
    for (int i = 0; i < count_; ++i) AddOrders(i);
    // Whoever is reached has a higher position.
    for (int pass = 0; pass < 3; ++pass) {
      for (int node = 2 * count_; node-- > 0;) {
        for (int other = 0; other < 2 * count_; ++other) {
          if (reaches_[node][other]) reaches_[node] |= reaches_[other];
        }
      }
    }
  }

  // Two instructions that touch the same bytes, one of which writes them, and that may overlap.
  bool HasRace() const {
    for (const program::EntryRange& entry : program::EntriesOf(program_)) {
      for (int j = entry.begin; j < entry.end; ++j) {
        for (int i = entry.begin; i < j; ++i) {
          if (!reaches_[End(i)][Begin(j)] && !IsCall(i, j) && Conflict(i, j)) return true;
        }
      }
    }
    return false;
  }

 private:
  static constexpr size_t kMost = 2048;
  struct Range {
    int begin = 0, end = 0;
  };

  int Begin(int i) const { return 2 * i; }
  int End(int i) const { return 2 * i + 1; }
  bool IsExchange(int i) const { return program_.instructions(i).has_exchange(); }

  void Unite(int begin, int end) {
    const Range all = {std::min(group_[begin].begin, begin), std::max(group_[end - 1].end, end)};
    for (int i = all.begin; i < all.end; ++i) group_[i] = all;
  }

  void AddGroups(const program::EntryRange& entry) {
    for (const program::Attention& attention : program_.attention()) {
      for (const auto& [begin, end] : program::PartsOf(attention)) {
        if (begin >= entry.begin && end <= entry.end) Unite(begin, end);
      }
    }
    for (const program::JointCall& call : program_.joint_calls())
      Unite(program::FirstOf(call), program::FirstOf(call) + 2);
    for (int i = entry.begin; i < entry.end; ++i) {
      if (program_.instructions(i).joins()) Unite(i - 1, i + 1);
      if (i + 1 < entry.end && program::IsAllReduce(program_, i)) Unite(i, i + 2);
    }
  }

  // What stands in one call, in any order there may be; an all-reduce knows its own middle.
  bool IsCall(int i, int j) const {
    if (!IsExchange(i)) return !IsExchange(j) && group_[i].begin == group_[j].begin;
    return j == i + 1 && program::IsAllReduce(program_, i);
  }

  void AddOrders(int i) {
    // The next group of the same stream begins behind all of this one.
    for (int j = group_[i].end; j < count_; ++j) {
      if (IsExchange(j) == IsExchange(i)) reaches_[End(i)].set(Begin(j));
    }
    const int after = program_.instructions(i).after();
    if (after == 0) return;
    const Range other = group_[after - 1];
    for (int a = other.begin; a < other.end; ++a) {
      for (int b = group_[i].begin; b < group_[i].end; ++b) reaches_[End(a)].set(Begin(b));
    }
  }

  bool Overlap(int a, int b) const {
    const program::Buffer &x = program_.buffers(a), &y = program_.buffers(b);
    return x.offset() < y.offset() + y.size() && y.offset() < x.offset() + x.size();
  }

  std::vector<int> Reads(int i) const {
    const program::Instruction& instruction = program_.instructions(i);
    if (instruction.has_exchange()) return {instruction.exchange().source()};
    std::vector<int> reads;
    for (const program::Access& operand : instruction.kernel().operands())
      reads.push_back(operand.buffer());
    return reads;
  }

  std::vector<int> Writes(int i) const {
    const program::Instruction& instruction = program_.instructions(i);
    if (instruction.has_exchange()) return {instruction.exchange().destination()};
    std::vector<int> writes;
    for (const program::Access& result : instruction.kernel().results())
      writes.push_back(result.buffer());
    for (const program::Attention& attention : program_.attention()) {
      if (program::HasBackward(attention) &&
          (i == attention.forward_begin() || i == attention.backward_begin()))
        writes.push_back(attention.row_sums());
    }
    return writes;
  }

  bool Conflict(int i, int j) const {
    const auto overlap = [&](const std::vector<int>& a, const std::vector<int>& b) {
      for (const int x : a) {
        for (const int y : b) {
          if (Overlap(x, y)) return true;
        }
      }
      return false;
    };
    return overlap(Writes(i), Writes(j)) || overlap(Writes(i), Reads(j)) ||
           overlap(Reads(i), Writes(j));
  }

  const program::Program& program_;
  const int count_;
  std::vector<Range> group_;
  std::vector<std::bitset<kMost>> reaches_;
};

// Changes one thing of the schedule; false where it found nothing to change.
bool Mutate(std::mt19937& random, program::Program& program) {
  const auto draw = [&](int below) { return static_cast<int>(random() % below); };
  const int count = program.instructions_size();
  program::Instruction& one = *program.mutable_instructions(draw(count));
  const int before = one.after();
  switch (draw(5)) {
    case 0: one.set_after(0); return before != 0;
    case 1: one.set_after(draw(count + 2)); return one.after() != before;
    case 2: one.set_after(before + draw(5) - 2); return one.after() != before && before > 0;
    case 3:
      if (!one.has_exchange()) return false;
      one.set_joins(!one.joins());
      return true;
    default: {
      program::Buffer& buffer = *program.mutable_buffers(draw(program.buffers_size()));
      const int64_t offset = program.buffers(draw(program.buffers_size())).offset();
      const bool fits = offset + buffer.size() <= program.arena_size();
      if (buffer.substitute() || !fits || offset == buffer.offset()) return false;
      buffer.set_offset(offset);
      return true;
    }
  }
}

TEST_CASE("each of a thousand changed schedules is reported, or does no harm") {
  std::mt19937 random(5);
  int reported = 0, harmless = 0, alarms = 0;
  struct Model {
    const char* name;
    int devices;
    bool trained;
  };
  for (const Model& model : {Model{"mlp", 4, true}, Model{"gpt", 4, false}, Model{"gpt", 2, true},
                             Model{"conv", 4, true}, Model{"moe", 3, false}}) {
    INFO(model.name << " on " << model.devices << (model.trained ? ", trained" : ""));
    const program::Program program = Compiled(model.name, model.devices, model.trained);
    REQUIRE(program::HasStreams(program));
    REQUIRE_THAT(program::CheckStreams(program), IsOk());
    REQUIRE(!Promised(program).HasRace());
    for (int round = 0; round < 200;) {
      program::Program changed = program;
      if (!Mutate(random, changed)) continue;
      ++round;
      const absl::Status status = program::CheckStreams(changed);
      const bool malformed = absl::StrContains(status.message(), " waits for instruction ") ||
                             absl::StrContains(status.message(), " waits by itself") ||
                             absl::StrContains(status.message(), " joins no exchange");
      if (malformed) {
        ++reported;
        continue;
      }
      const bool race = Promised(changed).HasRace();
      reported += !status.ok();
      harmless += status.ok() && !race;
      alarms += !status.ok() && !race;
      INFO(status.message());
      CHECK(!(status.ok() && race));
    }
  }
  CHECK(reported > 500);
  CHECK(harmless > 50);
  CHECK(alarms == 0);
}

TEST_CASE("an error names both instructions") {
  program::Program program = Compiled("mlp", 2, false);
  for (program::Instruction& instruction : *program.mutable_instructions()) {
    if (instruction.has_kernel() && instruction.after() > 0) {
      instruction.set_after(0);
      break;
    }
  }
  // Somebody must still wait, else the program is one for a single stream.
  REQUIRE(program::HasStreams(program));
  const absl::Status status = program::CheckStreams(program);
  CHECK(absl::IsInvalidArgument(status));
  CHECK_THAT(std::string(status.message()), Catch::Matchers::Contains("(kernel ") &&
                                                Catch::Matchers::Contains("(exchange of ") &&
                                                Catch::Matchers::Contains("does not wait for it"));
}

TEST_CASE("a gather does not begin with the sum that it gathers") {
  program::Program sum = tools::ExchangeProgram("all_reduce", 4, 1 << 10);
  REQUIRE(program::IsAllReduce(sum, 0));
  CHECK_THAT(program::CheckStreams(sum), IsOk());
  sum.mutable_instructions(1)->set_joins(true);
  CHECK_THAT(program::CheckStreams(sum),
             StatusIs(absl::StatusCode::kInvalidArgument, "joins the sum that it gathers"));
}

}  // namespace
}  // namespace yuba::compiler
