// Generated kernels compute on fake GPUs, thread by thread, what the interpreter computes: of every
// schedule of threads and every kind of definition, whole and on parts, with arguments of which all
// or nothing is known when their code is generated.
#include <cmath>
#include <memory>
#include <numeric>
#include <random>

#include "catch2/catch.hpp"
#include "compiler/kernels/argument_layout.h"
#include "opsemantics/regions/boxes.h"
#include "tests/compiler/kernels/gpu_kernels.h"
#include "tests/compiler/kernels/kernel_definitions.h"
#include "tests/compiler/kernels/kernel_runner.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/runtime/cuda/fake_launch.h"

namespace yuba::kernels {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3);

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

// The position of the largest (or smallest) of x0[position] / x1[position]: of 0 / 0, which is not
// a number, of infinities and of many equal ones.
Definition Best(Reducer reducer, const std::vector<int64_t>& extents, int outputs,
                const std::vector<Affine>& position) {
  Definition best = Reduce(reducer, extents, outputs, position);
  best.operands.push_back(best.operands[0]);
  best.body = Call(Function::kDiv, {Read(0, position), Read(1, position)});
  best.result.type = ElementType::kI64;
  return best;
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
      {Map({600, 200}, {j, i}), "256 threads in tiles of 16 x 16 across i, 4 x 8 a warp"},
      {Reduce(Reducer::kSum, {33, 128}, 1, {i, j}), "256 threads, 32 a point"},
      {Reduce(Reducer::kMax, {33, 68}, 1, {i, j}), "256 threads, 32 a point"},
      {Reduce(Reducer::kSum, {5, 4096}, 1, {i, j}), "256 threads, 256 a point"},
      {Reduce(Reducer::kMin, {3, 5003}, 1, {i, j}), "1024 threads, 1024 a point"},
      {Reduce(Reducer::kSum, {3, 7, 10, 12}, 1, {j, i, k, l}), "64 threads, 64 a point"},
      {Reduce(Reducer::kSum, {64, 501}, 1, {j, i}), "256 threads, 16 apart a point"},
      {Reduce(Reducer::kProd, {6, 40}, 1, {j, i}), "32 threads, 8 apart a point"},
      {Reduce(Reducer::kSum, {9, 65536}, 1, {i, j}), "1024 threads, 1024 a point in 4 parts"},
      {Reduce(Reducer::kMax, {64, 4099}, 1, {j, i}), "256 threads, 16 apart a point in"},
      {Reduce(Reducer::kSum, {9, 130, 40, 30}, 1, {j, i, k, l}), "1024 threads, 1024 a point in"},
      {Best(Reducer::kArgMax, {5, 70, 40, 30}, 1, {j, i, k, l}), "1024 threads, 1024 a point in"},
      {Best(Reducer::kArgMax, {133, 128}, 1, {i, j}), "256 threads, 32 a point"},
      {Best(Reducer::kArgMin, {70, 5003}, 1, {i, j}),
       "1024 threads, 1024 a point; points i; turns j"},
      {Best(Reducer::kArgMax, {5, 7, 80, 12}, 2, {i, k, j, l}), "256 threads, 256 a point"},
      {Best(Reducer::kArgMax, {9, 65536}, 1, {i, j}), "1024 threads, 1024 a point in 16 parts"},
      {Best(Reducer::kArgMin, {64, 501}, 1, {j, i}), "256 threads, 8 apart a point"},
      {Best(Reducer::kArgMax, {64, 4099}, 1, {j, i}), "256 threads, 8 apart a point in"},
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
        const std::string wrong = CompareOnThreads(
            each.definition, whole, known ? Known::kAll : Known::kNothing, arithmetic, &plan);
        INFO(plan);
        CHECK(wrong == "");
        if (known && arithmetic == Arithmetic::kFloat)
          CHECK(plan.substr(0, each.plan.size()) == each.plan);
      }
    }
  }
}

