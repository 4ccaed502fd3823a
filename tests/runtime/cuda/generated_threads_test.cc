// Generated kernels compute on fake GPUs, thread by thread, what the interpreter computes: of every
// schedule of threads and every kind of definition, whole and on parts, with arguments of which all
// or nothing is known when their code is generated.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>

#include "absl/strings/escaping.h"
#include "absl/strings/strip.h"
#include "catch2/catch.hpp"
#include "compiler/kernels/argument_layout.h"
#include "compiler/kernels/kernels.h"
#include "compiler/kernels/loop_plan.h"
#include "compiler/kernels/threads/thread_plan.h"
#include "opsemantics/regions/boxes.h"
#include "tests/compiler/kernels/gpu_kernels.h"
#include "tests/compiler/kernels/kernel_definitions.h"
#include "tests/compiler/kernels/kernel_runner.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/runtime/cuda/fake_warps.h"
#include "tests/support/status_matchers.h"

namespace yuba::kernels {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3);

// The launch at hand: the runner calls plain functions.
struct Launch {
  std::vector<std::unique_ptr<cuda::ObjectKernel>> code;  // [plan]
  std::vector<ThreadPlan> plans;
  // Of a kernel with sections, [plan]: the kernel's indices that the section's first definition
  // has.
  std::vector<std::vector<int>> sections;
  int buffers = 0, arguments = 0;  // of the kernel
};
Launch launch;
std::vector<int64_t> seen;  // the arguments of the last call

// In place of a kernel: notes its arguments and computes nothing.
void Note(void* const*, const int64_t* arguments) {
  seen.assign(arguments, arguments + launch.arguments);
}

int64_t PointsOf(const ThreadPlan& plan, const std::vector<int>& indices,
                 const int64_t* arguments) {
  int64_t points = 1;
  for (const MergedLoop& loop : plan.points) {
    for (const int own : loop.indices) {
      const int index = indices.empty() ? own : indices[own];
      const int64_t begin = arguments[BeginArgument(index)], end = arguments[EndArgument(index)];
      points *= std::max<int64_t>(end - begin, 0);
    }
  }
  return points;
}

int64_t BlocksFor(int64_t points, const ThreadPlan& plan) {
  return (points + plan.PointsOfBlock() - 1) / plan.PointsOfBlock();
}

// The blocks of all sections, as one launch.
void RunSections(void* const* buffers, const int64_t* arguments) {
  int64_t blocks = 0;
  for (size_t s = 0; s < launch.plans.size(); ++s)
    blocks += BlocksFor(PointsOf(launch.plans[s], launch.sections[s], arguments), launch.plans[s]);
  cuda::RunThreads(*launch.code[0], buffers, arguments, blocks, launch.plans[0].threads, 7);
}

// All threads of the launch, as the back end starts them.
void RunLaunch(void* const* buffers, const int64_t* arguments) {
  if (!launch.sections.empty()) return RunSections(buffers, arguments);
  std::vector<void*> all(buffers, buffers + launch.buffers);
  std::vector<double> parts;
  for (size_t stage = 0; stage < launch.plans.size(); ++stage) {
    const ThreadPlan& plan = launch.plans[stage];
    const int64_t points = PointsOf(plan, {}, arguments);
    if (stage == 0) {
      parts.assign(plan.parts * points, 1e300);
      all.push_back(parts.data());
    }
    const int64_t blocks = BlocksFor(points, plan);
    const int times = plan.stage == ThreadPlan::kSumOfParts ? 1 : plan.parts;
    cuda::RunThreads(*launch.code[stage], all.data(), arguments, blocks * times, plan.threads, 7);
  }
}

