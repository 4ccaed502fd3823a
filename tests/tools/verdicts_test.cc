// What check, verify, compile and run print with --json, and that no verdict claims more than was
// checked.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

std::string Model() { return RepositoryFile("tests/models/mlp/model.onnx"); }

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string Planned(const std::string& folder) {
  const std::string plan = ScratchFolder(folder) + "/p.json";
  REQUIRE(RunCommand("yuba partition " + Model() + " --devices 2 -o " + plan).exit_code == 0);
  return plan;
}

// The one object on stdout.
nlohmann::json Json(const CommandResult& result) {
  INFO(result.out << result.error);
  const nlohmann::json json = nlohmann::json::parse(result.out, nullptr, false);
  REQUIRE(json.is_object());
  return json;
}

TEST_CASE("check, verify and compile --json print one object") {
  const std::string plan = Planned("json"), both = Model() + " " + plan;
  const nlohmann::json check = Json(RunCommand("yuba check --json " + both));
  CHECK(check["ok"] == true);
  CHECK(check["error"] == "");
  CHECK(check["devices"] == 2);
  CHECK(check["bytes"].get<int64_t>() >= check["lower_bound"].get<int64_t>());
  CHECK(check["proof"].is_string());
  const nlohmann::json verify = Json(RunCommand("yuba verify --json " + both));
  CHECK(verify["ok"] == true);
  CHECK(verify["cover"] == "whole");
  CHECK(verify["hash"] == "equal");
  CHECK(verify["elements"].get<int>() > 0);
  const std::string output = plan + ".yuba";
  const nlohmann::json compile = Json(RunCommand("yuba compile --json " + both + " -o " + output));
  CHECK(compile["ok"] == true);
  CHECK(compile["output"] == output);
  CHECK(compile["bytes"] == std::filesystem::file_size(output));
}

TEST_CASE("what check refuses it names, with the file and what to do") {
  const std::string plan = Planned("refused"), text = Read(plan);
  const auto says = [&](const std::string& from, const std::string& to, const std::string& words) {
    std::string altered = text;
    const size_t at = altered.find(from);
    REQUIRE(at != std::string::npos);
    std::ofstream(plan) << altered.replace(at, from.size(), to);
    const CommandResult result = RunCommand("yuba check " + Model() + " " + plan);
    INFO(result.out << result.error);
    CHECK(result.exit_code == 1);
    CHECK(result.error.find("p.json: " + words) != std::string::npos);
    CHECK(result.error.find(": plan again") != std::string::npos);
  };
  says("\"kind\":\"elimination\"", "\"kind\":\"none\"", "the lower bound of");
}

TEST_CASE("one is one, and help says what is taken where nothing is given") {
  const std::string plan = ScratchFolder("one") + "/p.json";
  const std::string made =
      RunCommand("yuba partition " + Model() + " --devices 1 --space copies=all -o " + plan).out;
  const std::string shown = RunCommand("yuba verify " + Model() + " " + plan).out + made;
  INFO(shown);
  CHECK(shown.find("1 device as mesh") != std::string::npos);
  CHECK(shown.find("on 1 device (") != std::string::npos);
  for (const char* wrong :
       {" 1 devices", " 1 nodes", " 1 transfers", "  parameters", " 1 outputs"}) {
    CHECK(shown.find(wrong) == std::string::npos);
  }
  const std::string run = RunCommand("yuba run --help").out;
  INFO(run);
  CHECK(run.find("--backend TEXT:{host,cuda,model}=host") != std::string::npos);
  CHECK(run.find("default: 60 on GPUs, 600 on") != std::string::npos);
  CHECK(run.find("default: one, or one for each") != std::string::npos);
  CHECK(run.find("default: a thread for each") != std::string::npos);
  CHECK(RunCommand("yuba partition --help").out.find("at most 64") != std::string::npos);
}

