#include "compiler/import/file/external_data.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "compiler/import/file/read.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

constexpr int64_t kAlignment = 4096;
constexpr int64_t kPiece = 4 << 20;  // bytes that are copied at a time

using TensorVisitor = std::function<absl::Status(::onnx::TensorProto&)>;

absl::Status VisitGraph(::onnx::GraphProto& graph, const TensorVisitor& visit);

template <typename Nodes>
absl::Status VisitNodes(Nodes& nodes, const TensorVisitor& visit) {
  for (::onnx::NodeProto& node : nodes) {
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) YUBA_RETURN_IF_ERROR(visit(*attribute.mutable_t()));
      for (::onnx::TensorProto& tensor : *attribute.mutable_tensors())
        YUBA_RETURN_IF_ERROR(visit(tensor));
      if (attribute.has_g()) YUBA_RETURN_IF_ERROR(VisitGraph(*attribute.mutable_g(), visit));
      for (::onnx::GraphProto& graph : *attribute.mutable_graphs())
        YUBA_RETURN_IF_ERROR(VisitGraph(graph, visit));
    }
  }
  return absl::OkStatus();
}

absl::Status VisitGraph(::onnx::GraphProto& graph, const TensorVisitor& visit) {
  for (::onnx::TensorProto& tensor : *graph.mutable_initializer())
    YUBA_RETURN_IF_ERROR(visit(tensor));
  return VisitNodes(*graph.mutable_node(), visit);
}

// Bytes of a file as they are.
StoredView BytesOf(const FileRange& range) {
  return {StoredTensor{ElementType::kU8, {range.length}, range}, false};
}

absl::Status CopyRange(const FileRange& range, const WritePiece& write) {
  YUBA_ASSIGN_OR_RETURN(const RangeReader reader, RangeReader::Open(range));
  std::string piece;
  for (int64_t at = 0; at < range.length; at += kPiece) {
    piece.resize(static_cast<size_t>(std::min(kPiece, range.length - at)));
    YUBA_RETURN_IF_ERROR(reader.Read(at, static_cast<int64_t>(piece.size()), piece.data()));
    YUBA_RETURN_IF_ERROR(write(piece));
  }
  return absl::OkStatus();
}

void AddEntry(const char* key, const std::string& value, ::onnx::TensorProto& tensor) {
  ::onnx::StringStringEntryProto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

}  // namespace

void ClearValue(::onnx::TensorProto& tensor) {
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_string_data();
  tensor.clear_raw_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
}

int64_t ExternalData::PlaceOf(const StoredView& view, ElementType type) {
  for (const Value& value : values_) {
    if (value.view.tensor.bytes == view.tensor.bytes && value.type == type &&
        value.view.transposed == view.transposed) {
      return value.offset;
    }
  }
  const int64_t end = values_.empty() ? 0 : values_.back().offset + values_.back().length;
  const int64_t length =
      view.tensor.bytes.length / ByteSize(view.tensor.type) * int64_t{ByteSize(type)};
  values_.push_back({(end + kAlignment - 1) / kAlignment * kAlignment, length, view, type});
  return values_.back().offset;
}

void ExternalData::Place(const StoredView& view, ElementType type, ::onnx::TensorProto& tensor) {
  const int64_t elements = view.tensor.bytes.length / ByteSize(view.tensor.type);
  ClearValue(tensor);
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
  AddEntry("location", name_, tensor);
  AddEntry("offset", absl::StrCat(PlaceOf(view, type)), tensor);
  AddEntry("length", absl::StrCat(elements * ByteSize(type)), tensor);
}

absl::Status ExternalData::PlaceAll(const std::string& folder, const std::set<std::string>& but,
                                    ::onnx::ModelProto& model) {
  const TensorVisitor place = [&](::onnx::TensorProto& tensor) -> absl::Status {
    if (!IsExternal(tensor) || but.count(tensor.name()) > 0) return absl::OkStatus();
    YUBA_ASSIGN_OR_RETURN(const FileRange range, LocateBytes(tensor, folder));
    Place(BytesOf(range), ElementType::kU8, tensor);
    return absl::OkStatus();
  };
  YUBA_RETURN_IF_ERROR(VisitGraph(*model.mutable_graph(), place));
  for (::onnx::FunctionProto& function : *model.mutable_functions())
    YUBA_RETURN_IF_ERROR(VisitNodes(*function.mutable_node(), place));
  return absl::OkStatus();
}

absl::Status ExternalData::Write(const std::string& path) const {
  return WriteFileInPieces(path, [&](const WritePiece& write) -> absl::Status {
    int64_t end = 0;
    for (const Value& value : values_) {
      if (value.offset > end)
        YUBA_RETURN_IF_ERROR(write(std::string(static_cast<size_t>(value.offset - end), '\0')));
      end = value.offset + value.length;
      if (!value.view.transposed && value.type == value.view.tensor.type) {
        YUBA_RETURN_IF_ERROR(CopyRange(value.view.tensor.bytes, write));
        continue;
      }
      YUBA_ASSIGN_OR_RETURN(const TensorData data, ReadView(value.view, value.type));
      YUBA_RETURN_IF_ERROR(write(data.data));
    }
    return absl::OkStatus();
  });
}

}  // namespace yuba::onnx
