// What threads may share out of generated code, and that no element's bits depend on it: kernels
// run whole and in all the parts that a split allows, on values whose functions round differently
// in vectors and alone.
#include "compiler/kernels/index_splits.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "compiler/kernels/loop_plan.h"
#include "tests/compiler/kernels/kernel_definitions.h"
#include "tests/compiler/kernels/kernel_runner.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/support/status_matchers.h"

namespace yuba::kernels {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2);

ExprPtr Mul(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {std::move(a), std::move(b)}); }
ExprPtr Exp(ExprPtr a) { return Call(Function::kExp, {std::move(a)}); }

// "i:1@0 j:256@1": index, step, dimension of the result.
std::string Splits(const Definition& definition) {
  std::string text;
  for (const program::IndexSplit& split : SplitsOf(definition, Arithmetic::kFloat)) {
    absl::StrAppend(&text, text.empty() ? "" : " ", definition.indices[split.index()].name, ":",
                    split.step(), "@", split.result_dim());
  }
  return text;
}

TEST_CASE("outer loops are shared out by single values, what is vectorised by whole vectors") {
  CHECK(Splits(Define({8, 64}, 2, Reducer::kNone, {{8, 64}}, Exp(Read(0, {i, j})))) ==
        "i:1@0 j:256@1");
  CHECK(Splits(Define({8, 64, 32}, 2, Reducer::kSum, {{8, 32}, {64, 32}},
                      Mul(Read(0, {i, k}), Read(1, {j, k})))) == "i:1@0 j:1@1");
  CHECK(Splits(Define({8, 64, 32}, 2, Reducer::kSum, {{8, 32}, {32, 64}},
                      Mul(Read(0, {i, k}), Read(1, {k, j})))) == "i:4@0 j:512@1");
  // A loop of one turn is none, so the one before it is vectorised.
  CHECK(Splits(Define({64, 1}, 2, Reducer::kNone, {{64, 1}}, Exp(Read(0, {i, j})))) == "i:256@0");
}

TEST_CASE("what cannot be told apart by its position, or moves in steps, is not shared out") {
  // Every second element, along the innermost loop.
  CHECK(Splits(Define({64}, 1, Reducer::kNone, {{128}}, Exp(Read(0, {i * 2})))) == "");
  // Where padding bounds the row its vectors may begin anywhere.
  CHECK(Splits(Define({64, 3}, 1, Reducer::kSum, {{64}, {3}},
                      Mul(Read(0, {i + j - ConstantAffine(1)}, Number(0)), Read(1, {j})))) == "");
  // dx[i] = sum(j, k where j + 2k == i) f[j] dy[k]: i is solved.
  Definition gradient =
      Define({64, 3, 32}, 1, Reducer::kSum, {{3}, {32}}, Mul(Read(0, {j}), Read(1, {k})));
  gradient.where.push_back({j + k * 2 - i, true});
  CHECK(Splits(gradient) == "");
}

struct Tensors {
  std::vector<std::vector<char>> bytes;  // operands, then the result
  std::vector<int64_t> boxes;            // (origin, extent) of each dimension of each
};

Tensors MakeTensors(const Definition& definition) {
  Tensors tensors;
  std::mt19937_64 random(3);
  const auto add = [&](const TensorType& type) {
    const int64_t size = ElementCount(type) * ByteSize(type.type);
    std::vector<char> bytes(size);
    for (int64_t at = 0; at + 4 <= size; at += 4) {
      const float value = static_cast<float>(random() % 1000) / 250.0f - 2.0f;
      std::memcpy(&bytes[at], &value, type.type == ElementType::kF32 ? 4 : 0);
      // The upper half of a float in each half, so that f16 and bf16 are finite.
      if (ByteSize(type.type) == 2) std::memcpy(&bytes[at], "\x80\x3e\x40\x3f", 4);
    }
    tensors.bytes.push_back(std::move(bytes));
    for (int64_t dim : type.dims) tensors.boxes.insert(tensors.boxes.end(), {0, dim});
  };
  for (const TensorType& operand : definition.operands) add(operand);
  add(definition.result);
  std::fill(tensors.bytes.back().begin(), tensors.bytes.back().end(), '\x5a');
  return tensors;
}