// A shared object of generated code, opened as the fake driver does it.
class Object {
 public:
  explicit Object(absl::string_view image) : file_(memfd_create("kernels", 0)) {
    REQUIRE(absl::ConsumePrefix(&image, "ELF "));
    const std::string bytes = absl::HexStringToBytes(image);
    REQUIRE(write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    handle_ = dlopen(("/proc/self/fd/" + std::to_string(file_)).c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle_ != nullptr);
  }
  Object(const Object&) = delete;
  ~Object() {
    dlclose(handle_);
    close(file_);
  }
  void* handle() const { return handle_; }

 private:
  int file_;
  void* handle_ = nullptr;
};

// Makes the code of a kernel and fills `launch`, which is as long as the object is there.
std::unique_ptr<Object> Prepare(const NamedKernel& kernel, const KernelTarget& target) {
  std::vector<LoopPlan> plans;
  for (const KernelDefinition& each : kernel.definitions)
    plans.push_back(PlanLoops(*each.definition, LoopOptionsFor(target)));
  launch.sections.clear();
  for (const program::Section& section : kernel.sections)
    launch.sections.push_back(kernel.definitions[section.begin].indices);
  launch.plans = kernel.sections.empty() ? PlanThreads(kernel, plans, target)
                                         : PlanSections(kernel, plans, target);
  const absl::StatusOr<std::string> image = GenerateKernels({kernel}, target);
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

// "" where the kernel computes on `ranges` what the interpreter does, else what is wrong. `text`
// gets the thread plan's text.
std::string Compare(const Definition& definition, const std::vector<Interval>& ranges, bool known,
                    Arithmetic arithmetic, std::string* text) {
  KernelTarget target(*FindTarget("cuda"));
  target.arithmetic = arithmetic;
  if (const char* folder = std::getenv("YUBA_DUMP")) target.dump_dir = folder;
  NamedKernel kernel = Alone("kernel", definition);
  const ArgumentLayout layout(kernel);
  launch.buffers = layout.tensors();
  launch.arguments = 2 * layout.indices;
  for (const int rank : layout.ranks) launch.arguments += 2 * rank;
  std::mt19937_64 random(1);
  if (known) {
    CompareWithInterpreter(definition, Note, ranges, arithmetic, random);
    for (const int64_t argument : seen) kernel.known.push_back({-1, argument});
  }
  const std::unique_ptr<Object> object = Prepare(kernel, target);
  *text = ToString(launch.plans, kernel);
  random.seed(1);
  return CompareWithInterpreter(definition, RunLaunch, ranges, arithmetic, random);
}

// y[r, c] = sum(t where r == ids[t]) x[t, c]: terms to rows of so many columns.
Definition Scatter(int64_t terms, int64_t rows, int64_t columns) {
  Definition scatter = Define({rows, columns, terms}, 2, Reducer::kSum, {{terms, columns}, {terms}},
                              Read(0, {k, j}));
  scatter.operands[1].type = ElementType::kI64;
  DataCondition condition;
  condition.index = i;
  condition.value = Read(1, {k});
  scatter.data_where = {condition};
  return scatter;
}

struct Case {
  Definition definition;
  std::string plan;  // what its text begins with
};

// One for each schedule that a thread plan can have.
std::vector<Case> Schedules() {
  return {
      {Map({64, 64, 32}, {i, j, k}), "256 threads; points i*j*k by 2"},
      {Map({37, 41, 24}, {j, k}), "256 threads; points i j*k"},
      {Map({70001}, {i}), "256 threads; points i by 2"},
      {Map({600, 200}, {j, i}), "256 threads; points i j by 2"},
      {Reduce(Reducer::kSum, {33, 128}, 1, {i, j}), "256 threads, 32 a point"},
      {Reduce(Reducer::kMax, {33, 68}, 1, {i, j}), "256 threads, 32 a point"},
      {Reduce(Reducer::kSum, {5, 4096}, 1, {i, j}), "256 threads, 256 a point"},
      {Reduce(Reducer::kMin, {3, 5003}, 1, {i, j}), "1024 threads, 1024 a point"},
      {Reduce(Reducer::kSum, {3, 7, 10, 12}, 1, {j, i, k, l}), "64 threads, 64 a point"},
      {Reduce(Reducer::kSum, {64, 501}, 1, {j, i}), "256 threads, 16 apart a point"},
      {Reduce(Reducer::kProd, {6, 40}, 1, {j, i}), "32 threads, 8 apart a point"},
      {Reduce(Reducer::kSum, {9, 65536}, 1, {i, j}), "1024 threads, 1024 a point in 4 parts"},
      {Reduce(Reducer::kMax, {64, 4099}, 1, {j, i}), "256 threads, 16 apart a point in"},
      {Scatter(40, 64, 40), "identities, 256 threads; points i*j by 4; then places, 256 threads"},
      {Scatter(300, 9, 2100), "identities, 256 threads; points i*j by 4; then places"},
      {Scatter(70, 5, 35), "identities, 256 threads; points i*j by 4; then places"},
  };
}

TEST_CASE("every schedule of threads computes what the interpreter computes") {
  for (const Case& each : Schedules()) {
    INFO(ToString(each.definition));
    const std::vector<Interval> whole = WholeRanges(each.definition);
    for (const Arithmetic arithmetic : {Arithmetic::kFloat, Arithmetic::kHash}) {
      for (const bool known : {true, false}) {
        std::string plan;
        const std::string wrong = Compare(each.definition, whole, known, arithmetic, &plan);
        INFO(plan);
        CHECK(wrong == "");
        if (known && arithmetic == Arithmetic::kFloat)
          CHECK(plan.substr(0, each.plan.size()) == each.plan);
      }
    }
  }
}

TEST_CASE("every kind of definition is right on threads, whole and on parts") {
  size_t number = 0;
  for (const DefinitionGroup& group : KernelDefinitions()) {
    for (const Definition& definition : group.definitions) {
      std::mt19937_64 random(number++);
      const std::vector<Interval> part = RandomRanges(definition, random);
      INFO(ToString(definition) << " on " << ToString(Box(part)));
      std::string plan;
      CHECK(Compare(definition, WholeRanges(definition), true, Arithmetic::kFloat, &plan) == "");
      CHECK(Compare(definition, part, number % 3 != 0, Arithmetic::kFloat, &plan) == "");
    }
  }
}

TEST_CASE("definitions that go through a row differently share nothing that they read of it") {
  constexpr int64_t kRows = 3, kShort = 160, kLong = 200;
  const auto sum = [&](int64_t terms) {
    return Define({kRows, terms}, 1, Reducer::kSum, {{kRows, kLong}}, Read(0, {i, j}));
  };
  const Definition first = sum(kShort), second = sum(kLong);
  NamedKernel kernel;
  kernel.symbol = "kernel";
  kernel.shared = 1;
  const KernelTensor x{KernelTensor::kOperand, 0};
  kernel.definitions = {{&first, {0, 1}, {x}, {KernelTensor::kResult, 0}},
                        {&second, {0, 2}, {x}, {KernelTensor::kResult, 1}}};
  kernel.known = AllOf(kernel);
  const std::unique_ptr<Object> object = Prepare(kernel, KernelTarget(*FindTarget("cuda")));
  std::vector<int64_t> arguments;
  for (const KnownArgument& known : kernel.known) arguments.push_back(known.offset);
  std::vector<float> values(kRows * kLong), short_sums(kRows), long_sums(kRows);
  for (size_t e = 0; e < values.size(); ++e) values[e] = static_cast<float>(e % 31);
  void* const buffers[] = {values.data(), short_sums.data(), long_sums.data()};
  launch.buffers = 3;
  RunLaunch(buffers, arguments.data());
  for (int64_t row = 0; row < kRows; ++row) {
    const auto begin = values.begin() + row * kLong;
    CHECK(short_sums[row] == std::accumulate(begin, begin + kShort, 0.0f));  // exact
    CHECK(long_sums[row] == std::accumulate(begin, begin + kLong, 0.0f));
  }
}

// Sections of unequal extents: the update of a matrix m with its weight w, a transposed row of
// another matrix, and a number. Operands: 0 m, 1 g, 2 w, 3 x, 4 n. Results: 0 m, 1 w, both in
// place, 2 y, 3 z.
class Sections {
 public:
  Sections() {
    const std::vector<int64_t> matrix = {37, 24};
    const auto times = [](double factor, ExprPtr value) {
      return Call(Function::kMul, {Number(factor), std::move(value)});
    };
    moment_ = Define(matrix, 2, Reducer::kNone, {matrix, matrix},
                     Call(Function::kAdd, {times(0.5, Read(0, {i, j})), Read(1, {i, j})}));
    weight_ = Define(matrix, 2, Reducer::kNone, {matrix, matrix},
                     Call(Function::kSub, {Read(0, {i, j}), times(0.25, Read(1, {i, j}))}));
    turned_ = Map({1000, 3}, {j, i});
    number_ = Define({}, 0, Reducer::kNone, {{}}, Call(Function::kNeg, {Read(0, {})}));
    const auto operand = [](int n) { return KernelTensor{KernelTensor::kOperand, n}; };
    const auto result = [](int n) { return KernelTensor{KernelTensor::kResult, n}; };
    kernel_.symbol = "kernel";
    kernel_.definitions = {{&moment_, {0, 1}, {operand(0), operand(1)}, result(0)},
                           {&weight_, {0, 1}, {operand(2), result(0)}, result(1)},
                           {&turned_, {2, 3}, {operand(3)}, result(2)},
                           {&number_, {}, {operand(4)}, result(3)}};
    kernel_.sections = {{0, 2, 2}, {2, 3, 0}, {3, 4, 0}};
    kernel_.overwritten_by = {0, -1, 1, -1, -1};
  }
  Sections(const Sections&) = delete;
  const NamedKernel& kernel() const { return kernel_; }

 private:
  Definition moment_, weight_, turned_, number_;
  NamedKernel kernel_;
};

TEST_CASE("sections share one launch, whatever their extents, and each computes all of its own") {
  const Sections sections;
  for (const bool known : {true, false}) {
    NamedKernel kernel = sections.kernel();
    std::vector<int64_t> arguments;
    for (const KnownArgument& argument : AllOf(kernel)) arguments.push_back(argument.offset);
    if (known) kernel.known = AllOf(kernel);
    const std::unique_ptr<Object> object = Prepare(kernel, KernelTarget(*FindTarget("cuda")));
    if (known) {
      CHECK(ToString(launch.plans, kernel) ==
            "256 threads; points i*j; beside 256 threads; points i j; beside 256 threads; points ");
    }
    std::vector<float> m(37 * 24), g(m.size()), w(m.size()), x(3000), n = {5}, y(3000, 99),
                                                                      z = {99};
    for (size_t e = 0; e < m.size(); ++e) {
      m[e] = static_cast<float>(e % 31);
      g[e] = static_cast<float>(e % 17);
      w[e] = static_cast<float>(e % 13);
    }
    std::iota(x.begin(), x.end(), 1.0f);
    const std::vector<float> before_m = m, before_w = w;
    void* const buffers[] = {m.data(), g.data(), w.data(), x.data(), n.data(),
                             m.data(), w.data(), y.data(), z.data()};
    launch.buffers = 9;
    RunLaunch(buffers, arguments.data());
    for (size_t e = 0; e < m.size(); ++e) {
      CHECK(m[e] == 0.5f * before_m[e] + g[e]);
      CHECK(w[e] == before_w[e] - 0.25f * m[e]);
    }
    for (int64_t r = 0; r < 1000; ++r) {
      for (int64_t c = 0; c < 3; ++c) CHECK(y[r * 3 + c] == -x[c * 1000 + r]);
    }
    CHECK(z[0] == -5);
    // A device may have nothing of a section.
    arguments[EndArgument(2)] = 0;
    if (known) continue;
    std::fill(y.begin(), y.end(), 99.0f);
    z[0] = 99;
    RunLaunch(buffers, arguments.data());
    CHECK(std::count(y.begin(), y.end(), 99.0f) == 3000);
    CHECK(z[0] == -5);
  }
}

// Two kernels that are alike as sections of one, each with tensors and indices of its own.
NamedKernel Twice(const NamedKernel& kernel, int internals) {
  const ArgumentLayout layout(kernel);
  const int count = static_cast<int>(kernel.definitions.size());
  NamedKernel twice = kernel;
  for (KernelDefinition definition : kernel.definitions) {
    const auto move = [&](KernelTensor& tensor) {
      tensor.number += tensor.kind == KernelTensor::kOperand  ? layout.operands
                       : tensor.kind == KernelTensor::kResult ? layout.tensors() - layout.operands
                                                              : internals;
    };
    for (int& index : definition.indices) index += layout.indices;
    for (KernelTensor& tensor : definition.operands) move(tensor);
    move(definition.computes);
    twice.definitions.push_back(std::move(definition));
  }
  twice.sections = {{0, count, kernel.shared}, {count, 2 * count, kernel.shared}};
  return twice;
}

TEST_CASE("rows that are alike are sections of one launch, each group with memory of its own") {
  for (const int64_t columns : {160, 2048}) {  // a warp or a block for each row
    constexpr int64_t kRows = 7;
    const Softmax softmax(kRows, columns);
    NamedKernel kernel = Twice(softmax.kernel(), 2);
    kernel.known = AllOf(kernel);
    const std::unique_ptr<Object> object = Prepare(kernel, KernelTarget(*FindTarget("cuda")));
    CHECK(launch.plans[0].group > 1);
    std::vector<float> x(kRows * columns), other(x.size()), y(x.size()), z(x.size());
    for (size_t e = 0; e < x.size(); ++e) {
      x[e] = static_cast<float>(e * 7 % 31) / 8;
      other[e] = static_cast<float>(e * 5 % 17) / 4;
    }
    std::vector<int64_t> arguments;
    for (const KnownArgument& argument : kernel.known) arguments.push_back(argument.offset);
    void* const buffers[] = {x.data(), other.data(), y.data(), z.data()};
    launch.buffers = 4;
    RunLaunch(buffers, arguments.data());
    // A section computes, bit for bit, what it computes alone.
    NamedKernel alone = softmax.kernel();
    alone.known = AllOf(alone);
    const std::unique_ptr<Object> same = Prepare(alone, KernelTarget(*FindTarget("cuda")));
    launch.buffers = 2;
    std::vector<int64_t> own;
    for (const KnownArgument& argument : alone.known) own.push_back(argument.offset);
    std::vector<float> expected(x.size());
    void* const first[] = {x.data(), expected.data()};
    RunLaunch(first, own.data());
    CHECK(y == expected);
    void* const second[] = {other.data(), expected.data()};
    RunLaunch(second, own.data());
    CHECK(z == expected);
    CHECK(std::abs(std::accumulate(z.begin(), z.end(), 0.0) - kRows) < 1e-4);
  }
}

}  // namespace
}  // namespace yuba::kernels