TEST_CASE("a failure is in the object too") {
  const CommandResult result = RunCommand("yuba check --json " + Model() + " no_such_plan.json");
  CHECK(result.exit_code == 2);
  const nlohmann::json check = Json(result);
  CHECK(check["ok"] == false);
  CHECK(check["error"].get<std::string>().find("no_such_plan.json") != std::string::npos);
}

TEST_CASE("run --expect --json carries the verdict") {
  const std::string run = "yuba run --json " + Model() + " " + Planned("verdict") + " --inputs " +
                          RepositoryFile("tests/models/mlp/test_data_set_0") + " --expect ";
  const CommandResult good = RunCommand(run + "1e-3"), bad = RunCommand(run + "1e-30");
  CHECK(good.exit_code == 0);
  CHECK(bad.exit_code == 1);
  const nlohmann::json yes = Json(good)["check"], no = Json(bad)["check"];
  CHECK(yes["ok"] == true);
  CHECK(yes["tolerance"] == 1e-3);
  REQUIRE(yes["outputs"].size() == 1);
  CHECK(yes["outputs"][0]["largest_difference"].get<double>() <=
        yes["outputs"][0]["allowed"].get<double>());
  CHECK(no["ok"] == false);
  CHECK(no["outputs"][0]["largest_difference"].get<double>() > 0);
}

