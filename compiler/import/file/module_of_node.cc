#include "compiler/import/file/module_of_node.h"

#include <vector>

#include "compiler/import/file/metadata.pb.h"

namespace yuba::onnx {
namespace {

constexpr char kScopes[] = "pkg.torch.onnx.name_scopes";

// The texts in quotes of a list as Python prints it.
std::vector<std::string> Quoted(const std::string& list) {
  std::vector<std::string> texts;
  for (size_t at = 0; (at = list.find_first_of("'\"", at)) != std::string::npos;) {
    const size_t end = list.find(list[at], at + 1);
    if (end == std::string::npos) break;
    texts.push_back(list.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return texts;
}

}  // namespace

// The message is read anew from the node's bytes: whether onnx.proto knows the field or keeps it as
// an unknown one depends on its version.
std::string ModuleOfNode(const ::onnx::NodeProto& node) {
  onnx_metadata::Node metadata;
  if (!metadata.ParseFromString(node.SerializeAsString())) return "";
  for (const onnx_metadata::StringStringEntry& entry : metadata.metadata_props()) {
    if (entry.key() != kScopes) continue;
    const std::vector<std::string> scopes = Quoted(entry.value());
    return scopes.size() < 2 ? "" : scopes[scopes.size() - 2];
  }
  return "";
}

}  // namespace yuba::onnx
