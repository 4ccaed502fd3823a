// `yuba run --guard nan`: the first instruction whose result held a NaN or an infinity.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "opsemantics/values/tensor_file.h"
#include "runtime/nan_watch.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

template <typename Number>
std::string BytesOf(const std::vector<Number>& numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.data()),
                     numbers.size() * sizeof(Number));
}

TEST_CASE("NaN and infinities are found in every format of floats") {
  const auto check = [](ElementType type, const std::string& bytes, bool nan, bool infinity) {
    INFO(Name(type));
    const runtime::Special special = runtime::SpecialsIn(type, bytes);
    CHECK(special.nan == nan);
    CHECK(special.infinity == infinity);
  };
  const float inf = std::numeric_limits<float>::infinity();
  check(ElementType::kF32, BytesOf<float>({1, -inf, 0}), false, true);
  check(ElementType::kF32, BytesOf<float>({1, std::nanf(""), 0}), true, false);
  check(ElementType::kF32, BytesOf<float>({-3e38f, 1e-40f, -0.0f}), false, false);
  check(ElementType::kF64, BytesOf<double>({inf, -std::nan("")}), true, true);
  check(ElementType::kF64, BytesOf<double>({-1.7e308, 5e-324}), false, false);
  check(ElementType::kF16, BytesOf<uint16_t>({0x7bff, 0xfbff, 0x0001}), false, false);
  check(ElementType::kF16, BytesOf<uint16_t>({0xfc00}), false, true);
  check(ElementType::kF16, BytesOf<uint16_t>({0x7c01}), true, false);
  check(ElementType::kBF16, BytesOf<uint16_t>({0x7f7f, 0xff7f}), false, false);
  check(ElementType::kBF16, BytesOf<uint16_t>({0x7f80}), false, true);
  check(ElementType::kBF16, BytesOf<uint16_t>({0xff81}), true, false);
  check(ElementType::kI32, BytesOf<int32_t>({-1, 0x7f800000}), false, false);
}

struct Training {
  explicit Training(const std::string& name)
      : folder(ScratchFolder("nan_" + name)), models(RepositoryFile("tests/models/mlp")) {
    Succeed("yuba partition " + models + "/model.onnx --train adam --loss softmax-cross-entropy " +
            "--devices 4 -o " + folder + "/p.json");
  }
  std::string Command(const std::string& flags) const {
    return "yuba run " + models + "/model.onnx " + folder + "/p.json --input labels=" + models +
           "/labels.pb " + flags;
  }

  std::string folder, models;
};

TEST_CASE("the update that overflows is named, with its node, before states are saved") {
  const Training training("update");
  const std::string rates = training.folder + "/rates", saved = training.folder + "/saved.st";
  std::ofstream(rates) << "0.1\n1e30\n1e38\n";
  const std::string run = training.Command(
      "--inputs " + training.models + "/test_data_set_0 --lr-schedule " + rates + " --steps 5 ");
  const CommandResult plain = Succeed(run);
  CHECK(plain.error.find("note: loss of step 4 is nan; --guard nan says which") !=
        std::string::npos);
  CHECK(plain.error.find("note: ", plain.error.find("note: ") + 1) == std::string::npos);  // once
  CHECK(plain.out.find("step 5  loss nan ") != std::string::npos);
  for (const char* flags : {"", " --interleave 3", " --guard memory"}) {
    const CommandResult ran =
        RunCommand(run + "--guard nan --save-every 1 --save " + saved + flags);
    INFO(ran.error);
    CHECK(ran.exit_code == 1);
    CHECK(ran.error.find("step 3: l.") != std::string::npos);
    CHECK(ran.error.find("holds an infinity. First, instruction ") != std::string::npos);
    CHECK(ran.error.find(", from adam of l.") != std::string::npos);
    // The kernel may compute moments before the weight.
    const size_t made = ran.error.find(" made an infinity by ");
    REQUIRE(made != std::string::npos);
    CHECK(ran.error.find("w'[", made) != std::string::npos);
    CHECK(ran.out.find("step 2  loss ") != std::string::npos);
    CHECK(ran.out.find("step 3") == std::string::npos);
  }
  // The last checkpoint is that of the last good step.
  CHECK(RunCommand(run + "--guard nan --resume " + saved).error.find("step 3: l.") !=
        std::string::npos);
}

TEST_CASE("data with a NaN is named, and good steps are only watched") {
  const Training training("data");
  TensorData x{ElementType::kF32, {12, 48}, BytesOf(std::vector<float>(12 * 48, 0.5f))};
  const auto run = [&] {
    std::ofstream(training.folder + "/x.npy", std::ios::binary) << FormatNpy(x);
    return training.Command("--steps 2 --input x=" + training.folder + "/x.npy ");
  };
  const auto losses = [](const CommandResult& ran) {
    std::string found;
    for (size_t at = ran.out.find("loss "); at != std::string::npos;
         at = ran.out.find("loss ", at + 1))
      found += ran.out.substr(at, ran.out.find("  ", at) - at);
    return found;
  };
  CHECK(losses(Succeed(run() + "--guard nan")) == losses(Succeed(run())));
  const float nan = std::nanf("");
  x.data.replace(40 * sizeof nan, sizeof nan, reinterpret_cast<const char*>(&nan), sizeof nan);
  const CommandResult ran = RunCommand(run() + "--guard nan");
  INFO(ran.error);
  CHECK(ran.exit_code == 1);
  CHECK(ran.error.find("step 1: ") != std::string::npos);
  CHECK(ran.error.find(" read NaN that was there before the step, in x") != std::string::npos);
  CHECK(RunCommand(run() + "--guard inf").exit_code == 2);
}

}  // namespace
}  // namespace yuba