// A .npy file of x: f32[12, 48] of the model, all of it this value.
void WriteInput(const std::string& file, float value) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 48), }";
  header.resize(117, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += header;
  for (int i = 0; i < 12 * 48; ++i)
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST_CASE("an output without elements is right where others were compared") {
  const std::string model = RepositoryFile("tests/models/operators/split/model.onnx"),
                    data = RepositoryFile("tests/models/operators/split/test_data_set_0"),
                    folder = ScratchFolder("empty_output");
  Succeed("yuba partition " + model + " --devices 2 -o " + folder + "/p.json");
  const std::string run = "yuba run " + model + " " + folder + "/p.json --expect 1e-5 --inputs ";
  CHECK(Succeed(run + data).out.find("ok   y8: no elements, here and in the file") !=
        std::string::npos);
  for (const char* file : {"input_0.pb", "output_8.pb"})
    std::filesystem::copy_file(data + "/" + file, folder + "/" + file);
  const CommandResult alone = RunCommand(run + folder);
  CHECK(alone.exit_code == 1);
  CHECK(alone.error.find("there was nothing to compare") != std::string::npos);
  const nlohmann::json verdict = Json(RunCommand(run + folder + " --json"))["check"];
  CHECK(verdict["ok"] == false);
  CHECK(verdict["outputs"][0]["ok"] == true);
}

TEST_CASE("infinities that are expected are right, and said to be so") {
  const std::string model = RepositoryFile("tests/models/operators/split/model.onnx"),
                    folder = ScratchFolder("infinite_output");
  Succeed("yuba partition " + model + " -o " + folder + "/p.json");
  auto x =
      ReadTensorFile(RepositoryFile("tests/models/operators/split/test_data_set_0/input_0.pb"));
  REQUIRE(x.ok());
  const float infinity = std::numeric_limits<float>::infinity();
  for (size_t at = 0; at < x->data.size(); at += sizeof infinity)
    x->data.replace(at, sizeof infinity, reinterpret_cast<const char*>(&infinity), sizeof infinity);
  std::ofstream(folder + "/input_0.npy", std::ios::binary) << FormatNpy(*x);
  const std::string run = "yuba run " + model + " " + folder + "/p.json --inputs " + folder;
  Succeed(run + " --outputs " + folder + "/made");
  std::filesystem::copy_file(folder + "/made/output_0.npy", folder + "/output_0.npy");
  const std::string said = Succeed(run + " --expect 1e-3").out;
  CHECK(said.find(" infinite in both") != std::string::npos);
  CHECK(said.find("all are 0") == std::string::npos);
}

TEST_CASE("a check that compares nothing fails, and NaN is no small difference") {
  const std::string data = ScratchFolder("nan_data"), plan = Planned("nan_plan");
  const std::string run = "yuba run " + Model() + " " + plan + " --inputs " + data;
  WriteInput(data + "/input_0.npy", NAN);
  Succeed(run + " --outputs " + data + "/made");
  std::filesystem::copy_file(data + "/made/output_0.npy", data + "/output_0.npy");
  const CommandResult nothing = RunCommand(run + " --expect 1e-3");
  CHECK(nothing.exit_code == 1);
  CHECK(nothing.out.find("WRONG y: nothing to compare: NaN in all of 120 elements") !=
        std::string::npos);
  WriteInput(data + "/input_0.npy", 1);
  CHECK(nothing.error.find("there was nothing to compare") != std::string::npos);
  const CommandResult numbers = RunCommand(run + " --expect 1e-3");
  CHECK(numbers.exit_code == 1);
  CHECK(numbers.out.find(
            "of 120 elements 120 are NaN or infinite here or in the file, but not in both") !=
        std::string::npos);
}

TEST_CASE("an expected output of another shape is shown beside what was computed") {
  const std::string data = ScratchFolder("shapes") + "/data";
  std::filesystem::copy(RepositoryFile("tests/models/mlp/test_data_set_0"), data);
  std::filesystem::permissions(data, std::filesystem::perms::owner_all);
  std::filesystem::remove(data + "/output_0.pb");
  std::filesystem::copy_file(data + "/input_0.pb", data + "/output_0.pb");
  const CommandResult result = RunCommand("yuba run " + Model() + " " + Planned("shapes_plan") +
                                          " --inputs " + data + " --expect 1e-3");
  CHECK(result.exit_code == 1);
  CHECK(result.out.find("WRONG y: is f32[12, 10], and f32[12, 48] in the file") !=
        std::string::npos);
}

TEST_CASE("of f16 and bf16 a check says how far apart their numbers are") {
  for (const char* model : {"mlp_f16", "mlp_bf16"}) {
    const std::string folder = RepositoryFile("tests/models/modern/") + model;
    const std::string plan = ScratchFolder(model) + "/p.json";
    Succeed("yuba partition " + folder + "/model.onnx --devices 5 --dim batch=6 -o " + plan);
    const std::string run = "yuba run " + folder + "/model.onnx " + plan + " --inputs " + folder +
                            "/test_data_set_0 --expect ";
    const CommandResult strict = RunCommand(run + "1e-9");
    INFO(strict.out);
    const size_t advice = strict.out.find("--expect ");
    REQUIRE(advice != std::string::npos);
    CHECK(strict.out.find(", where numbers of its type are ") != std::string::npos);
    CHECK(strict.error.find("an output differs from what was expected\n") != std::string::npos);
    Succeed(run + strict.out.substr(advice + 9, strict.out.find(' ', advice + 9) - advice - 9));
  }
}

TEST_CASE("tensors of --inputs that nothing reads are named") {
  const std::string data = ScratchFolder("unread") + "/data";
  std::filesystem::copy(RepositoryFile("tests/models/mlp/test_data_set_0"), data);
  const std::string run =
      "yuba run " + Model() + " " + Planned("unread_plan") + " --inputs " + data;
  CHECK(Succeed(run + " --expect 1e-3").error.find("note") == std::string::npos);
  std::filesystem::permissions(data, std::filesystem::perms::owner_all);
  for (const char* file : {"/input_1.pb", "/output_1.pb", "/notes.txt"})
    std::filesystem::copy_file(data + "/input_0.pb", data + file);
  CHECK(Succeed(run).error.find("nothing reads input_1.pb; input_0 and so on are x") !=
        std::string::npos);
  CHECK(Succeed(run + " --expect 1e-3").error.find("nothing reads input_1.pb, output_1.pb;") !=
        std::string::npos);
}

TEST_CASE("values of inputs that nothing reads are named and left out") {
  const std::string model = RepositoryFile("tests/models/decoder_cache/model.onnx");
  const std::string data = RepositoryFile("tests/models/decoder_cache/test_data_set_0");
  const std::string plan = ScratchFolder("left_out_input") + "/p.json";
  Succeed("yuba partition " + model + " --to-tensors cos --devices 2 -o " + plan);
  const std::string run =
      "yuba run " + model + " " + plan + " --input pos=" + data + "/input_1.pb --input ";
  const std::string ids = data + "/input_0.pb";
  CHECK(Succeed(run + "ids=" + ids)
            .error.find("note: --input ids=" + ids + ": nothing reads ids\n") != std::string::npos);
  const CommandResult unknown = RunCommand(run + "none=" + ids);
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.error.find("no input or parameter none") != std::string::npos);
}

