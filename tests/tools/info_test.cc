// `yuba info --tensors` lists what pins can name, before there is a plan.
#include <catch2/catch.hpp>
#include <map>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::json;

std::string Model(const std::string& file) { return RepositoryFile("tests/models/" + file); }

std::map<std::string, Json> TensorsOf(const std::string& arguments) {
  const Json json = Json::parse(Succeed("yuba info --tensors --json " + arguments).out);
  std::map<std::string, Json> tensors;
  for (const Json& tensor : json["tensors"]) tensors[tensor["name"]] = tensor;
  return tensors;
}

TEST_CASE("tensors have names, types, shapes, roles and names of dimensions") {
  const std::string model = Model("mlp/model_dynamic.onnx") + " --dim batch=4";
  const auto tensors = TensorsOf(model);
  CHECK(tensors.at("x")["role"] == "input");
  CHECK(tensors.at("x")["shape"] == Json({4, 48}));
  CHECK(tensors.at("x")["dim_names"][0] == "batch");
  CHECK(tensors.at("l.0.weight")["role"] == "parameter");
  CHECK(tensors.at("l.0.weight")["type"] == "f32");
  CHECK(tensors.at("y")["role"] == "output");
  const std::string text = Succeed("yuba info --tensors " + model).out;
  INFO(text);
  for (const char* words : {"\ntensor", " role ", "[4, 48]", "[batch, -]", "l.0.weight"}) {
    CHECK(text.find(words) != std::string::npos);
  }
  CHECK(Succeed("yuba info " + model).out.find("[batch, -]") == std::string::npos);
}

TEST_CASE("each listed tensor that is stored or computed can be pinned by its name") {
  const std::string model = Model("mlp/model.onnx"), plan = ScratchFolder("info") + "/p.json";
  for (const auto& [name, tensor] : TensorsOf(model)) {
    std::string list = "-";
    for (size_t d = 1; d < tensor["shape"].size(); ++d) list += ", *";
    INFO(name);
    Succeed("yuba partition " + model + " --replicate auto --pin '" + name + "=[" + list +
            "]' -o " + plan);
  }
}

TEST_CASE("a state is listed as one") {
  const auto tensors = TensorsOf(Model("mlp/model.onnx") + " --train adam --loss mse");
  int states = 0;
  for (const auto& [name, tensor] : tensors) {
    states += tensor["role"].get<std::string>().find("state") != std::string::npos;
  }
  CHECK(states > 6);  // six parameters, and what the optimizer keeps of each
  CHECK(tensors.at("l.0.weight")["role"].get<std::string>().find("parameter, state") == 0);
}

TEST_CASE("inputs are those of a step, and what is of one part of it says so") {
  const std::string model = Model("mlp/model_dynamic.onnx") + " --batch 12",
                    train = " --train sgd --loss softmax-cross-entropy --micro-batches 3";
  const std::string text = Succeed("yuba info --tensors " + model + train).out;
  INFO(text);
  for (const char* words :
       {"x: f32[12, 48], labels: i64[12]\n", " all together, of one of the 3 parts of a step\n",
        "\nof one of the 3 parts of a step:\ntensor", "[4, 48]"}) {
    CHECK(text.find(words) != std::string::npos);
  }
  const Json json = Json::parse(Succeed("yuba info --tensors --json " + model + train).out);
  CHECK(json["inputs"]["x"] == Json({12, 48}));
  CHECK(json["parts"] == 3);
  CHECK(TensorsOf(model + train).at("x")["shape"] == Json({4, 48}));
  CHECK(Succeed("yuba info --tensors " + model).out.find(" parts") == std::string::npos);
}

}  // namespace
}  // namespace yuba::tools
