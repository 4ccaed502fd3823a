#include "runtime/program/checksum.h"

#include <zlib.h>

namespace yuba::runtime {

void Checksum::Add(absl::string_view bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  crc_ = static_cast<uint32_t>(crc32_z(crc_, data, bytes.size()));
  adler_ = static_cast<uint32_t>(adler32_z(adler_, data, bytes.size()));
  length_ += static_cast<int64_t>(bytes.size());
}

}  // namespace yuba::runtime