TEST_CASE("a model of a newer opset than any known is read with a warning") {
  const std::string model = ScratchFolder("opset") + "/m.onnx";
  std::string bytes = Read(Model());
  const size_t at = bytes.find("\x42\x02\x10\x0e");  // opset_import { version: 14 }
  REQUIRE(at != std::string::npos);
  for (const bool newer : {false, true}) {
    bytes[at + 3] = newer ? 99 : 14;
    std::ofstream(model, std::ios::binary) << bytes;
    for (const std::string& line :
         {"yuba info " + model, "yuba partition " + model + " -o " + model + ".json"}) {
      const bool warned = Succeed(line).error.find("is of opset 99; up to ") != std::string::npos;
      CHECK(warned == newer);
      const CommandResult strict = RunCommand(line + " --strict");
      CHECK(strict.exit_code == (newer ? 2 : 0));
      CHECK((strict.error.find("--strict: the model is of opset 99") != std::string::npos) ==
            newer);
    }
  }
}

TEST_CASE("verify of a model that is too large to be run proves kernels on samples") {
  const std::string model = RepositoryFile("tests/models/mlp/model_dynamic.onnx");
  const std::string plan = ScratchFolder("left_out") + "/p.json";
  REQUIRE(RunCommand("yuba partition " + model + " --batch 10000000 --devices 2 -o " + plan)
              .exit_code == 0);
  const CommandResult left_out = Succeed("yuba verify " + model + " " + plan);
  CHECK(left_out.out.find("cover ") == 0);
  CHECK(left_out.out.find("\nkernels ") != std::string::npos);
  CHECK(left_out.out.find("hash    not run: whole and cut would take about") != std::string::npos);
  const nlohmann::json json = Json(RunCommand("yuba verify --json " + model + " " + plan));
  CHECK(json["ok"] == true);
  CHECK(json["hash"] == "left out");
  CHECK(json["functions"].get<int>() > 0);
  CHECK(json["sampled_elements"].get<int>() > 0);
  CHECK(json["run_bytes"].get<double>() > 1e9);
  const CommandResult cover = Succeed("yuba verify --scale cover " + model + " " + plan);
  CHECK(cover.out.find("kernels ") == std::string::npos);
}

TEST_CASE("two files for one output are an error, not a choice") {
  const std::string data = ScratchFolder("two") + "/data";
  std::filesystem::copy(RepositoryFile("tests/models/mlp/test_data_set_0"), data);
  const std::string run = "yuba run " + Model() + " " + Planned("two_plan") + " --inputs " + data;
  REQUIRE(RunCommand(run + " --outputs " + data + "2").exit_code == 0);
  std::filesystem::permissions(data, std::filesystem::perms::owner_all);
  std::filesystem::copy_file(data + "2/output_0.npy", data + "/output_0.npy");
  const CommandResult result = RunCommand(run + " --expect 1e-3");
  INFO(result.error);
  CHECK(result.exit_code == 2);
  CHECK(result.error.find("output_0.npy") != std::string::npos);
  CHECK(result.error.find("output_0.pb") != std::string::npos);
}

