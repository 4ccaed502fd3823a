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

// mean = x * w - mean_1, which was the buffer `mean`, of so many elements: an output has its name.
OnnxBuilder Renamed(int64_t elements = 2) {
  OnnxBuilder builder;
  builder.Input("x", {2});
  builder.Weight("w", {2});
  builder.Weight("mean_1", {elements});
  builder.Node("Mul", {"x", "w"}, {"h"});
  builder.Node("Sub", {"h", "mean_1"}, {"mean"});
  builder.Output("mean");
  SayParameter(builder, "w");
  builder.SayOfValue("mean_1", kKind, "BUFFER");
  builder.SayOfValue("mean_1", kCalled, "b_mean");
  builder.SayOfGraph(kSignature,
                     "p_w: PARAMETER target='w'\nb_mean: BUFFER target='mean'\n"
                     "b_mean_1: BUFFER target='mean_1'\n");
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

TEST_CASE(
    "of two names PyTorch's is the renamed tensor's, and a program that has one refuses two") {
  const auto answers =
      AnswersWith(Renamed(), {{"mean", {5, 7}}, {"mean_1", {1, 1}}, {"w", {2, 4}}});
  CHECK(answers[0].output == Bytes({-3, 5}));
  CHECK(answers[1].command.error.find("mean and mean_1 are one tensor of the program") !=
        std::string::npos);
  CHECK(answers[2].output == Bytes({-3, 5}));
}

TEST_CASE("a renamed number of the code is set where the code is made, else refused") {
  for (const char* name : {"mean", "mean_1"}) {
    const auto answers = AnswersWith(Renamed(1), {{name, {5}}, {"w", {2, 4}}});
    CHECK(answers[0].output == Bytes({-3, 7}));
    CHECK(answers[1].command.error.find("has another value of mean_1 (5)") != std::string::npos);
  }
}

std::string CallOf(const std::string& result, const std::string& target,
                   const std::string& arguments) {
  return "%" + result + " : [num_users=1] = call_function[target=torch.ops.aten." + target +
         "](args = (" + arguments + "), kwargs = {})";
}

// y = |x * w|, of which the program had something else, between the two nodes, with `scale`.
OnnxBuilder WithoutScale() {
  OnnxBuilder builder;
  builder.Input("x", {2});
  builder.Weight("w", {2});
  OnnxBuilder::SayOfNode(builder.Node("Mul", {"x", "w"}, {"mul"}), kCall,
                         CallOf("mul", "mul.Tensor", "%x, %p_w"));
  OnnxBuilder::SayOfNode(builder.Node("Abs", {"mul"}, {"y"}), kCall,
                         CallOf("y", "abs.default", "%mul_1"));
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
    const std::string said = answer.command.error + answer.command.out;
    const bool noted = said.find("w.st: passes over scale, of which") != std::string::npos;
    CHECK((noted || said.find("not in the model: scale") != std::string::npos));
  }
  for (const Answer& answer : AnswersWith(WithoutScale(), {{"w", {2, -4}}}))
    CHECK(answer.output == Bytes({2, 12}));
  for (const Answer& answer : AnswersWith(WithoutScale(), {{"scale", {2, -4}}})) {
    CHECK(answer.command.exit_code == 2);
    CHECK(answer.command.error.find("none of its") == std::string::npos);
  }
}

// y = x * a + (a + a), of which the program had b and c in the sum, all equal once.
OnnxBuilder StoredOnce() {
  OnnxBuilder builder;
  builder.Input("x", {2});
  builder.Weight("a", {2});
  OnnxBuilder::SayOfNode(builder.Node("Mul", {"x", "a"}, {"mul"}), kCall,
                         CallOf("mul", "mul.Tensor", "%x, %p_a"));
  OnnxBuilder::SayOfNode(builder.Node("Add", {"a", "a"}, {"both"}), kCall,
                         CallOf("both", "of_another_kind.default", "%p_b, %p_c"));
  OnnxBuilder::SayOfNode(builder.Node("Add", {"mul", "both"}, {"y"}), kCall,
                         CallOf("y", "add.Tensor", "%mul, %both"));
  builder.Output("y");
  SayParameter(builder, "a");
  builder.SayOfGraph(kSignature,
                     "p_a: PARAMETER target='a'\np_b: PARAMETER target='b'\n"
                     "p_c: PARAMETER target='c'\n");
  return builder;
}

TEST_CASE("parameters that are stored once take one value") {
  for (const Answer& answer :
       AnswersWith(StoredOnce(), {{"a", {2, 5}}, {"b", {2, 5}}, {"c", {2, 5}}})) {
    INFO(answer.command.error);
    CHECK(answer.output == Bytes({6, 25}));
  }
  for (const Answer& answer :
       AnswersWith(StoredOnce(), {{"a", {2, 5}}, {"b", {2, 6}}, {"c", {2, 5}}})) {
    CHECK(answer.command.exit_code == 2);
    CHECK(answer.command.error.find("w.st: has b, of which") != std::string::npos);
  }
}

// add = x * exp + add_1: the parameter `add`, renamed, and its exponential.
OnnxBuilder RenamedAndComputed() {
  OnnxBuilder builder;
  builder.Input("x", {2});
  builder.Weight("add_1", {2});
  builder.Weight("exp", {2});
  OnnxBuilder::SayOfNode(builder.Node("Mul", {"x", "exp"}, {"h"}), kCall,
                         CallOf("mul", "mul.Tensor", "%x, %exp"));
  OnnxBuilder::SayOfNode(builder.Node("Add", {"h", "add_1"}, {"add"}), kCall,
                         CallOf("add", "add.Tensor", "%mul, %p_add"));
  builder.Output("add");
  builder.SayOfValue("add_1", kKind, "PARAMETER");
  builder.SayOfValue("add_1", kCalled, "p_add");
  builder.SayOfValue("exp", "pkg.onnxscript.optimizer.folded_from", "['add']");
  builder.SayOfGraph(kSignature, "p_add: PARAMETER target='add'\n");
  return builder;
}

