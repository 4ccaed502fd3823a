// Library calls on fake GPUs: what the fakes of cuBLASLt and cuDNN are told to compute is right,
// and what they do not have runs as the code beside the call.

#ifdef YUBA_WITH_CUDA
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <iostream>
#include <random>
#include <sstream>

#include "opsemantics/base/half.h"
#include "runtime/program/enums.h"
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/cuda/programs.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

// What is written to stderr while it lives.
class Stderr {
 public:
  Stderr() : before_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~Stderr() { std::cerr.rdbuf(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* const before_;
};

// y = x * x as a product of matrices of one element each, with code beside it that computes another
// thing, so that the results say what ran.
runtime::ProgramBuilder SquareOrTwicePlusOne() {
  runtime::ProgramBuilder builder = TwicePlusOne(2);
  program::Function& function = *builder.message().mutable_functions(0);
  program::LibraryIndex& index = *function.mutable_library()->add_batch();
  function.mutable_library()->set_type(program::F32);
  function.mutable_library()->set_accumulator(program::F32);
  index.set_index(0);
  index.set_left_dim(0);
  index.set_right_dim(0);
  index.set_result_dim(0);
  return builder;
}

TEST_CASE("A library call runs as the code beside it where the library does not have it") {
  for (const bool refuse : {false, true}) {
    OnFakes fakes(1);
    Fake().libraries_refuse = refuse;
    const Stderr warnings;
    auto session = runtime::OpenSession(SquareOrTwicePlusOne().Load(), OnCuda());
    const std::vector<float> x = WholeNumbers(kVectorLength);
    REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
    REQUIRE_THAT(session->Step(), IsOk());
    std::vector<float> y;
    for (float value : x) y.push_back(refuse ? 2 * value + 1 : value * value);
    CHECK(runtime::FloatsOf(*session->Get("y")) == y);
    CHECK(session->statistics().library_calls == (refuse ? 0 : 4));
    if (!refuse) {
      CHECK(warnings.text().empty());
      continue;
    }
    CHECK_THAT(
        warnings.text(),
        Catch::StartsWith("warning: without cuBLAS, instruction 0 (kernel y) and 1 more run as "
                          "generated code, which is slower: "));
    const std::string text = warnings.text();
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  }
}

TEST_CASE("Without code beside it a call that the library does not have is an error") {
  OnFakes fakes(1);
  Fake().libraries_refuse = true;
  const auto session = runtime::Session::Open(HalvedProduct({}).Load(), OnCuda());
  CHECK_THAT(session, StatusIs(absl::StatusCode::kUnimplemented, "instruction 0"));
}

TEST_CASE("Workspaces count before memory is allocated") {
  OnFakes fakes(1);
  runtime::ProgramBuilder builder = HalvedProduct({});
  Fake().memory = 2 * builder.message().arena_size() + 600;  // the fake's algorithm takes 512
  const auto session = runtime::Session::Open(builder.Load(), OnCuda());
  CHECK_THAT(session, StatusIs(absl::StatusCode::kResourceExhausted, "for libraries"));
  CHECK(Fake().most_allocated == 0);
}

template <typename Float>
std::string BytesOf(const std::vector<float>& values) {
  std::string bytes;
  for (const Float value : values)
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return bytes;
}

// The numbers are not f32's: what is rounded to f32 on the way is seen.
TEST_CASE("Matrix products of f64 are added up in f64") {
  for (const ProductOrder& order :
       {ProductOrder{"bmk", "bkn", "bmn"}, ProductOrder{"mkb", "nkb", "mnb"},
        ProductOrder{"bmkj", "bjkn", "bmn"}}) {
    OnFakes fakes(1);
    ProductOrder doubles = order;
    doubles.type = doubles.made = program::F64;
    INFO(order.left << " " << order.right << " " << order.result);
    std::vector<std::string> found;
    for (const bool as_f64 : {false, true}) {
      auto session = runtime::OpenSession(HalvedProduct(as_f64 ? doubles : order).Load(), OnCuda());
      for (const char* name : {"left", "right"}) {
        const std::vector<int64_t> dims =
            ProductDims(name == std::string("left") ? order.left : order.right);
        const std::vector<float> values = WholeNumbers(Volume(WholeBox(dims)));
        const std::string bytes = as_f64 ? BytesOf<double>(values) : BytesOf<float>(values);
        const auto type = as_f64 ? ElementType::kF64 : ElementType::kF32;
        REQUIRE_THAT(session->Set(name, {type, dims, bytes}), IsOk());
      }
      REQUIRE_THAT(session->Step(), IsOk());
      found.push_back(session->Get("result")->data);
      CHECK(session->statistics().library_calls == 2);
    }
    std::vector<float> sums(found[0].size() / sizeof(float));  // exact
    std::memcpy(sums.data(), found[0].data(), found[0].size());
    CHECK(found[1] == BytesOf<double>(sums));
  }
}

// A product of bf16 and ReLU in one call.
program::Program ActivatedProduct(program::ElementType made) {
  ProductOrder order;
  order.type = program::BF16;
  order.made = made;
  program::Program message = HalvedProduct(order).message();
  for (program::Function& function : *message.mutable_functions())
    if (function.has_library())
      function.mutable_library()->add_post_ops()->set_kind(program::PostOp::RELU);
  return message;
}

TEST_CASE("Post-ops of small floats are for GPUs, and of results of their type") {
  const auto sums = runtime::LoadedProgram::FromMessage(ActivatedProduct(program::F32));
  CHECK_THAT(sums, StatusIs(absl::StatusCode::kInvalidArgument,
                            "post-ops of a call with a result of another type"));
  const auto small = runtime::LoadedProgram::FromMessage(ActivatedProduct(program::BF16));
  REQUIRE_THAT(small, IsOk());
  CHECK_THAT(runtime::Session::Open(*small, runtime::RunOptions()),
             StatusIs(absl::StatusCode::kInvalidArgument,
                      "post-ops of small floats are for GPUs; compile with --target host"));
}

// Small integers, whose sums are exact.
std::string SmallIntegers(program::ElementType type, int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(static_cast<int>(random() % 5) - 2);
    const uint16_t half = type == program::BF16 ? ToBF16(value) : ToF16(value);
    if (type == program::F32)
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    else
      bytes.append(reinterpret_cast<const char*>(&half), sizeof half);
  }
  return bytes;
}

TEST_CASE("Convolutions of small floats through cuDNN are the host's, kept in f32 too") {
  using program::BF16, program::F16, program::F32;
  for (const auto& [type, made] : {std::pair(F32, F32), std::pair(BF16, F32), std::pair(F16, F32),
                                   std::pair(BF16, BF16), std::pair(F16, F16)}) {
    OnFakes fakes(1);
    INFO(type << " " << made);
    std::vector<std::string> found;
    for (const bool on_gpu : {false, true}) {
      auto session = runtime::OpenSession(Convolved(type, made).Load(),
                                          on_gpu ? OnCuda() : runtime::RunOptions());
      for (const auto& [name, dims] :
           {std::pair("x", kConvolvedInput), std::pair("w", kConvolvedFilter)}) {
        const int64_t count = Volume(WholeBox(dims));
        REQUIRE_THAT(session->Set(name, {FromProto(type), dims, SmallIntegers(type, count, 1)}),
                     IsOk());
      }
      REQUIRE_THAT(session->Step(), IsOk());
      found.push_back(session->Get("y")->data);
      CHECK(session->statistics().library_calls == 1);
    }
    CHECK(found[0] == found[1]);
    CHECK(Fake().convolutions == 1);
  }
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
