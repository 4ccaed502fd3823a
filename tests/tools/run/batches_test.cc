// Batches of a run, below the command: orders of epochs, rows of files, folders.
#include "tools/run/data/batches.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "opsemantics/values/tensor_file.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"
#include "tools/run/data/example_batches.h"

namespace yuba::tools {
namespace {

std::vector<int64_t> Epoch(EpochOrder& order, int64_t epoch, int64_t count) {
  std::vector<int64_t> taken;
  for (int64_t i = 0; i < count; ++i) taken.push_back(order.At(epoch, i));
  return taken;
}

TEST_CASE("a seed gives each epoch an order of its own, in which everything occurs once") {
  constexpr int64_t kCount = 1000;
  EpochOrder order(kCount, 7), again(kCount, 7), other(kCount, 8);
  const std::vector<int64_t> first = Epoch(order, 0, kCount), second = Epoch(order, 1, kCount);
  for (const auto& taken : {first, second}) {
    CHECK(std::set<int64_t>(taken.begin(), taken.end()).size() == kCount);
    CHECK(*std::max_element(taken.begin(), taken.end()) == kCount - 1);
  }
  CHECK(first != second);
  CHECK(Epoch(other, 0, kCount) != first);
  // What was asked for before does not matter, so that a run can begin anywhere.
  CHECK(Epoch(again, 1, kCount) == second);
  CHECK(Epoch(again, 0, kCount) == first);
  EpochOrder plain(kCount, absl::nullopt);
  CHECK(plain.At(3, 17) == 17);
  // The order is the same on every machine: a checkpoint of one goes on on another.
  EpochOrder known(5, 7);
  CHECK(Epoch(known, 0, 5) == std::vector<int64_t>{2, 4, 0, 3, 1});
}

// A folder with seven examples of x, f32[2], and of labels: example i is [i, 10 i] and i.
std::string SevenExamples() {
  const std::string folder = ScratchFolder("seven");
  TensorData x{ElementType::kF32, {7, 2}, ""}, labels{ElementType::kU8, {7}, ""};
  for (int i = 0; i < 7; ++i) {
    for (const float value : {1.0f * static_cast<float>(i), 10.0f * static_cast<float>(i)}) {
      x.data.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    labels.data += static_cast<char>(i);
  }
  std::ofstream(folder + "/x.npy", std::ios::binary) << FormatNpy(x);
  REQUIRE_THAT(WriteSafetensors(folder + "/l.safetensors",
                                {{"labels", ElementType::kU8, {7}, [&] { return labels; }}}),
               IsOk());
  std::ofstream(folder + "/notes.npy") << "no array, and nobody wants it";
  return folder;
}

RunPorts TwoInputs() {
  RunPorts ports;
  ports.entries = {"step"};
  ports.inputs = {"x", "labels"};
  ports.types = {{"x", {ElementType::kF32, {3, 2}, 0}}, {"labels", {ElementType::kI64, {3}, 0}}};
  return ports;
}

TEST_CASE("batches hold the same examples of each input, each once an epoch") {
  const auto batches = OpenExamples(SevenExamples(), TwoInputs(), "step", {}, 5);
  REQUIRE_THAT(batches, IsOk());
  REQUIRE((*batches)->in_epoch() == 2);
  CHECK((*batches)->Describe().find("7 examples of x, labels in ") == 0);
  CHECK((*batches)->Describe().find("2 batches of 3 an epoch, shuffled by seed 5; the last 1 of "
                                    "each epoch fill no batch") != std::string::npos);
  std::set<int> all;
  for (int64_t epoch = 0; epoch < 8; ++epoch) {
    std::set<int> taken;
    for (const int64_t batch : {0, 1}) {
      const auto files = (*batches)->Read(2 * epoch + batch);
      REQUIRE_THAT(files, IsOk());
      REQUIRE(files->inputs.size() == 2);
      const TensorData &x = files->inputs[0].value, &labels = files->inputs[1].value;
      CHECK(x.dims == std::vector<int64_t>{3, 2});
      REQUIRE(x.data.size() == 24);
      for (int row = 0; row < 3; ++row) {
        float pair[2];
        std::memcpy(pair, &x.data[8 * row], sizeof pair);
        CHECK(pair[1] == 10 * pair[0]);
        CHECK(static_cast<int>(pair[0]) == labels.data[row]);
        taken.insert(labels.data[row]);
      }
    }
    CHECK(taken.size() == 6);
    all.insert(taken.begin(), taken.end());
  }
  CHECK(all.size() == 7);  // another example is left out in each epoch
}

TEST_CASE("batches go on behind the examples that were seen") {
  const auto opened = OpenExamples(SevenExamples(), TwoInputs(), "step", {}, absl::nullopt);
  REQUIRE_THAT(opened, IsOk());
  Batches& batches = **opened;
  const auto places = [&](int64_t first) {
    std::vector<int64_t> at;  // epoch 2, example 3: 203
    for (int64_t step = first; step < first + 5; ++step)
      at.push_back(100 * batches.At(step).epoch + batches.At(step).seen);
    return at;
  };
  const auto after = [&](int64_t steps) {
    return 100 * batches.After(steps).epoch + batches.After(steps).seen;
  };
  CHECK(places(0) == std::vector<int64_t>{0, 3, 100, 103, 200});
  CHECK(after(0) == 0);
  CHECK(after(2) == 6);
  CHECK(batches.StepsUntil(3) == 6);
  batches.GoOn(10, {1, 2});  // ten steps of other sizes saw two examples of the second epoch
  CHECK(places(10) == std::vector<int64_t>{102, 200, 203, 300, 303});
  CHECK(after(10) == 102);
  CHECK(after(11) == 105);
  CHECK(after(12) == 203);
  CHECK(batches.StepsUntil(1) == 10);
  CHECK(batches.StepsUntil(2) == 11);
  CHECK(batches.StepsUntil(4) == 15);
  const auto files = batches.Read(10);
  REQUIRE_THAT(files, IsOk());
  CHECK(files->inputs[1].value.data == std::string("\2\3\4"));
  batches.GoOn(10, {1, 6});  // one is left, which fills no batch
  CHECK(places(10) == std::vector<int64_t>{200, 203, 300, 303, 400});
  CHECK(batches.StepsUntil(2) == 10);
}

TEST_CASE("a reader hands out the batches of its steps in order") {
  const auto batches = OpenExamples(SevenExamples(), TwoInputs(), "step", {}, absl::nullopt);
  REQUIRE_THAT(batches, IsOk());
  BatchReader reader(**batches, 1, 4);
  for (const char first : {3, 0, 3}) {
    const auto files = reader.Next();
    REQUIRE_THAT(files, IsOk());
    CHECK(files->inputs[1].value.data ==
          std::string({first, static_cast<char>(first + 1), static_cast<char>(first + 2)}));
  }
}

TEST_CASE("examples that do not go together are refused by file and input") {
  const std::string folder = SevenExamples();
  const auto fails = [&](const RunPorts& ports, const std::string& why) {
    CHECK_THAT(OpenExamples(folder, ports, "step", {}, absl::nullopt), Fails(why));
  };
  RunPorts ports = TwoInputs();
  ports.types["x"].dims = {3, 4};
  fails(ports, "x.npy: has f32[7, 2] for the input x; a step reads f32[3, 4], so f32[N, 4] is");
  ports.types["x"] = {ElementType::kF64, {3, 2}, 0};
  fails(ports, "a step reads f64[3, 2], so f64[N, 2] is wanted");
  ports.types["x"] = {ElementType::kF32, {4, 2}, 0};
  fails(ports, "a step reads f32[4, 2] of the input x for 3 examples, and ");
  ports.types["x"] = {ElementType::kF32, {}};
  fails(ports, "the input x, f32[], has no dimension that counts examples");
  ports = TwoInputs();
  ports.types["x"].dims[0] = ports.types["labels"].dims[0] = 8;
  fails(ports, "x.npy: has 7 examples of x, and a step takes 8");
  ports = TwoInputs();
  ports.inputs.push_back("mask");
  ports.types["mask"] = {ElementType::kF32, {3, 3}};
  fails(ports, "has no values of the input mask, f32[3, 3]: it has labels, notes, x; add mask.npy");
  CHECK_THAT(OpenExamples(folder, ports, "step", {"mask"}, absl::nullopt), IsOk());
  ports = TwoInputs();
  ports.inputs.push_back("notes");
  ports.types["notes"] = {ElementType::kF32, {3}};
  fails(ports, "notes.npy: this is no .npy file");
  const TensorData six{ElementType::kF32, {6, 2}, std::string(48, '\0')};
  std::ofstream(folder + "/x.npy", std::ios::binary) << FormatNpy(six);
  fails(TwoInputs(), "l.safetensors: has 7 examples of labels, and ");
  std::ofstream(folder + "/labels.npy", std::ios::binary) << FormatNpy(six);
  fails(TwoInputs(), "both have values of labels: remove one of them");
}

}  // namespace
}  // namespace yuba::tools
