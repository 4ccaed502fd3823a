// Memory from the system, for arenas, workspaces and what is kept beside them.
#ifndef YUBA_RUNTIME_MAPPED_MEMORY_H_
#define YUBA_RUNTIME_MAPPED_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"

namespace yuba::runtime {

// Anonymous memory, page-aligned and zeroed; freed with the object. Pages that are never touched
// cost nothing.
class MappedMemory {
 public:
  MappedMemory() = default;
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  // Called once; ResourceExhausted where the system has not that much.
  absl::Status Map(int64_t bytes);
  char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }  // at least 1 once it is mapped

 private:
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MAPPED_MEMORY_H_
