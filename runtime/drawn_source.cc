#include "runtime/drawn_source.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "opsemantics/base/check.h"
#include "opsemantics/base/half.h"
#include "opsemantics/base/start_thread.h"

namespace yuba::runtime {
namespace {

// Fewer elements than so many are not worth a thread.
constexpr int64_t kWorthAThread = 1 << 16;

// Writes `count` elements from number `first` on; `rounded` gives the stored form of a number.
template <typename Stored, typename Rounded>
void Write(const Draw& draw, int64_t first, int64_t count, char* place, const Rounded& rounded) {
  for (int64_t i = 0; i < count; ++i) {
    const Stored element = rounded(DrawnElement(draw, static_cast<uint64_t>(first + i)));
    std::memcpy(place + i * sizeof element, &element, sizeof element);
  }
}

void Write(const Draw& draw, ElementType type, int64_t first, int64_t count, char* place) {
  const auto narrow = [](double number) { return static_cast<float>(number); };
  switch (type) {
    case ElementType::kF64:
      return Write<double>(draw, first, count, place, [](double number) { return number; });
    case ElementType::kF16:
      return Write<uint16_t>(draw, first, count, place,
                             [&](double number) { return ToF16(narrow(number)); });
    case ElementType::kBF16:
      return Write<uint16_t>(draw, first, count, place,
                             [&](double number) { return ToBF16(narrow(number)); });
    default: return Write<float>(draw, first, count, place, narrow);
  }
}

}  // namespace

absl::StatusOr<absl::string_view> DrawnSource::Next(int64_t count) {
  YUBA_CHECK(IsFloat(type_));
  piece_.resize(static_cast<size_t>(count));
  const int64_t size = ByteSize(type_), elements = count / size;
  const int64_t most = std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  const int64_t parts = std::clamp<int64_t>(elements / kWorthAThread, 1, most);
  const auto draw = [&](int64_t part) {
    const int64_t begin = elements * part / parts, end = elements * (part + 1) / parts;
    Write(draw_, type_, at_ + begin, end - begin, piece_.data() + begin * size);
  };
  std::vector<std::thread> threads;
  int64_t shared = 1;  // the first part that no thread has
  while (shared < parts && StartThread(threads, [&draw, shared] { draw(shared); })) ++shared;
  draw(0);
  for (; shared < parts; ++shared) draw(shared);
  for (std::thread& thread : threads) thread.join();
  at_ += elements;
  return absl::string_view(piece_);
}

}  // namespace yuba::runtime