// The result's bytes after one call for each pair of neighbours in `ends` along `index`.
std::vector<char> RunInParts(const Definition& definition, runtime::HostKernel kernel,
                             Tensors tensors, int index, const std::vector<int64_t>& ends) {
  std::vector<void*> pointers;
  for (std::vector<char>& bytes : tensors.bytes) pointers.push_back(bytes.data());
  for (size_t part = 0; part + 1 < ends.size(); ++part) {
    std::vector<int64_t> arguments;
    for (const Index& each : definition.indices) {
      arguments.insert(arguments.end(), {0, each.extent});
    }
    arguments[BeginArgument(index)] = ends[part];
    arguments[EndArgument(index)] = ends[part + 1];
    arguments.insert(arguments.end(), tensors.boxes.begin(), tensors.boxes.end());
    kernel(pointers.data(), arguments.data());
  }
  return tensors.bytes.back();
}

// Returns how many splits were tried.
int CheckSplits(const std::vector<Definition>& definitions, const std::string& cpu) {
  std::vector<NamedKernel> named;
  for (const Definition& definition : definitions) {
    named.push_back(Alone(absl::StrCat("k", named.size()), definition));
  }
  KernelTarget target;
  target.cpu = cpu;
  const absl::StatusOr<std::string> code = GenerateKernels(named, target);
  REQUIRE_THAT(code, IsOk());
  const auto object = LoadedObject::Load(*code);
  REQUIRE_THAT(object, IsOk());
  int tried = 0;
  for (const NamedKernel& each : named) {
    const Definition& definition = *each.definitions[0].definition;
    const runtime::HostKernel kernel = (*object)->Find(each.symbol);
    const Tensors tensors = MakeTensors(definition);
    for (const program::IndexSplit& split : SplitsOf(definition, Arithmetic::kFloat)) {
      const int64_t extent = definition.indices[split.index()].extent;
      const std::vector<char> whole =
          RunInParts(definition, kernel, tensors, split.index(), {0, extent});
      std::vector<int64_t> ends;
      for (int64_t end = 0; end < extent; end += split.step()) ends.push_back(end);
      ends.push_back(extent);
      INFO(ToString(definition) << " along index " << split.index());
      CHECK(RunInParts(definition, kernel, tensors, split.index(), ends) == whole);
      ++tried;
    }
  }
  return tried;
}

Definition OfType(Definition definition, ElementType type) {
  definition.result.type = type;
  for (TensorType& operand : definition.operands) operand.type = type;
  return definition;
}

std::vector<Definition> LongDefinitions() {
  const Definition product = Define({13, 1307, 7}, 2, Reducer::kSum, {{13, 7}, {7, 1307}},
                                    Mul(Exp(Read(0, {i, k})), Read(1, {k, j})));
  const Definition map =
      Define({1307}, 1, Reducer::kNone, {{1307}, {1307}}, Exp(Mul(Read(0, {i}), Read(1, {i}))));
  return {
      map,
      OfType(map, ElementType::kBF16),
      OfType(map, ElementType::kF16),
      product,
      OfType(product, ElementType::kBF16),
      Define({7, 601}, 2, Reducer::kNone, {{601, 7}}, Exp(Read(0, {j, i}))),
      Define({9, 803}, 1, Reducer::kSum, {{9, 803}}, Exp(Read(0, {i, j}))),
      Define({803, 9}, 1, Reducer::kSum, {{9, 803}}, Exp(Read(0, {j, i}))),
      Define({17, 803}, 1, Reducer::kMax, {{17, 803}}, Read(0, {i, j})),
  };
}

TEST_CASE("long kernels give the same bits in parts") {
  CHECK(CheckSplits(LongDefinitions(), "x86-64-v3") >= 12);
}

TEST_CASE("long kernels give the same bits in parts, in longer vectors") {
  if (!__builtin_cpu_supports("avx512vl")) return;
  CHECK(CheckSplits(LongDefinitions(), "x86-64-v4") >= 12);
}

TEST_CASE("kernels of all kinds give the same bits in parts") {
  int tried = 0;
  for (const DefinitionGroup& group : KernelDefinitions()) {
    std::vector<Definition> floats;
    for (const Definition& definition : group.definitions) {
      const bool data = !definition.data_where.empty();  // indices in data must be in range
      if (!data) floats.push_back(definition);
    }
    if (!floats.empty()) tried += CheckSplits(floats, "x86-64-v3");
  }
  CHECK(tried > 100);
}

}  // namespace
}  // namespace yuba::kernels