TEST_CASE(
    "files of inputs are numbered as the model's inputs, those among them that are weights too") {
  const std::string folder = "/usr/share/libonnx-testdata/data/node/test_matmul_2d";
  if (!std::filesystem::exists(folder)) {
    WARN("SKIP: " << folder << " is not there (package libonnx-testdata)");
    return;
  }
  const std::string model = folder + "/model.onnx", plan = ScratchFolder("numbered") + "/p.json";
  REQUIRE(RunCommand("yuba partition " + model + " --devices 3 -o " + plan).exit_code == 0);
  const CommandResult result = RunCommand("yuba run " + model + " " + plan + " --inputs " + folder +
                                          "/test_data_set_0 --expect 1e-3");
  INFO(result.error);
  CHECK(result.exit_code == 0);
}

TEST_CASE("a plan whose proof is replayed no more is legal, and has no bound") {
  const std::string plan = Planned("forgotten");
  nlohmann::json file = nlohmann::json::parse(Read(plan));
  file["proof"]["kind"] = "grids";
  file["proof"]["plain"] = 0;
  std::ofstream(plan) << file.dump();
  const CommandResult checked = RunCommand("yuba check " + Model() + " " + plan);
  INFO(checked.out << checked.error);
  CHECK(checked.exit_code == 0);
  CHECK(checked.out.find("no bound is proved (its proof is of a kind of before") !=
        std::string::npos);
  CHECK(RunCommand("yuba run " + Model() + " " + plan + " --random").exit_code == 0);
  file["cost"]["bytes"] = file["cost"]["bytes"].get<int64_t>() + 4;
  std::ofstream(plan) << file.dump();
  CHECK(RunCommand("yuba check " + Model() + " " + plan).exit_code == 1);
}

TEST_CASE("check names the first field of the plan that its shardings do not give") {
  const std::string plan = Planned("fields"), text = Read(plan);
  REQUIRE(RunCommand("yuba check " + Model() + " " + plan).exit_code == 0);
  const struct {
    const char *found, *put, *field;
  } lies[] = {
      {"\"peak\":", "\"peak\":1", "memory[0].peak"},
      {"\"shard\":[", "\"shard\":[1", "tensors[0].shard[0]"},
      {"\"kernel\":\"", "\"kernel\":\"x", "nodes[0].kernel"},
      {"\"why\":\"", "\"why\":\"x", "transfers[0].why"},
      {"\"collective\":\"", "\"collective\":\"x", "transfers[0].collective"},
      {"\"devices\":\"", "\"devices\":\"1", "options.devices"},
  };
  for (const auto& lie : lies) {
    INFO(lie.field);
    std::string other = text;
    const size_t at = other.find(lie.found);
    REQUIRE(at != std::string::npos);
    std::ofstream(plan, std::ios::binary)
        << other.replace(at, std::string(lie.found).size(), lie.put);
    const CommandResult result = RunCommand("yuba check " + Model() + " " + plan);
    INFO(result.error);
    CHECK(result.exit_code == 1);
    CHECK(result.error.find(lie.field) != std::string::npos);
  }
}

TEST_CASE(
    "the excerpt of docs/plan-format.md is of the file that is written, with all its fields") {
  const std::string plan = ScratchFolder("excerpt") + "/p.json";
  const std::string model = RepositoryFile("tests/models/mlp/model.onnx");
  REQUIRE(RunCommand("yuba partition " + model + " --devices 8 -o " + plan).exit_code == 0);
  const std::string written = Read(plan), document = Read(RepositoryFile("docs/plan-format.md"));
  const size_t begin = document.find("```\n", document.find("## An excerpt")) + 4;
  const std::string excerpt = document.substr(begin, document.find("```", begin) - begin);
  REQUIRE(excerpt.size() > 1000);
  std::istringstream shown(excerpt), lines(written);
  for (std::string line; std::getline(shown, line);) {
    INFO(line);
    CHECK((line == "  …" || written.find(line + "\n") != std::string::npos));
  }
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    const bool field = line.substr(0, 2) == " \"" || line.substr(0, 2) == "{\"";
    CHECK((!field || excerpt.find(line.substr(0, line.find(':') + 1)) != std::string::npos));
  }
}

}  // namespace
}  // namespace yuba::tools
