// safetensors: 8 bytes of header length, a JSON header {name: {dtype, shape, data_offsets}}, the
// data.
#include "absl/strings/ascii.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_file.h"

namespace yuba {
namespace {

using nlohmann::json;

absl::StatusOr<TensorData> ReadEntry(const json& entry, absl::string_view data) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
      !entry.contains("shape") || !entry["shape"].is_array() || !entry.contains("data_offsets") ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2) {
    return UserError("dtype, shape or data_offsets is missing");
  }
  const auto type = ElementTypeFromName(absl::AsciiStrToLower(entry["dtype"].get<std::string>()));
  if (!type.has_value())
    return UserError("the type ", entry["dtype"].get<std::string>(), " is not read");
  TensorData tensor;
  tensor.type = *type;
  for (const json& extent : entry["shape"]) {
    if (!extent.is_number_integer()) return UserError("the shape is not made of whole numbers");
    tensor.dims.push_back(extent.get<int64_t>());
  }
  YUBA_ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(tensor.dims));
  const json& offsets = entry["data_offsets"];
  if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned()) {
    return UserError("data_offsets are not whole numbers");
  }
  const uint64_t begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
  if (begin > end || end > data.size() ||
      end - begin != static_cast<uint64_t>(elements) * ByteSize(tensor.type)) {
    return UserError("data_offsets [", begin, ", ", end, ") do not fit the shape or the file");
  }
  tensor.data.assign(data.data() + begin, end - begin);
  return tensor;
}

}  // namespace

absl::StatusOr<std::map<std::string, TensorData>> ParseSafetensors(absl::string_view bytes) {
  if (bytes.size() < 8) return UserError("this is no safetensors file: it has fewer than 8 bytes");
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > bytes.size() - 8) return UserError("the safetensors file ends in its header");
  const json header = json::parse(bytes.begin() + 8, bytes.begin() + 8 + length, nullptr, false);
  if (!header.is_object()) return UserError("the safetensors header is no JSON object");
  const absl::string_view data = bytes.substr(8 + length);
  std::map<std::string, TensorData> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    absl::StatusOr<TensorData> tensor = ReadEntry(entry, data);
    if (!tensor.ok()) return Annotate(tensor.status(), name);
    tensors[name] = *std::move(tensor);
  }
  return tensors;
}

}  // namespace yuba
