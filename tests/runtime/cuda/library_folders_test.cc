// Libraries are found in the folder that is named, and in Python environments.
#include "runtime/cuda/library_folders.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "runtime/shared_library.h"
#include "tests/support/command.h"

namespace yuba::cuda {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a Python environment's folders of NVIDIA's libraries are found") {
  const std::string environment = ScratchFolder("environment");
  const std::string nccl = environment + "/lib/python3.11/site-packages/nvidia/nccl/lib";
  fs::create_directories(nccl);
  fs::create_directories(environment + "/lib/python3.11/site-packages/nvidia/nccl/include");
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    setenv(variable, environment.c_str(), 1);
    const std::vector<std::string> found = PythonLibraryFolders();
    REQUIRE_FALSE(found.empty());
    CHECK(found[0] == nccl);
    unsetenv(variable);
  }
}

TEST_CASE("a folder that is named comes before the loader's path") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const std::string named = "yuba devices --cuda-libs ";
  const std::string folder = ScratchFolder("named");
  const auto known = runtime::SharedLibrary::Open({"libnccl.so.2"});
  if (!known.ok()) {
    WARN("SKIP: no NCCL in the loader's path");
    return;
  }
  CHECK(Succeed(named + folder).out.find(known->path()) != std::string::npos);
  fs::create_symlink(known->path(), folder + "/libnccl.so.2");
  CHECK(Succeed(named + folder).out.find(folder + "/libnccl.so.2") != std::string::npos);
  CHECK(RunCommand(named + folder + "/nowhere").exit_code == 2);
}

}  // namespace
}  // namespace yuba::cuda
