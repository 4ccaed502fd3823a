// Models with convolutions whose channels are innermost in memory, on fake GPUs: what row-major
// ones give on the host, whole and cut, in inference and in training; in hash arithmetic bit for
// bit, on the host too.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "opsemantics/values/tensor_file.h"
#include "runtime/program/program.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

const std::string& Yuba() {
  static const auto* const command =
      new std::string(RepositoryFile("tests/runtime/cuda/yuba-on-fakes") + " ");
  return *command;
}

bool HaveCuda() {
#ifdef YUBA_WITH_CUDA
  return true;
#else
  WARN("SKIP: built without CUDA");
  return false;
#endif
}

struct Layout {
  int ordered = 0;    // buffers that are not row-major
  int reordered = 0;  // weights and states among them
};

Layout LayoutOf(const std::string& file) {
  const auto program = runtime::LoadedProgram::FromFile(file);
  REQUIRE_THAT(program, IsOk());
  const program::Program& message = (*program)->message();
  Layout layout;
  for (const program::Buffer& buffer : message.buffers()) layout.ordered += !buffer.order().empty();
  for (const program::Initializer& stored : message.parameters())
    layout.reordered += !message.buffers(stored.port().buffer()).order().empty();
  return layout;
}

// Runs three steps of the program and returns the elements of an output.
std::vector<float> OutputOf(const std::string& program, const std::string& target,
                            const std::string& folder) {
  const CommandResult ran =
      RunCommand(RepositoryFile("tests/runtime/cuda/yuba-run-on-fakes") + " " + program +
                 " --backend " + target + " --random=3 --steps 3 --outputs " + folder + "/out");
  INFO(ran.error);
  CHECK(ran.exit_code == 0);
  CHECK(ran.error.find("warning") == std::string::npos);
  const auto output = ReadTensorFile(folder + "/out/output_0.npy");
  REQUIRE_THAT(output, IsOk());
  REQUIRE(output->type == ElementType::kF32);
  std::vector<float> values(output->data.size() / sizeof(float));
  std::memcpy(values.data(), output->data.data(), output->data.size());
  return values;
}

bool AreClose(const std::vector<float>& found, const std::vector<float>& expected, float within) {
  if (found.size() != expected.size() || found.empty()) return false;
  float largest = 0, difference = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!std::isfinite(found[i])) return false;
    largest = std::max(largest, std::abs(expected[i]));
    difference = std::max(difference, std::abs(found[i] - expected[i]));
  }
  return difference <= within * largest;
}

struct Case {
  std::string model, flags;
  int devices = 1;
};

std::vector<Case> Cases() {
  const std::string training = "--train adam --loss mse --lr 0.01 ";
  return {{"conv", "", 1}, {"conv", "", 2}, {"conv", training, 1}, {"conv", training, 3}};
}

TEST_CASE("channels-last programs on fake GPUs give what row-major ones give on the host") {
  if (!HaveCuda()) return;
  const std::string folder = ScratchFolder("layouts");
  for (const Case& test : Cases()) {
    INFO(test.model << " " << test.flags << "on " << test.devices);
    const std::string model = RepositoryFile("tests/models/" + test.model + "/model.onnx") + " ",
                      plan = folder + "/p.json ", program = folder + "/p.yuba";
    Succeed(Yuba() + "partition " + model + test.flags + "--devices " +
            std::to_string(test.devices) + " -o " + plan);
    const auto output = [&](const std::string& target, const std::string& layouts) {
      Succeed(Yuba() + "compile " + model + plan + "--target " + target + " --layouts " + layouts +
              " -o " + program);
      const Layout layout = LayoutOf(program);
      CHECK((layout.ordered > 0) == (layouts == "channels-last"));
      CHECK((layout.reordered > 0) == (layouts == "channels-last"));
      return OutputOf(program, target, folder);
    };
    const std::vector<float> expected = output("host", "row-major");
    CHECK(AreClose(output("cuda", "channels-last"), expected, 2e-5F));
    CHECK(AreClose(output("host", "channels-last"), expected, 2e-5F));
    CHECK(AreClose(output("cuda", "auto"), expected, 2e-5F));
  }
}

