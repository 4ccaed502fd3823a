#include "runtime/walk.h"

#include <cstring>

#include "opsemantics/base/check.h"

namespace yuba::runtime {
namespace {

template <typename Element>
void CopyRun(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t length) {
  for (int64_t i = 0; i < length; ++i) {
    std::memcpy(to + i * to_stride * static_cast<int64_t>(sizeof(Element)),
                from + i * from_stride * static_cast<int64_t>(sizeof(Element)), sizeof(Element));
  }
}

}  // namespace

std::vector<int64_t> DenseStrides(const Box& box, const DimOrder& order) {
  std::vector<int64_t> strides(box.size());
  int64_t stride = 1;
  for (int place = static_cast<int>(box.size()) - 1; place >= 0; --place) {
    const int d = order.empty() ? place : order[place];
    strides[d] = stride;
    stride *= box[d].size();
  }
  return strides;
}

int64_t BoxWalk::elements() const {
  int64_t product = 1;
  for (int64_t extent : extents) product *= extent;
  return product;
}

BoxWalk WalkOf(const Box& box, absl::Span<const Box> boxes, absl::Span<const DimOrder> orders) {
  YUBA_CHECK(orders.empty() || orders.size() == boxes.size());
  BoxWalk walk;
  walk.buffers.resize(boxes.size());
  if (IsEmpty(box)) {
    walk.extents = {0};
    for (WalkedBuffer& buffer : walk.buffers) buffer.strides = {1};
    return walk;
  }
  std::vector<std::vector<int64_t>> strides;
  for (size_t b = 0; b < boxes.size(); ++b) {
    YUBA_CHECK(Contains(boxes[b], box)) << ToString(box) << " in " << ToString(boxes[b]);
    strides.push_back(DenseStrides(boxes[b], orders.empty() ? DimOrder() : orders[b]));
    for (size_t d = 0; d < box.size(); ++d) {
      walk.buffers[b].offset += (box[d].begin - boxes[b][d].begin) * strides[b][d];
    }
  }
  for (size_t d = 0; d < box.size(); ++d) {
    if (box[d].size() == 1) continue;
    bool merges = !walk.extents.empty();
    for (size_t b = 0; b < boxes.size() && merges; ++b) {
      merges = walk.buffers[b].strides.back() == strides[b][d] * box[d].size();
    }
    if (merges)
      walk.extents.back() *= box[d].size();
    else
      walk.extents.push_back(box[d].size());
    for (size_t b = 0; b < boxes.size(); ++b) {
      if (merges)
        walk.buffers[b].strides.back() = strides[b][d];
      else
        walk.buffers[b].strides.push_back(strides[b][d]);
    }
  }
  if (walk.extents.empty()) {
    walk.extents = {1};
    for (WalkedBuffer& buffer : walk.buffers) buffer.strides = {1};
  }
  return walk;
}

void CopyWalk(const BoxWalk& walk, const char* from, char* to, int64_t element_bytes) {
  const int64_t from_stride = walk.buffers[0].strides.back();
  const int64_t to_stride = walk.buffers[1].strides.back();
  ForEachRun(walk, [&](const std::vector<int64_t>& offsets, int64_t length) {
    const char* source = from + offsets[0] * element_bytes;
    char* target = to + offsets[1] * element_bytes;
    if (from_stride == 1 && to_stride == 1) {
      std::memmove(target, source, length * element_bytes);
    } else if (element_bytes == 1) {
      CopyRun<uint8_t>(source, from_stride, target, to_stride, length);
    } else if (element_bytes == 2) {
      CopyRun<uint16_t>(source, from_stride, target, to_stride, length);
    } else if (element_bytes == 4) {
      CopyRun<uint32_t>(source, from_stride, target, to_stride, length);
    } else {
      CopyRun<uint64_t>(source, from_stride, target, to_stride, length);
    }
  });
}

}  // namespace yuba::runtime
