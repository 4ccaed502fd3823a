// How fast generated kernels are on this machine, one thread: figures for people, not a test.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/sharding/work.h"
#include "tests/compiler/kernels/kernel_runner.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::kernels {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3),
             m = IndexAffine(4), n = IndexAffine(5), o = IndexAffine(6);

ExprPtr Mul(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {std::move(a), std::move(b)}); }

struct Case {
  const char* name;
  Definition definition;
};

Definition Conv(int64_t channels, int64_t outputs, int64_t size, int64_t kernel, int64_t stride) {
  const int64_t low = kernel / 2, out = size / stride;
  return Define(
      {1, outputs, out, out, channels, kernel, kernel}, 4, Reducer::kSum,
      {{1, channels, size, size}, {outputs, channels, kernel, kernel}},
      Mul(Read(0,
               {i, m, k * stride + n - ConstantAffine(low), l * stride + o - ConstantAffine(low)},
               Number(0)),
          Read(1, {j, m, n, o})));
}

Definition ConvGradient(int64_t stride) {
  const int64_t size = 56, out = size / stride;
  const Affine t = IndexAffine(7), s = IndexAffine(8);
  Definition definition = Define({1, 32, size, size, 64, 3, 3, out, out}, 4, Reducer::kSum,
                                 {{1, 64, out, out}, {64, 32, 3, 3}},
                                 Mul(Read(0, {i, m, t, s}), Read(1, {m, j, n, o})));
  definition.where.push_back({t * stride + n - ConstantAffine(1) - k, true});
  definition.where.push_back({s * stride + o - ConstantAffine(1) - l, true});
  return definition;
}

Definition Gather() {
  Definition definition =
      Define({2048, 768, 50000}, 2, Reducer::kPick, {{50000, 768}, {2048}}, Read(0, {k, j}));
  definition.operands[1].type = ElementType::kI64;
  definition.data_where.push_back(
      {k, Function::kEq, false, Call(Function::kWrap, {Read(1, {i}), Integer(50000)})});
  return definition;
}

Definition Unary(Function function) {
  return Define({512, 4096}, 2, Reducer::kNone, {{512, 4096}}, Call(function, {Read(0, {i, j})}));
}

Definition Half(Definition definition, ElementType type) {
  definition.result.type = type;
  for (TensorType& operand : definition.operands) operand.type = type;
  return definition;
}

std::vector<Case> Cases() {
  const Definition product = Define({512, 512, 512}, 2, Reducer::kSum, {{512, 512}, {512, 512}},
                                    Mul(Read(0, {i, k}), Read(1, {k, j})));
  Definition argmax = Define({512, 4096}, 1, Reducer::kArgMax, {{512, 4096}}, Read(0, {i, j}));
  argmax.result.type = ElementType::kI64;
  return {
      {"matmul", product},
      {"matmul f16", Half(product, ElementType::kF16)},
      {"matmul bf16", Half(product, ElementType::kBF16)},
      {"matmul, right transposed",
       Define({512, 512, 512}, 2, Reducer::kSum, {{512, 512}, {512, 512}},
              Mul(Read(0, {i, k}), Read(1, {j, k})))},
      {"matmul, left transposed",
       Define({512, 512, 512}, 2, Reducer::kSum, {{512, 512}, {512, 512}},
              Mul(Read(0, {k, i}), Read(1, {k, j})))},
      {"matrix * vector", Define({2048, 2048}, 1, Reducer::kSum, {{2048, 2048}, {2048}},
                                 Mul(Read(0, {i, j}), Read(1, {j})))},
      {"conv 3x3 64->64 56x56", Conv(64, 64, 56, 3, 1)},
      {"conv 3x3 s2 64->64 56x56", Conv(64, 64, 56, 3, 2)},
      {"conv 1x1 256->64 56x56", Conv(256, 64, 56, 1, 1)},
      {"conv 3x3 256->256 7x7", Conv(256, 256, 7, 3, 1)},
      {"conv 7x7 s2 3->64 224", Conv(3, 64, 224, 7, 2)},
      {"conv data gradient", ConvGradient(1)},
      {"conv data gradient s2", ConvGradient(2)},
      {"depthwise 3x3",
       Define({1, 64, 56, 56, 3, 3}, 4, Reducer::kSum, {{1, 64, 56, 56}, {64, 3, 3}},
              Mul(Read(0, {i, j, k + m - ConstantAffine(1), l + n - ConstantAffine(1)}, Number(0)),
                  Read(1, {j, m, n})))},
      {"max pool 3x3 s2",
       Define({1, 64, 56, 56, 3, 3}, 4, Reducer::kMax, {{1, 64, 112, 112}},
              Read(0, {i, j, k * 2 + m - ConstantAffine(1), l * 2 + n - ConstantAffine(1)},
                   Number(-std::numeric_limits<double>::infinity())))},
      {"bias add", Define({512, 4096}, 2, Reducer::kNone, {{512, 4096}, {4096}},
                          Call(Function::kAdd, {Read(0, {i, j}), Read(1, {j})}))},
      {"relu", Define({512, 4096}, 2, Reducer::kNone, {{512, 4096}},
                      Call(Function::kMax, {Read(0, {i, j}), Number(0)}))},
      {"scale by channel, 7x7", Define({8, 512, 7, 7}, 4, Reducer::kNone, {{8, 512, 7, 7}, {512}},
                                       Mul(Read(0, {i, j, k, l}), Read(1, {j})))},
      {"exp", Unary(Function::kExp)},
      {"tanh", Unary(Function::kTanh)},
      {"erf", Unary(Function::kErf)},
      {"sig", Unary(Function::kSig)},
      {"log", Unary(Function::kLog)},
      {"sqrt", Unary(Function::kSqrt)},
      {"exp f16", Half(Unary(Function::kExp), ElementType::kF16)},
      {"exp f64", Half(Unary(Function::kExp), ElementType::kF64)},
      {"transpose", Define({1024, 2048}, 2, Reducer::kNone, {{2048, 1024}}, Read(0, {j, i}))},
      {"pad", Define({514, 4098}, 2, Reducer::kNone, {{512, 4096}},
                     Read(0, {i - ConstantAffine(1), j - ConstantAffine(1)}, Number(0)))},
      {"concat",
       Define({512, 4096}, 2, Reducer::kNone, {{512, 1024}, {512, 3072}},
              Call(Function::kSelect, {Call(Function::kLt, {IndexValue(j), Integer(1024)}),
                                       Read(0, {i, j}), Read(1, {i, j - ConstantAffine(1024)})}))},
      {"max over rows", Define({512, 4096}, 1, Reducer::kMax, {{512, 4096}}, Read(0, {i, j}))},
      {"sum over rows", Define({512, 4096}, 1, Reducer::kSum, {{512, 4096}}, Read(0, {i, j}))},
      {"sum over columns", Define({4096, 512}, 1, Reducer::kSum, {{512, 4096}}, Read(0, {j, i}))},
      {"softmax sum",
       Define({512, 4096}, 1, Reducer::kSum, {{512, 4096}, {512}},
              Call(Function::kExp, {Call(Function::kSub, {Read(0, {i, j}), Read(1, {i})})}))},
      {"argmax over rows", argmax},
      {"gather", Gather()},
  };
}

