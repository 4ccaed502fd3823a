#include "tools/run/data/data_print.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "opsemantics/base/status.h"
#include "runtime/program/checksum.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

constexpr int64_t kSample = 1 << 20, kPieces = 16;  // bytes; how many pieces these are

// Visits [begin, end) of pieces, `sample` bytes together, that are spread over `length` bytes.
absl::Status ForEachSample(int64_t length, int64_t sample,
                           const std::function<absl::Status(int64_t, int64_t)>& visit) {
  if (length <= sample) return visit(0, length);
  const int64_t piece = std::max<int64_t>(sample / kPieces, 1);
  for (int64_t p = 0; p < kPieces; ++p) {
    const int64_t begin = (length - piece) * p / (kPieces - 1);  // the last piece ends at the end
    YUBA_RETURN_IF_ERROR(visit(begin, begin + piece));
  }
  return absl::OkStatus();
}

absl::Status AddSample(const RangeReader& reader, int64_t sample, runtime::Checksum& checksum) {
  std::string bytes;
  return ForEachSample(reader.length(), sample, [&](int64_t begin, int64_t end) -> absl::Status {
    bytes.resize(static_cast<size_t>(end - begin));
    YUBA_RETURN_IF_ERROR(reader.Read(begin, end - begin, bytes.data()));
    checksum.Add(bytes);
    return absl::OkStatus();
  });
}

std::string Hexadecimal(const runtime::Checksum& checksum) {
  return absl::StrFormat("%016x", checksum.value());
}

}  // namespace

absl::StatusOr<std::string> PrintOf(const PortType& type, const RangeReader& values) {
  runtime::Checksum checksum;
  YUBA_RETURN_IF_ERROR(AddSample(values, kSample, checksum));
  return absl::StrCat(Text(type), " ", Hexadecimal(checksum));
}

std::string PrintOf(const TensorData& tensor) {
  runtime::Checksum checksum;
  checksum.Add(tensor.data);
  return absl::StrCat(Text({tensor.type, tensor.dims}), " ", Hexadecimal(checksum));
}

absl::StatusOr<std::string> PrintOf(const std::vector<std::string>& files) {
  const auto count = static_cast<int64_t>(files.size());
  const int64_t read = std::min(count, kPieces * kPieces);  // of so many a part is read
  runtime::Checksum checksum;
  for (int64_t f = 0; f < count; ++f) {
    YUBA_ASSIGN_OR_RETURN(const int64_t size, SizeOfFile(files[f]));
    checksum.Add(absl::StrCat(size, " "));
    if (f * read / count == (f + 1) * read / count) continue;
    YUBA_ASSIGN_OR_RETURN(const RangeReader reader, RangeReader::Open({files[f], 0, size, size}));
    YUBA_RETURN_IF_ERROR(AddSample(reader, kSample / read, checksum));
  }
  return absl::StrCat(Counted(count, "file"), " ", Hexadecimal(checksum));
}

}  // namespace yuba::tools
