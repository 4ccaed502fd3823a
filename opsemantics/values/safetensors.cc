// safetensors: 8 bytes of header length, a JSON header {name: {dtype, shape, data_offsets}}, the
// data. Offsets are from the end of the header.
#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/check.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_file.h"

namespace yuba {
namespace {

using nlohmann::json;

// The format allows no larger header, so that readers need not take memory for any.
constexpr int64_t kLargestHeader = 100'000'000;

// The one name in the header that is no tensor's.
constexpr char kMetadata[] = "__metadata__";

// Whether these are bytes of the file.
absl::Status CheckOffsets(const json& offsets, const FileRange& data) {
  if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned()) {
    return UserError("data_offsets are not whole numbers");
  }
  const uint64_t begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
  if (begin <= end && end <= static_cast<uint64_t>(data.length)) return absl::OkStatus();
  return UserError("data_offsets [", begin, ", ", end, ") do not fit the shape or the file");
}

absl::Status ReadEntry(const std::string& name, const json& entry, const FileRange& data,
                       SafetensorsFile& file) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
      !entry.contains("shape") || !entry["shape"].is_array() || !entry.contains("data_offsets") ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2) {
    return UserError("dtype, shape or data_offsets is missing");
  }
  const json& offsets = entry["data_offsets"];
  YUBA_RETURN_IF_ERROR(CheckOffsets(offsets, data));
  const std::string type_name = entry["dtype"].get<std::string>();
  const auto type = ElementTypeFromName(absl::AsciiStrToLower(type_name));
  if (!type.has_value()) {
    file.unread[name] = type_name;
    return absl::OkStatus();
  }
  StoredTensor tensor;
  tensor.type = *type;
  for (const json& extent : entry["shape"]) {
    if (!extent.is_number_integer()) return UserError("the shape is not made of whole numbers");
    tensor.dims.push_back(extent.get<int64_t>());
  }
  YUBA_ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(tensor.dims));
  const uint64_t begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
  if (end - begin != static_cast<uint64_t>(elements) * ByteSize(tensor.type)) {
    return UserError("data_offsets [", begin, ", ", end, ") do not fit the shape or the file");
  }
  tensor.bytes = data;
  tensor.bytes.offset += static_cast<int64_t>(begin);
  tensor.bytes.length = static_cast<int64_t>(end - begin);
  file.tensors[name] = std::move(tensor);
  return absl::OkStatus();
}

// Whether the tensors lie one behind the other and fill the data, as the format wants: bytes that
// are two tensors', or none's, mean that offsets are not those of what was written.
absl::Status CheckFilled(const json& header, int64_t length) {
  std::vector<std::tuple<uint64_t, uint64_t, std::string>> places;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) continue;
    const json& offsets = entry["data_offsets"];
    places.emplace_back(offsets[0].get<uint64_t>(), offsets[1].get<uint64_t>(), name);
  }
  std::sort(places.begin(), places.end());
  uint64_t filled = 0;
  for (const auto& [begin, end, name] : places) {
    if (begin != filled) {
      return UserError(name, ": data_offsets [", begin, ", ", end, ") ",
                       begin < filled ? "overlap with another tensor" : "leave a gap",
                       ": the tensors before it end at ", filled,
                       "; the file is damaged, write it again");
    }
    filled = end;
  }
  if (filled == static_cast<uint64_t>(length)) return absl::OkStatus();
  return UserError("the tensors end at byte ", filled, " of the data, which have ", length,
                   ": the file is damaged, write it again");
}

void ReadMetadata(const json& texts, SafetensorsMetadata& metadata) {
  for (const auto& [name, text] : texts.items()) {
    if (text.is_string()) metadata[name] = text.get<std::string>();
  }
}

int64_t WholeOf(const std::vector<int64_t>& dims) {
  int64_t elements = 1;
  for (const int64_t dim : dims) elements *= dim;
  return elements;
}

}  // namespace

absl::StatusOr<SafetensorsFile> ParseSafetensorsHeader(absl::string_view header,
                                                       const FileRange& data) {
  const json parsed = json::parse(header.begin(), header.end(), nullptr, false);
  if (!parsed.is_object()) return UserError("the safetensors header is no JSON object");
  SafetensorsFile file;
  for (const auto& [name, entry] : parsed.items()) {
    if (name == kMetadata) {
      if (entry.is_object()) ReadMetadata(entry, file.metadata);
      continue;
    }
    YUBA_RETURN_IF_ERROR(Annotate(ReadEntry(name, entry, data, file), name));
  }
  YUBA_RETURN_IF_ERROR(CheckFilled(parsed, data.length));
  return file;
}

namespace {

// The header of a file, and the bytes behind it.
struct Header {
  std::string text;
  FileRange data;
};

absl::StatusOr<Header> ReadHeader(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(const int64_t size, SizeOfFile(path));
  if (size < 8) return UserError(path, ": this is no safetensors file: it has fewer than 8 bytes");
  YUBA_ASSIGN_OR_RETURN(const std::string prefix, ReadRange({path, 0, 8, size}));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(prefix[i]);
  if (length > static_cast<uint64_t>(std::min(size - 8, kLargestHeader))) {
    return UserError(path,
                     ": this is no safetensors file, or it is cut off: its header should have ",
                     length, " bytes, by the first 8");
  }
  const int64_t begin = 8 + static_cast<int64_t>(length);
  YUBA_ASSIGN_OR_RETURN(std::string text, ReadRange({path, 8, begin - 8, size}));
  return Header{std::move(text), {path, begin, size - begin, size}};
}

}  // namespace

absl::StatusOr<SafetensorsFile> ReadSafetensors(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(const Header header, ReadHeader(path));
  absl::StatusOr<SafetensorsFile> file = ParseSafetensorsHeader(header.text, header.data);
  if (!file.ok()) return Annotate(file.status(), path);
  return file;
}

absl::Status WriteSafetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                              const SafetensorsMetadata& metadata) {
  json header = json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  int64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    const int64_t begin = offset;
    offset += WholeOf(tensor.dims) * ByteSize(tensor.type);
    header[tensor.name] = {{"dtype", absl::AsciiStrToUpper(Name(tensor.type))},
                           {"shape", tensor.dims},
                           {"data_offsets", {begin, offset}}};
  }
  // Names come from the user's model and need not be UTF-8.
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data are aligned
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i));
  return WriteFileInPieces(path, [&](const WritePiece& write) -> absl::Status {
    YUBA_RETURN_IF_ERROR(write(length));
    YUBA_RETURN_IF_ERROR(write(text));
    for (const TensorToWrite& tensor : tensors) {
      YUBA_ASSIGN_OR_RETURN(const TensorData value, tensor.value());
      YUBA_CHECK(value.type == tensor.type && value.dims == tensor.dims) << tensor.name;
      YUBA_RETURN_IF_ERROR(write(value.data));
    }
    return absl::OkStatus();
  });
}

}  // namespace yuba
