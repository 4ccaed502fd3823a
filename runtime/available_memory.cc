#include "runtime/available_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include "absl/types/optional.h"

namespace yuba::runtime {
namespace {

// The number behind `key` in a file of lines as "MemAvailable:   123 kB", in bytes.
absl::optional<int64_t> KilobytesAt(const char* file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string name;
    int64_t kilobytes = 0;
    if (words >> name >> kilobytes && name == key) return kilobytes * 1024;
  }
  return absl::nullopt;
}

// The number in a file of one number; nullopt where the file is not there or says "max".
absl::optional<int64_t> NumberIn(const std::string& file) {
  std::ifstream stream(file);
  int64_t number = 0;
  if (stream >> number) return number;
  return absl::nullopt;
}

// Bytes of files that a group holds in memory, which it gives up where memory is needed.
int64_t FilePagesIn(const std::string& file) {
  std::ifstream stream(file);
  std::string name;
  int64_t sum = 0;
  for (int64_t bytes = 0; stream >> name >> bytes;) {
    if (name == "inactive_file" || name == "active_file") sum += bytes;
  }
  return sum;
}

// What the process's control group (version 2) and those around it leave.
absl::optional<int64_t> LeftByGroups() {
  std::ifstream groups("/proc/self/cgroup");
  absl::optional<int64_t> least;
  for (std::string line; std::getline(groups, line);) {
    if (line.compare(0, 3, "0::") != 0) continue;
    std::string path = line.substr(3);
    while (true) {
      const std::string folder = "/sys/fs/cgroup" + path;
      const auto most = NumberIn(folder + "/memory.max"),
                 used = NumberIn(folder + "/memory.current");
      if (most.has_value() && used.has_value()) {
        const int64_t left = *most - *used + FilePagesIn(folder + "/memory.stat");
        least = std::min(least.value_or(*most), std::max<int64_t>(left, 0));
      }
      const size_t parent = path.rfind('/');
      if (parent == std::string::npos || path.size() <= 1) break;
      path.resize(parent);
    }
  }
  return least;
}

}  // namespace

AvailableMemory MemoryAvailable() {
  AvailableMemory least{std::numeric_limits<int64_t>::max(), "the machine"};
  const auto limit = [&least](absl::optional<int64_t> bytes, const char* by) {
    if (bytes.has_value() && *bytes < least.bytes) least = {*bytes, by};
  };
  if (auto free = KilobytesAt("/proc/meminfo", "MemAvailable:"); free.has_value()) {
    limit(*free + KilobytesAt("/proc/meminfo", "SwapFree:").value_or(0), "the machine");
  }
  limit(LeftByGroups(), "the control group");
  rlimit space = {};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    const int64_t used = KilobytesAt("/proc/self/status", "VmSize:").value_or(0);
    limit(std::max<int64_t>(static_cast<int64_t>(space.rlim_cur) - used, 0), "ulimit -v");
  }
  return least;
}

}  // namespace yuba::runtime