// Seconds that this thread has computed: other programs on the machine do not count.
double Now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

// The least time of a run, in seconds.
double Time(HostKernel kernel, void* const* buffers, const int64_t* arguments) {
  double least = 1e9, total = 0;
  while (total < 0.2) {
    const double start = Now();
    kernel(buffers, arguments);
    const double seconds = Now() - start;
    least = std::min(least, seconds);
    total += seconds;
  }
  return least;
}

void Measure(const Case& c, HostKernel kernel) {
  const Definition& d = c.definition;
  std::vector<std::vector<float>> storage;
  std::vector<int64_t> arguments;
  int64_t elements = ElementCount(d.result);
  for (const Interval& range : WholeRanges(d)) {
    arguments.push_back(range.begin);
    arguments.push_back(range.end);
  }
  std::vector<void*> buffers;
  auto add = [&](const TensorType& type) {
    storage.emplace_back(ElementCount(type) * ByteSize(type.type) / 4 + 1);
    uint64_t state = 1;
    for (float& x : storage.back()) {
      state = state * 6364136223846793005 + 1;
      x = static_cast<float>(state >> 40) / (1 << 24);
    }
    if (ByteSize(type.type) == 2)  // 1 as f16, and 0.0078 as bf16
      std::fill_n(reinterpret_cast<uint16_t*>(storage.back().data()), ElementCount(type), 0x3c00);
    if (!IsFloat(type.type)) {  // indices
      for (int64_t e = 0; e < ElementCount(type); ++e) {
        const int64_t value = e * 37 % 1000;
        std::memcpy(reinterpret_cast<char*>(storage.back().data()) + e * 8, &value, 8);
      }
    }
    buffers.push_back(storage.back().data());
    for (int64_t extent : type.dims) {
      arguments.push_back(0);
      arguments.push_back(extent);
    }
  };
  storage.reserve(d.operands.size() + 1);
  for (const TensorType& type : d.operands) add(type);
  add(d.result);
  const double seconds = Time(kernel, buffers.data(), arguments.data());
  const double operations = d.where.empty() ? WorkOf(d, WholeRanges(d)).operations : 0;
  std::printf("%-28s %9.3f ms %8.2f Gflop/s %8.2f ns/element\n", c.name, seconds * 1e3,
              d.data_where.empty() ? operations / seconds / 1e9 : 0.0, seconds * 1e9 / elements);
}

void Main() {
  const std::vector<Case> cases = Cases();
  std::vector<NamedKernel> named;
  for (const Case& c : cases)
    named.push_back(Alone(absl::StrCat("kernel_", named.size()), c.definition));
  KernelTarget target;
  if (const char* folder = std::getenv("YUBA_DUMP")) target.dump_dir = folder;
  const double start = Now();
  const absl::StatusOr<std::string> bytes = GenerateKernels(named, target);
  YUBA_CHECK(bytes.ok()) << bytes.status().ToString();
  std::printf("%.1f ms a kernel to compile\n", (Now() - start) * 1e3 / cases.size());
  auto object = LoadedObject::Load(*bytes);
  YUBA_CHECK(object.ok()) << object.status().ToString();
  for (size_t c = 0; c < cases.size(); ++c) Measure(cases[c], (*object)->Find(named[c].symbol));
}

}  // namespace
}  // namespace yuba::kernels

int main() { yuba::kernels::Main(); }
