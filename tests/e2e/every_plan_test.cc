// Models in every space and by every baseline, those that take long in a part of them each (all
// with tools/test --all): the plan passes `yuba check` and the proof of coverage, its program
// equals the whole model in hash arithmetic, and it runs to the answers of the framework that wrote
// the model. `yuba run` itself refuses a run whose bytes are not the plan's.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/command.h"
#include "tests/support/part.h"

namespace yuba {
namespace {

const std::vector<std::string> kSpaces = {"", "--space copies=none", "--space tofu",
                                          "--replicate auto"};
const std::vector<std::string> kBaselines = {
    "--search data",    "--search zero3",      "--search megatron",
    "--search all-row", "--search equal-chop", "--search spartan",
    "--search icml18",  "--search mindspore",  "--search megatron-data"};

struct AnsweredModel {
  std::string folder;              // of model.onnx and test_data_set_0
  std::string sizes;               // options for its symbolic dimensions, those of the data set
  std::string tolerance = "2e-5";  // empty: its answers say nothing and are not compared
};

class PlansOfModel {
 public:
  explicit PlansOfModel(AnsweredModel model)
      : model_(std::move(model)),
        file_(" " + model_.folder + "/model.onnx "),
        plan_(ScratchFolder("every_plan") + "/plan.json") {}

  // `proof` are options of `yuba verify`: how much is proved before the run.
  void Pass(const std::vector<std::string>& plans, int devices, const std::string& proof) const {
    for (const std::string& options : plans) {
      INFO(model_.folder << " " << options << " on " << devices);
      Succeed("yuba partition" + file_ + model_.sizes + " " + options + " --devices " +
              std::to_string(devices) + " -o " + plan_);
      Succeed("yuba check" + file_ + plan_);
      const CommandResult verified = Succeed("yuba verify" + file_ + plan_ + proof);
      CHECK((!proof.empty() || verified.out.find("bit for bit") != std::string::npos));
      const bool answered = !model_.tolerance.empty();
      const CommandResult ran =
          Succeed("yuba run" + file_ + plan_ + " --inputs " + model_.folder + "/test_data_set_0" +
                  (answered ? " --expect " + model_.tolerance : ""));
      CHECK((ran.out.find("ok   ") != std::string::npos) == answered);
    }
  }

 private:
  const AnsweredModel model_;
  const std::string file_, plan_;
};

constexpr char kCoverAlone[] = " --scale cover";

void PassAll(const AnsweredModel& model) {
  for (const std::vector<std::string>& kind : {kSpaces, kBaselines}) {
    PlansOfModel(model).Pass(kind, 8, "");
    PlansOfModel(model).Pass(kind, 6, kCoverAlone);
  }
}

// One of `most` plans or all (part.h), on 6 and 8 devices in turns; models of consecutive `turn`s
// pass them all.
void PassSome(const AnsweredModel& model, size_t most, size_t turn) {
  const size_t every = TriesAll() ? 1 : most;
  std::vector<std::string> all = kSpaces;
  all.insert(all.end(), kBaselines.begin(), kBaselines.end());
  for (size_t i = turn % every; i < all.size(); i += every) {
    PlansOfModel(model).Pass({all[i]}, (turn + i / every) % 2 == 0 ? 8 : 6, "");
  }
}

AnsweredModel Small(const std::string& name, const std::string& sizes = "") {
  return {RepositoryFile("tests/models/" + name), sizes};
}

TEST_CASE("mlp gives PyTorch's answers by every plan") { PassAll(Small("mlp")); }
TEST_CASE("conv gives PyTorch's answers by plans") { PassSome(Small("conv"), 2, 0); }
TEST_CASE("lstm gives PyTorch's answers by plans") { PassSome(Small("lstm"), 3, 0); }
TEST_CASE("encoder gives PyTorch's answers by plans") { PassSome(Small("encoder"), 3, 1); }
TEST_CASE("gpt gives PyTorch's answers by plans") { PassSome(Small("gpt"), 2, 1); }

TEST_CASE("models of today's exporter give PyTorch's answers by plans") {
  const std::string tokens = " --dim batch=3 --dim sequence=11", rows = " --dim batch=6";
  AnsweredModel f16 = Small("modern/mlp_f16", rows), bf16 = Small("modern/mlp_bf16", rows);
  f16.tolerance = "4e-3";
  bf16.tolerance = "2e-2";
  size_t turn = 0;
  for (const AnsweredModel& model :
       {f16, bf16, Small("modern/decoder_opset18", tokens), Small("modern/decoder_opset23", tokens),
        Small("modern/resnet_opset21", " --dim batch=4 --dim height=33 --dim width=37")}) {
    PassSome(model, 5, turn++);
  }
}

TEST_CASE("models outside the repository give their answers by plans") {
  const std::string data = TestData();
  if (data.empty()) {
    WARN("SKIP: YUBA_TEST_DATA is not set");
    return;
  }
  PassSome({data + "/models/modern/resnet_opset18", " --dim batch=4"}, 4, 0);
  // Their weights are all 0.02 and their answers a softmax of equal numbers, which in SqueezeNet
  // are near 1e10: one rounding more in one channel, as other processors make it, makes that
  // channel's 0.001 a 0. So they run, but only hash arithmetic says whether the plan computes the
  // model.
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(data + "/light")) {
    folders.push_back(entry.path().string());
  }
  std::sort(folders.begin(), folders.end());
  for (size_t turn = 0; turn < folders.size(); ++turn) {
    PassSome({folders[turn], "", ""}, 12, 2 * turn);
  }
}

TEST_CASE("models of full size run as planned") {
  const std::string data = TestData();
  if (data.empty()) {
    WARN("SKIP: YUBA_TEST_DATA is not set");
    return;
  }
  const std::string plan = ScratchFolder("full_size") + "/plan.json";
  for (const std::string name : {"resnet50", "gpt2_small", "lstm_6x1024_t20"}) {
    const std::string model = " " + data + "/models/" + name + ".onnx ";
    for (const std::string options : {"--devices 8", "--devices 6 --space tofu"}) {
      if (!TriesAll() && (name == "resnet50") == (options == "--devices 8")) continue;
      Succeed("yuba partition" + model + options + " -o " + plan);
      Succeed("yuba check" + model + plan);
      Succeed("yuba verify" + model + plan + kCoverAlone);
      Succeed("yuba run" + model + plan + " --random");
    }
  }
}

}  // namespace
}  // namespace yuba