TEST_CASE("a renamed parameter of which something was computed is refused") {
  for (const Answer& answer : AnswersWith(RenamedAndComputed(), {{"add", {2, 5}}})) {
    INFO(answer.command.error);
    CHECK(answer.command.exit_code == 2);
    CHECK(answer.command.error.find("optimize=False") != std::string::npos);
  }
  const auto partial = AnswersWith(RenamedAndComputed(), {{"add", {2, 5}}}, "--partial-weights");
  for (const int i : {0, 1}) CHECK(partial[i].output == Bytes({0.1F + 0.1F, 3 * 0.2F + 0.2F}));
}

// y = x * exp + t, numbers: the parameter t and its exponential.
OnnxBuilder NumberAndComputed() {
  OnnxBuilder builder;
  builder.Input("x", {2});
  builder.Weight("t", {1});
  builder.Weight("exp", {1});
  OnnxBuilder::SayOfNode(builder.Node("Mul", {"x", "exp"}, {"mul"}), kCall,
                         CallOf("mul", "mul.Tensor", "%x, %exp"));
  OnnxBuilder::SayOfNode(builder.Node("Add", {"mul", "t"}, {"y"}), kCall,
                         CallOf("y", "add.Tensor", "%mul, %p_t"));
  builder.Output("y");
  SayParameter(builder, "t");
  builder.SayOfValue("exp", "pkg.onnxscript.optimizer.folded_from", "['t']");
  builder.SayOfGraph(kSignature, "p_t: PARAMETER target='t'\n");
  return builder;
}

TEST_CASE("a number that was computed of another one does not take its value") {
  for (const Answer& answer : AnswersWith(NumberAndComputed(), {{"t", {5}}})) {
    INFO(answer.command.error);
    CHECK(answer.command.error.find("optimize=False") != std::string::npos);
  }
  const auto partial = AnswersWith(NumberAndComputed(), {{"t", {5}}}, "--partial-weights");
  for (const int i : {0, 1}) {
    INFO(partial[i].command.error);
    CHECK(partial[i].output == Bytes({0.1F + 0.1F, 3 * 0.1F + 0.1F}));
  }
}

// y = x * w, where w was computed of the parameters w and b.
OnnxBuilder Computed() {
  OnnxBuilder builder;
  builder.Input("x", {2});
  builder.Weight("w", {2});
  OnnxBuilder::SayOfNode(builder.Node("Mul", {"x", "w"}, {"y"}), kCall,
                         CallOf("y", "mul.Tensor", "%x, %add"));
  builder.Output("y");
  builder.SayOfValue("w", "pkg.onnxscript.optimizer.folded_from", "['w', 'b']");
  builder.SayOfGraph(kSignature, "p_w: PARAMETER target='w'\np_b: PARAMETER target='b'\n");
  return builder;
}

TEST_CASE("a value under the name of what was computed of it is refused, alone too") {
  for (const Weights& weights : {Weights{{"w", {2, 5}}, {"b", {1, 1}}}, Weights{{"w", {2, 5}}}}) {
    for (const Answer& answer : AnswersWith(Computed(), weights)) {
      INFO(answer.command.error);
      CHECK(answer.command.exit_code == 2);
      CHECK(answer.command.error.find("optimize=False") != std::string::npos);
    }
  }
  // Partial weights leave the model's; an export has nothing to write then.
  const auto partial = AnswersWith(Computed(), {{"w", {2, 5}}}, "--partial-weights");
  for (const int i : {0, 1}) CHECK(partial[i].output == Bytes({0.1F, 0.2F * 3}));
  CHECK(partial[2].command.exit_code == 2);
}

TEST_CASE("a checkpoint of what the model has instead goes back into the model") {
  const std::string folder = ScratchFolder("exported_weights_trained"),
                    in = "cd " + folder + " && ", data = " --input x=x.npy";
  const TensorData x = {ElementType::kF32, {2}, Bytes({1, 3})};
  for (const char* name : {"/x.npy", "/labels.npy"})
    REQUIRE_THAT(WriteFile(folder + name, FormatNpy(x)), IsOk());
  Succeed("mv " + Computed().Save() + " " + folder + "/m.onnx");
  Succeed(in +
          "yuba partition m.onnx --train sgd --loss mse --devices 2 -o p.json "
          "--allow-missing-parameters --trainable w");
  Succeed(in + "yuba run m.onnx p.json --save c.st --steps 2 --input labels=labels.npy" + data);
  Succeed(in + "yuba export m.onnx --weights c.st -o new.onnx");
  Succeed(in +
          "yuba partition m.onnx --devices 2 -o f.json && yuba compile m.onnx f.json -o m.yuba");
  const CommandResult set = Succeed(in + "yuba run m.onnx f.json --input w=x.npy" + data);
  CHECK(set.error.find("--input w=x.npy: sets the tensor that the model's file calls so") !=
        std::string::npos);
  for (const char* line : {"yuba run m.onnx f.json --weights c.st",
                           "yuba-run m.yuba --weights c.st", "yuba run new.onnx f.json"}) {
    Succeed(in + line + data + " --outputs out");
    const auto output = ReadTensorFile(folder + "/out/output_0.npy");
    REQUIRE_THAT(output, IsOk());
    CHECK(output->data != Bytes({0.1F, 0.2F * 3}));
  }
}

}  // namespace
}  // namespace yuba
