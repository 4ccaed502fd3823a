// The stand-in for NVIDIA's driver (planning_driver.cc), for tests in which cuDNN plans.
#ifndef YUBA_TESTS_RUNTIME_CUDA_PLANNING_DRIVER_H_
#define YUBA_TESTS_RUNTIME_CUDA_PLANNING_DRIVER_H_

#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "runtime/cuda/libraries.h"
#include "tests/support/command.h"

namespace yuba::cuda {

// The library, which from now on finds the stand-in where it looks for the driver, with or without
// one on the machine: from 9.27 on it does nothing at all without. Null where there is no library:
// the test is skipped and says so.
inline const Cudnn* PlanningCudnn() {
  static void* const driver = dlopen(
      RepositoryFile("tests/runtime/cuda/libplanning_driver.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
  REQUIRE(driver != nullptr);
  const auto library = Cudnn::Open();
  if (library.ok()) return *library;
  WARN("SKIP: " << library.status().message());
  return nullptr;
}

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_PLANNING_DRIVER_H_
