// What the machine has: the same answer each time, and a version and file for all that is found.
#include "runtime/cuda/facts.h"

#include <catch2/catch.hpp>
#include <set>

#include "runtime/devices.h"
#include "runtime/shared_library.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

TEST_CASE("Every component is found with its version or missing with a reason") {
  const runtime::MachineFacts facts = runtime::FindDevices();
  CHECK(facts.processors > 0);
  CHECK(facts.gpus.empty() == !facts.no_gpu.empty());
  std::set<std::string> names;
  for (const runtime::ComponentFacts& component : facts.components) {
    INFO(component.name << ": " << component.detail);
    names.insert(component.name);
    CHECK_FALSE(component.detail.empty());
    CHECK_FALSE(component.use.empty());
    if (component.found && component.name != "driver") {
      CHECK(component.detail.find_first_of("0123456789") == 0);
      CHECK(component.detail.find(".so") != std::string::npos);
    }
  }
  CHECK(names == std::set<std::string>{"driver", "cuBLAS", "cuDNN", "NCCL", "oneDNN", "gloo",
                                       "openmpi", "mpich"});
}

TEST_CASE("A machine without a GPU says so, and why") {
  const absl::StatusOr<std::vector<GpuFacts>> gpus = FindGpus();
  if (gpus.ok()) {
    REQUIRE_FALSE(gpus->empty());
    for (const GpuFacts& gpu : *gpus) {
      CHECK_FALSE(gpu.name.empty());
      CHECK(gpu.memory > 0);
      CHECK(gpu.sm >= 50);
    }
    CHECK_THAT(DriverVersion(), IsOk());
    return;
  }
  REQUIRE_THAT(gpus, StatusIs(absl::StatusCode::kUnavailable));
  CHECK(std::string(gpus.status().message()).find("no GPU: ") == 0);
  CHECK(gpus.status().message().size() > std::string("no GPU: ").size());
}

TEST_CASE("Opening a library twice gives the same answer") {
  for (auto version : {DriverVersion, CublasVersion, CudnnVersion, NcclVersion}) {
    const absl::StatusOr<std::string> first = version(), second = version();
    REQUIRE(first.ok() == second.ok());
    if (first.ok())
      CHECK(*first == *second);
    else
      CHECK(first.status() == second.status());
  }
}

TEST_CASE("A library that is not there, and a function that it does not have") {
  const auto missing = runtime::SharedLibrary::Open({"libno-such-library.so.1", "libnor-this.so"});
  CHECK_THAT(missing, StatusIs(absl::StatusCode::kUnavailable, "libno-such-library.so.1"));
  const auto there = runtime::SharedLibrary::Open({"libno-such-library.so.1", "libm.so.6"});
  REQUIRE_THAT(there, IsOk());
  CHECK(there->path().find("libm.so.6") != std::string::npos);
  double (*cosine)(double) = nullptr;
  REQUIRE_THAT(there->Find("cos", cosine), IsOk());
  CHECK(cosine(0) == 1);
  const absl::Status none = there->Find("no_such_function", cosine);
  CHECK_THAT(none, StatusIs(absl::StatusCode::kUnavailable, "no_such_function"));
  CHECK(cosine == nullptr);
}

}  // namespace
}  // namespace yuba::cuda
