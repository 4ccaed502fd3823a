#include "runtime/staging.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kAlignment = 64;  // bytes; of each piece, for any type of elements

}  // namespace

int64_t TakeStaging(int64_t bytes, int64_t& used) {
  const int64_t at = used;
  used += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return at;
}

BoxWalk Packed(BoxWalk walk, size_t buffer) {
  WalkedBuffer& packed = walk.buffers[buffer];
  packed.offset = 0;
  int64_t stride = 1;
  for (size_t d = walk.extents.size(); d-- > 0;) {
    packed.strides[d] = stride;
    stride *= walk.extents[d];
  }
  return walk;
}

}  // namespace yuba::runtime
