// The checksum of program files: zlib's CRC-32 and Adler-32 of the bytes, 64 bits together.
#ifndef YUBA_RUNTIME_PROGRAM_CHECKSUM_H_
#define YUBA_RUNTIME_PROGRAM_CHECKSUM_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace yuba::runtime {

class Checksum {
 public:
  void Add(absl::string_view bytes);
  int64_t length() const { return length_; }  // bytes added so far
  uint64_t value() const { return uint64_t{crc_} << 32 | adler_; }

 private:
  uint32_t crc_ = 0, adler_ = 1;  // of no bytes
  int64_t length_ = 0;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_CHECKSUM_H_
