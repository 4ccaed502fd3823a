#include "runtime/host/widened_call.h"

#include <algorithm>
#include <utility>

#include "opsemantics/base/check.h"
#include "runtime/host/small_floats.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kAlignment = 16;  // floats
// The fewest elements that are worth a thread: 10 us of one core, a wake-up.
constexpr int64_t kWorthThread = int64_t{1} << 15;

int64_t Aligned(int64_t floats) { return (floats + kAlignment - 1) / kAlignment * kAlignment; }

class WidenedCall : public LibraryKernel {
 public:
  WidenedCall(std::unique_ptr<LibraryKernel> call, const LibraryShape& shape,
              const CallExtents& extents, ThreadTeam& team)
      : call_(std::move(call)), shape_(shape), extents_(extents), team_(team) {
    YUBA_CHECK(ByteSize(shape.type) == 2) << Name(shape.type);
  }

  int64_t workspace_bytes() const override {
    const int64_t floats = Aligned(extents_.left) + Aligned(extents_.right) + ResultFloats();
    return floats * static_cast<int64_t>(sizeof(float)) + call_->workspace_bytes();
  }
  int64_t kept_bytes() const override { return call_->kept_bytes(); }
  void ForgetKept() override {
    is_kept_ = false;
    call_->ForgetKept();
  }

  absl::Status Run(const LibraryBuffers& buffers, char* workspace) override {
    float* const wide_left = reinterpret_cast<float*>(workspace);
    float* const wide_right = wide_left + Aligned(extents_.left);
    float* const wide_result = wide_right + Aligned(extents_.right);
    Widen(buffers.left, extents_.left, wide_left);
    if (!is_kept_) Widen(buffers.right, extents_.right, wide_right);
    const bool narrows = shape_.result_type != ElementType::kF32;
    LibraryBuffers wide;
    wide.left = wide_left;
    wide.right = wide_right;
    wide.result = narrows ? wide_result : buffers.result;
    const absl::Status status =
        call_->Run(wide, reinterpret_cast<char*>(wide_result + ResultFloats()));
    if (!status.ok()) return status;
    is_kept_ = call_->kept_bytes() > 0;
    if (narrows) Narrow(wide_result, static_cast<char*>(buffers.result));
    return absl::OkStatus();
  }

 private:
  int64_t ResultFloats() const {
    return shape_.result_type == ElementType::kF32 ? 0 : Aligned(extents_.result);
  }

  // Calls convert(begin, count) for parts of `count` elements, one a thread.
  template <typename Convert>
  void Share(int64_t count, const Convert& convert) const {
    const int64_t parts = std::clamp<int64_t>(count / kWorthThread, 1, team_.threads());
    team_.Run(static_cast<int>(parts), [&](int part) {
      const int64_t begin = part * count / parts;
      convert(begin, (part + 1) * count / parts - begin);
    });
  }

  void Widen(const void* from, int64_t count, float* to) const {
    const char* const bytes = static_cast<const char*>(from);
    Share(count, [&](int64_t begin, int64_t part) {
      ToFloats(shape_.type, bytes + begin * ByteSize(shape_.type), part, to + begin);
    });
  }

  // Only the box that the call writes: what else the buffer has stays.
  void Narrow(const float* from, char* to) const {
    const ElementType type = shape_.result_type;
    ForEachRun(shape_.result, [&](const std::vector<int64_t>& offsets, int64_t length) {
      const int64_t offset = offsets[0], stride = shape_.result.buffers[0].strides.back();
      if (stride != 1) {
        for (int64_t i = offset; i < offset + length * stride; i += stride)
          FromFloats(type, from + i, 1, to + i * ByteSize(type));
        return;
      }
      Share(length, [&](int64_t begin, int64_t part) {
        const int64_t at = offset + begin;
        FromFloats(type, from + at, part, to + at * ByteSize(type));
      });
    });
  }

  const std::unique_ptr<LibraryKernel> call_;
  const LibraryShape shape_;
  const CallExtents extents_;
  ThreadTeam& team_;
  bool is_kept_ = false;  // `call_` keeps what the right buffer holds
};

}  // namespace

std::unique_ptr<LibraryKernel> Widened(std::unique_ptr<LibraryKernel> call,
                                       const LibraryShape& shape, const CallExtents& extents,
                                       ThreadTeam& team) {
  return std::make_unique<WidenedCall>(std::move(call), shape, extents, team);
}

}  // namespace yuba::runtime