TEST_CASE("scatters and sums are right where devices differ in the first loop") {
  // y[h, r, c] = sum(t where r == ids[t]) x[t, h, c]: of a place's rows all lanes are known.
  Definition scatter = Define({3, 5, 64, 40}, 3, Reducer::kSum, {{40, 3, 64}, {40}},
                              Read(0, {IndexAffine(3), IndexAffine(0), IndexAffine(2)}));
  scatter.operands[1].type = ElementType::kI64;
  DataCondition condition;
  condition.index = IndexAffine(1);
  condition.value = Read(1, {IndexAffine(3)});
  scatter.data_where = {condition};
  for (const Definition& definition :
       {scatter, Scatter(40, 64, 40), Reduce(Reducer::kSum, {300, 50, 12}, 2, {i, j, k})}) {
    for (const int64_t end : {int64_t{1}, int64_t{2}, definition.indices[0].extent}) {
      std::vector<Interval> ranges = WholeRanges(definition);
      ranges[0] = {0, end};
      std::string plan;
      const std::string wrong =
          CompareOnThreads(definition, ranges, Known::kButFirst, Arithmetic::kFloat, &plan);
      INFO(ToString(definition) << " to " << end << ": " << plan);
      CHECK(wrong == "");
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
      const Known known[] = {Known::kNothing, Known::kExtents, Known::kAll};
      const auto compare = [&](const std::vector<Interval>& ranges, Known what) {
        return CompareOnThreads(definition, ranges, what, Arithmetic::kFloat, &plan);
      };
      CHECK(compare(WholeRanges(definition), Known::kAll) == "");
      CHECK(compare(part, known[number % 3]) == "");
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
  LaunchAtHand().buffers = 3;
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
      CHECK(ToString(LaunchAtHand().plans, kernel) ==
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
    LaunchAtHand().buffers = 9;
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
    CHECK(LaunchAtHand().plans[0].group > 1);
    std::vector<float> x(kRows * columns), other(x.size()), y(x.size()), z(x.size());
    for (size_t e = 0; e < x.size(); ++e) {
      x[e] = static_cast<float>(e * 7 % 31) / 8;
      other[e] = static_cast<float>(e * 5 % 17) / 4;
    }
    std::vector<int64_t> arguments;
    for (const KnownArgument& argument : kernel.known) arguments.push_back(argument.offset);
    void* const buffers[] = {x.data(), other.data(), y.data(), z.data()};
    LaunchAtHand().buffers = 4;
    RunLaunch(buffers, arguments.data());
    // A section computes, bit for bit, what it computes alone.
    NamedKernel alone = softmax.kernel();
    alone.known = AllOf(alone);
    const std::unique_ptr<Object> same = Prepare(alone, KernelTarget(*FindTarget("cuda")));
    LaunchAtHand().buffers = 2;
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

// The result of a definition that is a kernel of its own, of operands with these values.
std::vector<float> ComputedAlone(const Definition& definition,
                                 const std::vector<std::vector<float>*>& operands,
                                 int64_t elements) {
  NamedKernel kernel = Alone("alone", definition);
  kernel.known = AllOf(kernel);
  const std::unique_ptr<Object> object = Prepare(kernel, KernelTarget(*FindTarget("cuda")));
  std::vector<int64_t> arguments;
  for (const KnownArgument& argument : kernel.known) arguments.push_back(argument.offset);
  std::vector<float> result(elements, 99);
  std::vector<void*> buffers;
  for (std::vector<float>* operand : operands) buffers.push_back(operand->data());
  buffers.push_back(result.data());
  LaunchAtHand().buffers = static_cast<int>(buffers.size());
  RunLaunch(buffers.data(), arguments.data());
  return result;
}

// Of exact sums, as a thread's own terms may be added up in any order.
TEST_CASE("sums down columns and what follows them are what they are alone") {
  struct Size {
    int64_t rows, columns;
    size_t launches;
  };
  for (const Size& size : {Size{501, 64, 1}, Size{500, 35, 1}, Size{4099, 64, 2},
                           Size{900, 1000, 2}, Size{7, 64, 1}}) {
    INFO(size.rows << " x " << size.columns);
    const SumsOfColumns sums(size.rows, size.columns);
    std::vector<float> x(size.rows * size.columns), y(x.size());
    for (size_t e = 0; e < x.size(); ++e) {
      x[e] = static_cast<float>(static_cast<int>(e * 7 % 31) - 15) / 8;
      y[e] = static_cast<float>(static_cast<int>(e * 5 % 17) - 8) / 4;
    }
    const std::vector<const Definition*> alone = sums.definitions();
    std::vector<float> s = ComputedAlone(*alone[0], {&x}, size.columns);
    const std::vector<ThreadPlan> plans = LaunchAtHand().plans;
    std::vector<float> m = ComputedAlone(*alone[1], {&s}, size.columns);
    std::vector<float> products = ComputedAlone(*alone[2], {&x, &y}, size.columns);
    const std::vector<float> v = ComputedAlone(*alone[3], {&products, &m}, size.columns);
    for (const bool known : {true, false}) {
      NamedKernel kernel = sums.kernel();
      std::vector<int64_t> arguments;
      for (const KnownArgument& argument : AllOf(kernel)) arguments.push_back(argument.offset);
      if (known) kernel.known = AllOf(kernel);
      const std::unique_ptr<Object> object = Prepare(kernel, KernelTarget(*FindTarget("cuda")));
      std::vector<float> results[3];
      for (std::vector<float>& result : results) result.assign(size.columns, 99);
      void* const buffers[] = {x.data(), y.data(), results[0].data(), results[1].data(),
                               results[2].data()};
      LaunchAtHand().buffers = 5;
      RunLaunch(buffers, arguments.data());
      CHECK(results[0] == s);
      CHECK(results[1] == m);
      CHECK(results[2] == v);
      if (!known) continue;
      // The same threads add up the same terms, in as many parts.
      const std::vector<ThreadPlan>& together = LaunchAtHand().plans;
      CHECK(together.size() == size.launches);
      REQUIRE(plans.size() == size.launches);
      for (size_t stage = 0; stage < plans.size(); ++stage) {
        CHECK(together[stage].threads == plans[stage].threads);
        CHECK(together[stage].group == plans[stage].group);
        CHECK(together[stage].parts == plans[stage].parts);
        CHECK(together[stage].lanes == plans[stage].lanes);
      }
    }
  }
}

}  // namespace
}  // namespace yuba::kernels
