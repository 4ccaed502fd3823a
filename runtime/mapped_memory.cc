#include "runtime/mapped_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "runtime/available_memory.h"

namespace yuba::runtime {

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

absl::Status MappedMemory::Map(int64_t bytes) {
  YUBA_CHECK(data_ == nullptr);
  bytes_ = std::max<int64_t>(bytes, 1);
  void* data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    const std::string why = std::strerror(errno);
    const AvailableMemory available = MemoryAvailable();
    return absl::ResourceExhaustedError(absl::StrCat(bytes, " bytes cannot be had: ", why, "; ",
                                                     available.limit, " leaves ", available.bytes));
  }
  data_ = static_cast<char*>(data);
  return absl::OkStatus();
}

}  // namespace yuba::runtime