TEST_CASE("of small floats channels are innermost unless --layouts says otherwise") {
  if (!HaveCuda()) return;
  const std::string folder = ScratchFolder("layouts"), plan = folder + "/p.json ",
                    model = RepositoryFile("tests/models/conv/model.onnx") + " ";
  Succeed(Yuba() + "partition " + model +
          "--devices 2 --train adam --loss mse --lr 0.01 --precision bf16 -o " + plan);
  const auto compiled = [&](const std::string& flags) {
    Succeed(Yuba() + "compile " + model + plan + flags + " -o " + folder + "/p.yuba");
    return LayoutOf(folder + "/p.yuba");
  };
  CHECK(compiled("--target cuda --layouts row-major").ordered == 0);
  const std::vector<float> expected = OutputOf(folder + "/p.yuba", "cuda", folder);
  CHECK(compiled("--target host").ordered == 0);
  CHECK(compiled("--target cuda").reordered > 0);
  CHECK(AreClose(OutputOf(folder + "/p.yuba", "cuda", folder), expected, 2e-2F));
}

TEST_CASE("a run goes on from a checkpoint of a program with other layouts") {
  if (!HaveCuda()) return;
  const std::string folder = ScratchFolder("layouts"), plan = folder + "/p.json ",
                    model = RepositoryFile("tests/models/conv/model.onnx") + " ";
  Succeed(Yuba() + "partition " + model + "--devices 2 --train adam --loss mse --lr 0.01 -o " +
          plan);
  const auto compile = [&](const std::string& layouts) {
    Succeed(Yuba() + "compile " + model + plan + "--layouts " + layouts + " -o " + folder + "/" +
            layouts + ".yuba");
  };
  compile("row-major");
  compile("channels-last");
  const auto run = [&](const std::string& layouts, const std::string& flags) {
    Succeed(RepositoryFile("tests/runtime/cuda/yuba-run-on-fakes") + " " + folder + "/" + layouts +
            ".yuba " + flags + " --outputs " + folder + "/" + layouts);
    const auto output = ReadTensorFile(folder + "/" + layouts + "/output_0.npy");
    REQUIRE_THAT(output, IsOk());
    std::vector<float> values(output->data.size() / sizeof(float));
    std::memcpy(values.data(), output->data.data(), output->data.size());
    return values;
  };
  const std::string half = folder + "/half.st";
  for (const std::string first : {"row-major", "channels-last"}) {
    INFO(first);
    run(first, "--random=3 --steps 2 --save " + half);
    const std::string rest = "--random=3 --steps 4 --resume " + half;
    const std::vector<float> expected = run("row-major", rest);
    CHECK(AreClose(run("channels-last", rest), expected, 2e-5F));
  }
}

TEST_CASE("in hash arithmetic channels-last programs have the bits of row-major ones") {
  if (!HaveCuda()) return;
  const std::string folder = ScratchFolder("layouts");
  for (const Case& test : Cases()) {
    INFO(test.model << " " << test.flags << "on " << test.devices);
    const std::string model = RepositoryFile("tests/models/" + test.model + "/model.onnx") + " ",
                      plan = folder + "/p.json ", program = folder + "/p.yuba ";
    Succeed(Yuba() + "partition " + model + test.flags + "--devices " +
            std::to_string(test.devices) + " -o " + plan);
    const auto run = [&](const std::string& target, const std::string& layouts,
                         const std::string& out) {
      Succeed(Yuba() + "compile " + model + plan + "--hash-arithmetic --target " + target +
              " --layouts " + layouts + " -o " + program);
      Succeed(RepositoryFile("tests/runtime/cuda/yuba-run-on-fakes") + " " + program +
              "--backend " + target + " --random=3 --steps 2 --outputs " + folder + "/" + out);
    };
    run("host", "row-major", "plain");
    run("host", "channels-last", "host");
    run("cuda", "channels-last", "cuda");
    Succeed("diff -r " + folder + "/plain " + folder + "/host");
    Succeed("diff -r " + folder + "/plain " + folder + "/cuda");
  }
}

}  // namespace
}  // namespace yuba
