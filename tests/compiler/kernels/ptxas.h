// CUDA's assembler, where this machine has it.
#ifndef YUBA_TESTS_COMPILER_KERNELS_PTXAS_H_
#define YUBA_TESTS_COMPILER_KERNELS_PTXAS_H_

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"

namespace yuba::kernels {

// Its file, from PATH or from where CUDA lies usually; empty where there is none.
inline std::string FindPtxas() {
  const char* path = std::getenv("PATH");
  std::vector<std::string> folders = absl::StrSplit(path == nullptr ? "" : path, ':');
  folders.push_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders) {
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::path(folder) / "ptxas", ignored))
      return folder + "/ptxas";
  }
  return "";
}

}  // namespace yuba::kernels

#endif  // YUBA_TESTS_COMPILER_KERNELS_PTXAS_H_
