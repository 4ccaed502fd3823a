// Values whose names say little stand behind the module of the user's program that computes them.
#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

// A field of a message as protobuf writes it: texts of fewer than 128 bytes.
std::string Field(int number, const std::string& text) {
  return std::string({static_cast<char>(number << 3 | 2), static_cast<char>(text.size())}) + text;
}

// Writes what PyTorch's exporter writes: metadata_props, field 9 of a node, which the installed
// onnx.proto may not know.
void SetScopes(::onnx::NodeProto& node, const std::string& scopes) {
  const std::string entry = Field(1, "pkg.torch.onnx.name_scopes") + Field(2, scopes);
  ::onnx::NodeProto metadata;
  REQUIRE(metadata.ParseFromString(Field(9, entry)));
  node.MergeFrom(metadata);
}

// Two layers of a product; that the output comes from a module too changes nothing of its name.
std::string Layers() {
  compiler::OnnxBuilder builder;
  builder.Input("x", {16, 32});
  builder.Weight("layers.0.weight", {32, 32});
  builder.Weight("layers.1.weight", {32, 32});
  builder.Weight("head.weight", {32, 8});
  SetScopes(builder.Node("MatMul", {"x", "layers.0.weight"}, {"getitem_6"}),
            "['', 'layers', 'layers.0', 'linear']");
  SetScopes(builder.Node("Tanh", {"getitem_6"}, {"layers.0.act"}), "['', 'layers.0', 'tanh']");
  SetScopes(builder.Node("MatMul", {"layers.0.act", "layers.1.weight"}, {"getitem_9"}),
            "['', 'layers', 'layers.1', 'linear_1']");
  builder.Node("Tanh", {"getitem_9"}, {"alone"});
  SetScopes(builder.Node("MatMul", {"alone", "head.weight"}, {"y"}), "['', 'head', 'linear_2']");
  builder.Output("y");
  return builder.Save();
}

bool Has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST_CASE("values stand behind their modules, and inputs, weights and outputs as they are called") {
  const std::string model = Layers(), plan = ScratchFolder("modules") + "/p.json";
  Succeed("yuba partition " + model + " -o " + plan);
  const std::string shown = Succeed("yuba show --all " + plan).out;
  INFO(shown);
  CHECK(Has(shown, "layers.0::getitem_6"));
  CHECK(Has(shown, "layers.1::getitem_9"));
  CHECK_FALSE(Has(shown, "::layers.0.act"));  // the name has its module
  CHECK(Has(shown, "\nalone"));
  CHECK_FALSE(Has(shown, "head::"));
  CHECK(Succeed("yuba show --tensor getitem_6 " + plan).out ==
        Succeed("yuba show --tensor layers.0::getitem_6 " + plan).out);
  Succeed("yuba check " + model + " " + plan);
}

TEST_CASE("a pin may name such a value with its module and without") {
  const std::string model = Layers(), plan = ScratchFolder("pinned") + "/p.json";
  for (const char* pin :
       {"getitem_6=[a, bc]", "layers.0::getitem_6=[a, bc]", "*getitem_6=[a, bc]"}) {
    Succeed(absl::StrCat("yuba partition ", model, " --pin '", pin, "' -o ", plan));
    const std::string tensor = Succeed("yuba show --tensor getitem_6 " + plan).out;
    INFO(pin << "\n" << tensor);
    CHECK(Has(tensor, "[16/a, 32/bc]"));
  }
  const CommandResult wrong =
      RunCommand("yuba partition " + model + " --pin 'getitem_7=[a, bc]' -o " + plan);
  CHECK(wrong.exit_code == 2);
  CHECK(Has(wrong.error, "no tensor is called 'getitem_7'"));
}

}  // namespace
}  // namespace yuba::tools
