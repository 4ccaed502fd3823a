#include "compiler/import/file/device_notes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/import/file/metadata.pb.h"

namespace yuba::onnx {
namespace {

bool SaysDevices(const ::onnx::NodeProto& node) {
  onnx_metadata::Node metadata;
  return metadata.ParseFromString(node.SerializeAsString()) &&
         metadata.device_configurations_size() > 0;
}

}  // namespace

std::string NoteOfDevices(const ::onnx::ModelProto& model) {
  const auto& nodes = model.graph().node();
  const auto count = std::count_if(nodes.begin(), nodes.end(), SaysDevices);
  if (count == 0) return "";
  return absl::StrCat(
      "the file says of ", count, " of its ", nodes.size(),
      " nodes how they are cut over devices: that is not used, the search decides; ",
      "--pin holds what must be so");
}

}  // namespace yuba::onnx
