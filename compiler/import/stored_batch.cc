#include "compiler/import/stored_batch.h"

#include <algorithm>
#include <cstring>

#include "opsemantics/base/file_range.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 26;  // of a value that is looked at

absl::StatusOr<std::string> BytesOf(const compiler::InitialValue& value) {
  if (value.kind == compiler::InitialValue::kFile) return ReadRange(value.range);
  return *value.data;
}

// Whether blocks of `size` bytes, `count` of which follow each other, are the same in each group.
bool SameInGroups(const std::string& bytes, size_t size, size_t count) {
  for (size_t group = 0; group + size * count <= bytes.size(); group += size * count) {
    for (size_t block = 1; block < count; ++block) {
      if (std::memcmp(&bytes[group], &bytes[group + block * size], size) != 0) return false;
    }
  }
  return true;
}

}  // namespace

StoredKind KindAlong(const compiler::InitialValue& value, const TensorType& type,
                     const std::vector<bool>& has) {
  const auto is_zero = [](const std::string& bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
  };
  using Value = compiler::InitialValue;
  if (value.kind == Value::kFill)
    return is_zero(*value.data) ? StoredKind::kZeros : StoredKind::kSame;
  const bool stored = value.kind == Value::kData || value.kind == Value::kFile;
  if (!stored || ElementCount(type) > kMostBytes / ByteSize(type.type)) return StoredKind::kOther;
  const absl::StatusOr<std::string> bytes = BytesOf(value);
  if (!bytes.ok()) return StoredKind::kOther;  // who needs the values says what is wrong
  if (is_zero(*bytes)) return StoredKind::kZeros;
  auto size = static_cast<size_t>(ByteSize(type.type));
  for (size_t d = type.dims.size(); d-- > 0;) {
    const auto count = static_cast<size_t>(type.dims[d]);
    if (has[d] && !SameInGroups(*bytes, size, count)) return StoredKind::kOther;
    size *= count;
  }
  return StoredKind::kSame;
}

absl::StatusOr<std::shared_ptr<const std::string>> AtOtherBatch(const compiler::InitialValue& value,
                                                                const TensorType& type,
                                                                const std::vector<int64_t>& dims) {
  YUBA_ASSIGN_OR_RETURN(std::string bytes, BytesOf(value));
  auto size = static_cast<size_t>(ByteSize(type.type));  // of an element along dimension d
  for (size_t d = dims.size(); d-- > 0;) {
    const size_t group = size * static_cast<size_t>(type.dims[d]);
    std::string changed;
    for (size_t at = 0; at < bytes.size(); at += group) {
      for (int64_t i = 0; i < dims[d]; ++i)
        changed.append(bytes, at + static_cast<size_t>(i % type.dims[d]) * size, size);
    }
    bytes = std::move(changed);
    size *= static_cast<size_t>(dims[d]);
  }
  return std::make_shared<const std::string>(std::move(bytes));
}

}  // namespace yuba::onnx
