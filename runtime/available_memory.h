// How much memory this process can still get: what the machine, the process's control group and its
// own limits (ulimit) leave, whichever is least.
#ifndef YUBA_RUNTIME_AVAILABLE_MEMORY_H_
#define YUBA_RUNTIME_AVAILABLE_MEMORY_H_

#include <cstdint>
#include <string>

namespace yuba::runtime {

struct AvailableMemory {
  int64_t bytes = 0;
  std::string limit;  // what leaves no more: "the machine", "ulimit -v", "the control group"
};

// An estimate: other processes take and free memory meanwhile. Where the system says nothing, it is
// the largest int64_t.
AvailableMemory MemoryAvailable();

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_AVAILABLE_MEMORY_H_
