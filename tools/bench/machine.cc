#include "tools/bench/machine.h"

#include <filesystem>
#include <fstream>

namespace yuba::tools {

std::string ThisProgram() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string MachineName() {
  std::ifstream facts("/proc/cpuinfo");
  std::string line;
  while (std::getline(facts, line)) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace yuba::tools
