// Plan files are what docs/plan.schema.json says, for models and flags that fill in every field.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "tests/support/command.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

Json ReadJson(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

Json SchemaFile() { return ReadJson(RepositoryFile("docs/plan.schema.json")); }

// What is wrong with the document; "" where nothing is.
std::string Faults(const Json& document) {
  const Json json = SchemaFile();
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(Adapter(json), schema);
  valijson::ValidationResults results;
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  if (validator.validate(schema, Adapter(document), &results)) return "";
  std::string text;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const std::string& place : error.context) text += place;
    text += ": " + error.description + "\n";
  }
  return text;
}

Json Planned(const std::string& model, const std::string& flags) {
  const std::string plan = ScratchFolder("schema") + "/p.json";
  Succeed("yuba partition " + RepositoryFile("tests/models/" + model) + " " + flags + " -o " +
          plan);
  return ReadJson(plan);
}

// The fields of the document that the schema does not name, or that no document had so far, as
// "cost.gap".
void Fields(const Json& document, const std::string& path, std::set<std::string>& fields) {
  if (document.is_array()) {
    for (const Json& item : document) Fields(item, path, fields);
  }
  if (!document.is_object()) return;
  for (const auto& [name, value] : document.items()) {
    fields.insert(path + "." + name);
    Fields(value, path + "." + name, fields);
  }
}

// Those that the schema names, but of objects whose keys are names of the model.
void Named(const Json& schema, const std::string& path, std::set<std::string>& fields) {
  if (schema.contains("items")) Named(schema["items"], path, fields);
  if (!schema.contains("properties")) return;
  for (const auto& [name, value] : schema["properties"].items()) {
    fields.insert(path + "." + name);
    Named(value, path + "." + name, fields);
  }
}

TEST_CASE("plans of many models and flags are what the schema says, and fill in all of it") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"mlp/model.onnx", ""},
      {"mlp/model.onnx", "--search data"},
      {"mlp/model.onnx", "--search recursive --space tofu,copies=none"},
      {"mlp/model.onnx", "--devices 1"},
      {"mlp/model.onnx", "--devices 5 --replicate auto --memory 30kB"},
      {"mlp/model.onnx", "--pin batch=a --devices 4 --no-check"},
      {"mlp/model_dynamic.onnx", "--entry one*3:batch=1 --entry four:batch=4 --init"},
      {"encoder/model.onnx", "--space accumulators=all --train adam --loss softmax-cross-entropy"},
      {"lstm/model.onnx", "--devices 6"},
      {"lstm/model.onnx", ""},
      {"mlp/model.onnx", "--machine hgx-h100:2"},
      {"moe/model.onnx", "--machine hgx-h100"},
  };
  std::set<std::string> found;
  for (const auto& [model, flags] : cases) {
    INFO(model << " " << flags);
    const Json plan = Planned(model, flags);
    CHECK(Faults(plan) == "");
    Fields(plan, "", found);
  }
  std::set<std::string> named;
  Named(SchemaFile(), "", named);
  for (const std::string& field : named) {
    // GPUs run whatever operators there are, so that all plans are predicted.
    const bool rare = field == ".stopped" || field == ".unpredicted";
    if (field.rfind(".options.", 0) == 0 || rare) continue;
    INFO(field);
    CHECK(found.count(field) == 1);
  }
  for (const std::string& field : found) {
    const bool of_model =
        field.rfind(".options.", 0) == 0 || field.rfind(".graph.inputs.", 0) == 0 ||
        field.rfind(".machine.file.", 0) == 0 || field.rfind(".nodes.partition.", 0) == 0 ||
        field.rfind(".nodes.along.", 0) == 0;
    INFO(field);
    CHECK((of_model || named.count(field) == 1));
  }
}

TEST_CASE("options are texts, those of every flag of training among them") {
  const Json plan =
      Planned("mlp/model_dynamic.onnx",
              "--train adam --loss softmax-cross-entropy@y --lr 0.1 --clip 1 --batch 8 "
              "--batch-dim x:0 --micro-batches 2 --eval-entry 3 --freeze 'l.0.*' --freeze "
              "l.1.weight=0,2 --trainable 'l.1.*' --allow-missing-parameters");
  INFO(plan["options"].dump());
  CHECK(Faults(plan) == "");
  for (const char* option :
       {"allow-missing-parameters", "freeze.l.0.*", "freeze.l.1.weight", "trainable.l.1.*"})
    CHECK(plan["options"].contains(option));
}

TEST_CASE("a plan without a bound says null, and one nested by level what each level adds") {
  const Json baseline = Planned("mlp/model.onnx", "--search all-row --devices 4");
  CHECK(baseline["proof"]["kind"] == "none");
  CHECK(baseline["cost"]["lower_bound"].is_null());
  CHECK(baseline["cost"]["gap"].is_null());
  const Json levels = Planned("mlp/model.onnx", "--search recursive --space tofu");
  int64_t sum = 0;
  for (const Json& level : levels["cost"]["by_level"]) sum += level["bytes"].get<int64_t>();
  CHECK(levels["cost"]["by_level"].size() == levels["mesh"].size());
  CHECK(sum == levels["cost"]["bytes"]);
  CHECK_FALSE(Planned("mlp/model.onnx", "")["cost"].contains("by_level"));
}

TEST_CASE("what a plan must not have, the schema refuses") {
  const Json plan = Planned("mlp/model.onnx", "");
  REQUIRE(Faults(plan) == "");
  const auto refused = [&](const std::string& place, const Json& value) {
    Json altered = plan;
    altered[Json::json_pointer(place)] = value;
    INFO(place);
    CHECK(Faults(altered) != "");
  };
  refused("/format", "yuba-plan/1");
  refused("/cost/bytes", "many");
  refused("/cost/gap", 2);
  refused("/space/other", true);
  refused("/options/batch", 1);
  refused("/mesh/0/size", 1);
  refused("/tensors/0/kind", "other");
  refused("/nodes/0/partition", 1);
  Json lacking = plan;
  lacking.erase("proof");
  CHECK(Faults(lacking) != "");
}

}  // namespace
}  // namespace yuba::tools
