// No gradient goes through what a file of PyTorch's default exporter calls detached, whether a node
// stands for the call or only its readers name it.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "opsemantics/base/file_range.h"
#include "opsemantics/values/tensor_file.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

constexpr int64_t kRows = 3, kColumns = 4;

void SayCall(::onnx::NodeProto& node, const std::string& result, const std::string& call) {
  compiler::OnnxBuilder::SayOfNode(node, "pkg.torch.onnx.fx_node",
                                   "%" + result +
                                       " : [num_users=1] = call_function[target=torch.ops." + call +
                                       ", kwargs = {})");
}

// y = h * tanh(-h, detached) with h = exp(w). Everything between
// w and y is a map of one reader or two, which importing would make one node.
std::string ModelOf(bool with_node) {
  compiler::OnnxBuilder builder;
  builder.Weight("w", {kRows, kColumns});
  ::onnx::TensorProto& w = *builder.proto().mutable_graph()->mutable_initializer(0);
  w.clear_float_data();
  for (int64_t i = 0; i < kRows * kColumns; ++i) w.add_float_data(0.1f * static_cast<float>(i));
  SayCall(builder.Node("Exp", {"w"}, {"h"}), "h", "aten.exp.default](args = (%p_w,)");
  SayCall(builder.Node("Neg", {"h"}, {"n"}), "n", "aten.neg.default](args = (%h,)");
  if (with_node) {
    SayCall(builder.Node("Identity", {"n"}, {"detach"}), "detach",
            "aten.detach.default](args = (%n,)");
  }
  SayCall(builder.Node("Tanh", {with_node ? "detach" : "n"}, {"t"}), "t",
          "aten.tanh.default](args = (%detach,)");
  SayCall(builder.Node("Mul", {"h", "t"}, {"y"}), "y", "aten.mul.Tensor](args = (%h, %t)");
  builder.Output("y");
  builder.SayOfGraph("pkg.torch.export.ExportedProgram.graph_signature",
                     "p_w: PARAMETER target='w'\n");
  return builder.Save();
}

std::vector<float> Floats(const StoredTensor& tensor) {
  const absl::StatusOr<RangeReader> reader = RangeReader::Open(tensor.bytes);
  REQUIRE_THAT(reader, IsOk());
  std::vector<float> values(static_cast<size_t>(reader->length()) / sizeof(float));
  REQUIRE_THAT(reader->Read(0, reader->length(), reinterpret_cast<char*>(values.data())), IsOk());
  return values;
}

TEST_CASE("no gradient goes through what is detached") {
  const std::string folder = ScratchFolder("detached");
  const std::string plan = folder + "/plan.json", saved = folder + "/saved.safetensors";
  const std::string operators = " --operators " + folder + "/total.tdl";
  std::ofstream(folder + "/total.tdl") << "op total(y[s..], none[s..]) -> loss[]\n"
                                          "  loss[] = sum(i..: s..) y[i..]\n";
  for (const bool with_node : {false, true}) {
    const std::string model = ModelOf(with_node);
    for (const char* devices : {"1", "2"}) {
      INFO(with_node << " on " << devices);
      Succeed("yuba partition " + model + operators + " --train sgd --loss total --lr 1 " +
              "--devices " + devices + " -o " + plan);
      Succeed("yuba run " + model + " " + plan + operators + " --random --save " + saved);
      const auto after = ReadSafetensors(saved);
      REQUIRE_THAT(after, IsOk());
      const std::vector<float> values = Floats(after->tensors.at("w"));
      REQUIRE(values.size() == kRows * kColumns);
      for (size_t i = 0; i < values.size(); ++i) {
        // d/dw of exp(w) * t, with t = tanh(-exp(w)) held as it is.
        const double w = 0.1f * static_cast<float>(i), h = std::exp(w);
        CHECK(values[i] == Approx(w - h * std::tanh(-h)));
      }
    }
  }
}

}  // namespace
}  // namespace yuba
