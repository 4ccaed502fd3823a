// Opaque functions on fake GPUs: programs that sort give the host's places, short rows and long
// ones; their workspace is known before memory is; the tables of functions agree.

#ifdef YUBA_WITH_CUDA
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "opsemantics/opaque/opaque_function.h"
#include "runtime/cuda/opaque_kernel.h"
#include "runtime/program/opaque_on_gpus.h"
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/cuda/programs.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

// Numbers with many ties.
std::vector<float> Tied(int64_t count) {
  std::vector<float> x;
  for (int64_t i = 0; i < count; ++i) x.push_back(static_cast<float>(i * 7919 % 1009 % 300 - 150));
  for (int64_t i = 3; i < count; i += 50) x[i] = i % 4 == 0 ? 0.0f : -0.0f;
  for (int64_t i = 11; i < count; i += 170) x[i] = std::numeric_limits<float>::quiet_NaN();
  return x;
}

TEST_CASE("Rows are sorted on GPUs as on the host, one tile or many") {
  for (const int64_t length : {1, 6, 100, 2048, 5000}) {
    for (const bool descending : {false, true}) {
      INFO("rows of " << length << ", descending " << descending);
      const std::vector<int64_t> dims = {length, kSortedRows};
      const TensorData x = runtime::FloatTensor(dims, Tied(length * kSortedRows));
      const auto program = Sorted(length, descending).Load();
      std::string expected;
      for (const bool on_gpus : {false, true}) {
        OnFakes fakes(1);
        auto session = runtime::OpenSession(program, on_gpus ? OnCuda() : runtime::RunOptions());
        REQUIRE_THAT(session->Set("x", x), IsOk());
        for (int step = 0; step < 3; ++step) REQUIRE_THAT(session->Step(), IsOk());
        const std::string found = session->Get("y")->data;
        if (!on_gpus) expected = found;
        CHECK((found == expected));
        if (!on_gpus) continue;
        // Of three rows on the fuller device: two buffers of keys and places of four bytes.
        const int64_t workspace = session->statistics().workspace_bytes;
        CHECK(workspace >= (length > 2048 ? 3 * 2 * 8 * length : 0));
        CHECK(workspace <= (length > 2048 ? 3 * 2 * 8 * length + 4 * 256 : 0));
      }
    }
  }
}

TEST_CASE("A GPU without room for a sort's workspace is found before memory is taken") {
  OnFakes fakes(1);
  const auto program = Sorted(5000, false).Load();
  Fake().memory = 2 * program->message().arena_size() + 3 * 5000 * 16;
  const auto session = runtime::Session::Open(program, OnCuda());
  CHECK_THAT(session, StatusIs(absl::StatusCode::kResourceExhausted, "GPU 0 has "));
  CHECK(Fake().most_allocated == 0);
  Fake().memory = 1 << 30;
  CHECK_THAT(runtime::Session::Open(program, OnCuda()), IsOk());
}

TEST_CASE("What GPUs do not compute is said") {
  const auto sorting = [](int64_t length) {
    return OpaqueSignature{{{ElementType::kF32, {length}}}, {ElementType::kI64, {length}}, {0}};
  };
  CHECK(runtime::WhyNotOnGpus("argsort", sorting(8)).empty());
  CHECK(runtime::WhyNotOnGpus("argsort", sorting(runtime::kMostSortedOnGpus)).empty());
  CHECK(runtime::WhyNotOnGpus("argsort", sorting(runtime::kMostSortedOnGpus + 1)) ==
        "on GPUs it sorts rows of at most 4294967295 elements, not 4294967296");
  CHECK(runtime::WhyNotOnGpus("other", sorting(8)) == "it runs on processors only");
}

TEST_CASE("Each function that GPUs compute has a kernel, and no other") {
  std::vector<std::string> said, there;
  for (const char* name : runtime::OpaqueFunctionsOnGpus()) {
    CHECK(FindOpaqueFunction(name) != nullptr);
    said.emplace_back(name);
  }
  for (const char* name : OpaqueKernelNames()) there.emplace_back(name);
  std::sort(said.begin(), said.end());
  std::sort(there.begin(), there.end());
  CHECK(said == there);
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
