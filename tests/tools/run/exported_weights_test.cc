// --weights of PyTorch's names for a model that its exporter wrote otherwise: what the file has
// under another name is set, and what it has lost is an error, in `yuba run`, `yuba-run` and
// `yuba export`.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "opsemantics/base/files.h"
#include "opsemantics/values/tensor_file.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

using compiler::OnnxBuilder;

constexpr char kKind[] = "pkg.torch.export.graph_signature.InputSpec.kind";
constexpr char kSignature[] = "pkg.torch.export.ExportedProgram.graph_signature";
constexpr char kCalled[] = "pkg.torch.onnx.original_node_name";
constexpr char kCall[] = "pkg.torch.onnx.fx_node";

using Weights = std::vector<std::pair<std::string, std::vector<float>>>;

std::string Bytes(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

void WriteWeights(const std::string& path, const Weights& weights) {
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, values] : weights) {
    const TensorData value = {
        ElementType::kF32, {static_cast<int64_t>(values.size())}, Bytes(values)};
    tensors.push_back({name, value.type, value.dims, [value] { return value; }});
  }
  REQUIRE_THAT(WriteSafetensors(path, tensors), IsOk());
}

struct Answer {
  CommandResult command;
  std::string output;  // its bytes; none where the command failed
};

// Of `yuba run`, of `yuba-run`, and of a run of what `yuba export` wrote, with these weights and
// flags: the output of a model of x = [1, 3].
std::vector<Answer> AnswersWith(const OnnxBuilder& builder, const Weights& weights,
                                const std::string& flags = "") {
  const std::string folder = ScratchFolder("exported_weights"), in = "cd " + folder + " && ",
                    with = " --weights w.st " + flags, data = " --input x=x.npy --outputs out";
  WriteWeights(folder + "/w.st", weights);
  const TensorData x = {ElementType::kF32, {2}, Bytes({1, 3})};
  REQUIRE_THAT(WriteFile(folder + "/x.npy", FormatNpy(x)), IsOk());
  Succeed("mv " + builder.Save() + " " + folder + "/m.onnx");
  Succeed(in + "yuba partition m.onnx --devices 2 -o p.json");
  Succeed(in + "yuba compile m.onnx p.json -o m.yuba");
  std::vector<Answer> answers;
  for (const std::string& line :
       {"yuba run m.onnx p.json" + with + data, "yuba-run m.yuba" + with + data,
        "yuba export m.onnx -o new.onnx" + with + " && yuba run new.onnx p.json" + data}) {
    Answer& answer = answers.emplace_back();
    answer.command = RunCommand(in + line);
    if (answer.command.exit_code != 0) continue;
    const auto output = ReadTensorFile(folder + "/out/output_0.npy");
    REQUIRE_THAT(output, IsOk());
    answer.output = output->data;
  }
  return answers;
}

void SayParameter(OnnxBuilder& builder, const std::string& name) {
  builder.SayOfValue(name, kKind, "PARAMETER");
  builder.SayOfValue(name, kCalled, "p_" + name);
}

// mean = x * w - mean_1, which was the buffer `mean`: an output has its name.
OnnxBuilder Renamed() {
  OnnxBuilder builder;
  builder.Input("x", {2});
  builder.Weight("w", {2});
  builder.Weight("mean_1", {2});
  builder.Node("Mul", {"x", "w"}, {"h"});
  builder.Node("Sub", {"h", "mean_1"}, {"mean"});
  builder.Output("mean");
  SayParameter(builder, "w");
  builder.SayOfValue("mean_1", kKind, "BUFFER");
  builder.SayOfValue("mean_1", kCalled, "b_mean");
  builder.SayOfGraph(kSignature, "p_w: PARAMETER target='w'\nb_mean: BUFFER target='mean'\n");
  return builder;
}

TEST_CASE("a tensor that the exporter has renamed is found under its name and the file's") {
  for (const char* name : {"mean", "mean_1"}) {
    for (const Answer& answer : AnswersWith(Renamed(), {{name, {5, 7}}, {"w", {2, 4}}})) {
      INFO(name << ": " << answer.command.error);
      CHECK(answer.output == Bytes({-3, 5}));
    }
  }
}

// y = |x * w|, of which the program had something else, between the two nodes, with `scale`.
OnnxBuilder WithoutScale() {
  const auto call = [](const std::string& result, const std::string& target,
                       const std::string& arguments) {
    return "%" + result + " : [num_users=1] = call_function[target=torch.ops.aten." + target +
           "](args = (" + arguments + "), kwargs = {})";
  };
  OnnxBuilder builder;
  builder.Input("x", {2});
  builder.Weight("w", {2});
  OnnxBuilder::SayOfNode(builder.Node("Mul", {"x", "w"}, {"mul"}), kCall,
                         call("mul", "mul.Tensor", "%x, %p_w"));
  OnnxBuilder::SayOfNode(builder.Node("Abs", {"mul"}, {"y"}), kCall,
                         call("y", "abs.default", "%mul_1"));
  builder.Output("y");
  SayParameter(builder, "w");
  builder.SayOfGraph(kSignature, "p_w: PARAMETER target='w'\np_scale: PARAMETER target='scale'\n");
  return builder;
}

TEST_CASE("a value of what the exporter has left out is an error, unless weights are partial") {
  const Weights weights = {{"w", {2, -4}}, {"scale", {3, 3}}};
  for (const Answer& answer : AnswersWith(WithoutScale(), weights)) {
    INFO(answer.command.error);
    CHECK(answer.command.exit_code == 2);
    CHECK(answer.command.error.find("w.st: has scale, of which the model's file has only what was "
                                    "computed with the old values") != std::string::npos);
  }
  for (const Answer& answer : AnswersWith(WithoutScale(), weights, "--partial-weights")) {
    INFO(answer.command.error);
    CHECK(answer.output == Bytes({2, 12}));
    CHECK((answer.command.error + answer.command.out).find("scale") != std::string::npos);
  }
  for (const Answer& answer : AnswersWith(WithoutScale(), {{"w", {2, -4}}}))
    CHECK(answer.output == Bytes({2, 12}));
}

}  // namespace
}  // namespace yuba
