#include "tests/runtime/cuda/fake_launch.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "absl/strings/escaping.h"
#include "absl/strings/strip.h"
#include "catch2/catch.hpp"
#include "compiler/kernels/argument_layout.h"
#include "compiler/kernels/loop_plan.h"
#include "tests/compiler/kernels/kernel_runner.h"
#include "tests/support/status_matchers.h"

namespace yuba::kernels {
namespace {

std::vector<int64_t> seen;  // the arguments of the last call of Note

// In place of a kernel: notes its arguments and computes nothing.
void Note(void* const*, const int64_t* arguments) {
  seen.assign(arguments, arguments + LaunchAtHand().arguments);
}

int64_t TurnsOf(const MergedLoop& loop, const std::vector<int>& indices, const int64_t* arguments) {
  int64_t turns = 1;
  for (const int own : loop.indices) {
    const int index = indices.empty() ? own : indices[own];
    const int64_t begin = arguments[BeginArgument(index)], end = arguments[EndArgument(index)];
    turns *= std::max<int64_t>(end - begin, 0);
  }
  return turns;
}

int64_t PointsOf(const ThreadPlan& plan, const std::vector<int>& indices,
                 const int64_t* arguments) {
  int64_t points = 1;
  for (const MergedLoop& loop : plan.points) points *= TurnsOf(loop, indices, arguments);
  return points;
}

int64_t BlocksOf(const ThreadPlan& plan, const std::vector<int>& indices,
                 const int64_t* arguments) {
  const auto rounded = [](int64_t number, int64_t by) { return (number + by - 1) / by; };
  if (!plan.InTiles()) return rounded(PointsOf(plan, indices, arguments), plan.PointsOfBlock());
  const std::vector<int64_t> sides = plan.Sides();
  int64_t blocks = 1;
  for (size_t l = 0; l < sides.size(); ++l)
    blocks *= rounded(TurnsOf(plan.points[l], indices, arguments), sides[l]);
  return blocks;
}

// The blocks of all sections, as one launch.
void RunSections(void* const* buffers, const int64_t* arguments) {
  const Launch& launch = LaunchAtHand();
  int64_t blocks = 0;
  for (size_t s = 0; s < launch.plans.size(); ++s)
    blocks += BlocksOf(launch.plans[s], launch.sections[s], arguments);
  cuda::RunThreads(*launch.code[0], buffers, arguments, blocks, launch.plans[0].threads, 7);
}

KnownArguments KnownOf(const std::vector<int64_t>& arguments, int indices, Known known) {
  KnownArguments result;
  if (known == Known::kNothing) return result;
  for (int slot = 0; slot < static_cast<int>(arguments.size()); ++slot) {
    const bool first = slot % 2 == 0, of_index = slot < 2 * indices;
    if (known == Known::kButFirst && slot == 1)
      result.push_back({slot, 0});
    else if (known != Known::kExtents || (!first && !of_index))
      result.push_back({-1, arguments[slot]});
    else if (first)
      result.push_back({slot, 0});
    else
      result.push_back({slot - 1, arguments[slot] - arguments[slot - 1]});
  }
  return result;
}

}  // namespace

Launch& LaunchAtHand() {
  static Launch* const launch = new Launch;
  return *launch;
}

void RunLaunch(void* const* buffers, const int64_t* arguments) {
  const Launch& launch = LaunchAtHand();
  if (!launch.sections.empty()) return RunSections(buffers, arguments);
  std::vector<void*> all(buffers, buffers + launch.buffers);
  std::vector<double> parts;
  for (size_t stage = 0; stage < launch.plans.size(); ++stage) {
    const ThreadPlan& plan = launch.plans[stage];
    if (stage == 0) {
      const size_t sums = std::max<size_t>(plan.sums.size(), 1);  // at most 16 bytes each
      parts.assign(2 * sums * plan.parts * PointsOf(plan, {}, arguments), 1e300);
      all.push_back(parts.data());
    }
    const int64_t blocks = BlocksOf(plan, {}, arguments);
    const int times = plan.stage == ThreadPlan::kSumOfParts ? 1 : plan.parts;
    cuda::RunThreads(*launch.code[stage], all.data(), arguments, blocks * times, plan.threads, 7);
  }
}

Object::Object(absl::string_view image) : file_(memfd_create("kernels", 0)) {
  REQUIRE(absl::ConsumePrefix(&image, "ELF "));
  const std::string bytes = absl::HexStringToBytes(image);
  REQUIRE(write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  handle_ = dlopen(("/proc/self/fd/" + std::to_string(file_)).c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle_ != nullptr);
}

Object::~Object() {
  dlclose(handle_);
  close(file_);
}

std::unique_ptr<Object> Prepare(const NamedKernel& kernel, const KernelTarget& target,
                                Generator generate) {
  Launch& launch = LaunchAtHand();
  std::vector<LoopPlan> plans;
  for (const KernelDefinition& each : kernel.definitions)
    plans.push_back(PlanLoops(*each.definition, LoopOptionsFor(target)));
  launch.sections.clear();
  for (const program::Section& section : kernel.sections)
    launch.sections.push_back(kernel.definitions[section.begin].indices);
  launch.plans = kernel.sections.empty() ? PlanThreads(kernel, plans, target)
                                         : PlanSections(kernel, plans, target);
  const absl::StatusOr<std::string> image = generate({kernel}, target);
  REQUIRE_THAT(image, IsOk());
  auto object = std::make_unique<Object>(*image);
  launch.code.clear();
  const size_t stages = kernel.sections.empty() ? launch.plans.size() : 1;
  for (size_t stage = 0; stage < stages; ++stage) {
    launch.code.push_back(
        cuda::FindKernel(object->handle(), SymbolOf(kernel, static_cast<int>(stage))));
    REQUIRE(launch.code.back() != nullptr);
  }
  return object;
}

std::string CompareOnThreads(const Definition& definition, const std::vector<Interval>& ranges,
                             Known known, Arithmetic arithmetic, std::string* text) {
  Launch& launch = LaunchAtHand();
  KernelTarget target(*FindTarget("cuda"));
  target.arithmetic = arithmetic;
  if (const char* folder = std::getenv("YUBA_DUMP")) target.dump_dir = folder;
  NamedKernel kernel = Alone("kernel", definition);
  const ArgumentLayout layout(kernel);
  launch.buffers = layout.tensors();
  launch.arguments = 2 * layout.indices;
  for (const int rank : layout.ranks) launch.arguments += 2 * rank;
  std::mt19937_64 random(1);
  CompareWithInterpreter(definition, Note, ranges, arithmetic, random);
  kernel.known = KnownOf(seen, layout.indices, known);
  const std::unique_ptr<Object> object = Prepare(kernel, target);
  *text = ToString(launch.plans, kernel);
  random.seed(1);
  return CompareWithInterpreter(definition, RunLaunch, ranges, arithmetic, random);
}

}  // namespace yuba::kernels
