// Files that say how their nodes are cut over devices: that is not used, and said.
#include "compiler/import/file/device_notes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

// Field 10 of a node, which installed versions of ONNX's format do not know, with these bytes.
void SetDevices(const std::string& bytes, ::onnx::NodeProto& node) {
  const std::string field = "\x52" + std::string(1, static_cast<char>(bytes.size())) + bytes;
  REQUIRE(node.MergeFromString(field));
}

compiler::OnnxBuilder TwoNodes() {
  compiler::OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.Node("Relu", {"x"}, {"h"});
  builder.Node("Neg", {"h"}, {"y"});
  builder.Output("y");
  return builder;
}

TEST_CASE("what a file says of devices is not used, which is said") {
  compiler::OnnxBuilder builder = TwoNodes();
  CHECK(NoteOfDevices(builder.proto()).empty());
  SetDevices("two devices", *builder.proto().mutable_graph()->mutable_node(1));
  const std::string note = NoteOfDevices(builder.proto());
  CHECK(note.find("1 of its 2 nodes how they are cut over devices: that is not used") !=
        std::string::npos);
  const auto model = compiler::ImportFile(builder.Save());
  REQUIRE_THAT(model, IsOk());
  CHECK(std::count(model->notes.begin(), model->notes.end(), note) == 1);
}

}  // namespace
}  // namespace yuba::onnx
