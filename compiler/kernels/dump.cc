#include "compiler/kernels/dump.h"

#include <filesystem>
#include <fstream>

namespace yuba {

void Dump(const std::string& folder, const std::string& name, const std::string& text) {
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::ofstream(std::filesystem::path(folder) / name, std::ios::binary) << text;
}

}  // namespace yuba
