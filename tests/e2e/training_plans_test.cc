// What holds of plans for training steps of the zoo's families: a wider space is never dearer, a
// larger limit on memory moves no more (an RNN is an exception, see there), and a layer more costs
// what the layers before it cost.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"
#include "tests/support/part.h"

namespace yuba {
namespace {

struct Found {
  int64_t bytes = 0, memory = 0;
  double bound = 0;
};

// A training step of a model of the zoo.
class TrainedZoo {
 public:
  // `model` is what `yuba zoo` takes: "gpt --layers 2 ...".
  explicit TrainedZoo(const std::string& model, const std::string& optimizer = "adam")
      : folder_(ScratchFolder("training_plans")), name_(model), optimizer_(optimizer) {
    Succeed("yuba zoo " + model + " -o " + folder_ + "/model.onnx");
  }

  Found Plan(const std::string& flags) const {
    INFO(name_ << " " << flags);
    const std::string plan = folder_ + "/plan.json";
    Succeed("yuba partition " + folder_ + "/model.onnx --train " + optimizer_ +
            " --loss softmax-cross-entropy " + flags + " -o " + plan);
    std::ifstream stream(plan);
    const nlohmann::json read = nlohmann::json::parse(stream);
    Found found;
    found.bytes = read["cost"]["bytes"];
    const nlohmann::json& bound = read["cost"]["lower_bound"];  // null of baselines
    found.bound = bound.is_null() ? 0 : bound.get<double>();
    for (const nlohmann::json& device : read["memory"]) {
      found.memory = std::max(found.memory, device["arena"].get<int64_t>());
    }
    return found;
  }

 private:
  const std::string folder_, name_, optimizer_;
};

// One of each kind: attention, time steps with shared weights, convolutions with batch norms.
const std::vector<std::string>& Models() {
  static const std::vector<std::string> kModels = {
      "gpt --layers 2 --width 64 --heads 4 --sequence 32 --vocab 256 --batch 8",
      "rnn --layers 2 --width 64 --batch 16",
      "wresnet --layers 50 --width 1 --batch 8",
  };
  return kModels;
}

TEST_CASE("a wider space is never dearer") {
  for (size_t turn = 0; turn < Models().size(); ++turn) {
    const std::string& name = Models()[turn];
    const TrainedZoo model(name);
    const Found best = model.Plan("--devices 8");
    CHECK(best.bound <= static_cast<double>(best.bytes));
    const bool is_long = name.rfind("wresnet", 0) == 0;
    const std::vector<std::string> spaces = {"--space tofu", "--space copies=none",
                                             "--space accumulators=none", "--search recursive"};
    for (size_t s = 0; s < spaces.size(); ++s) {
      const std::string& narrower = spaces[s];
      if (!IsTried(turn + s, is_long ? 4 : 2)) continue;
      INFO(name << ", " << narrower);
      CHECK(best.bytes <= model.Plan("--devices 8 " + narrower).bytes);
    }
    if (is_long) continue;  // the search with replicas takes half a minute
    const Found replicated = model.Plan("--devices 8 --replicate auto");
    INFO(name << ", replicas");
    CHECK(replicated.bytes <= best.bytes);
    for (const char* baseline : {"data", "zero3"}) {
      INFO(baseline);
      CHECK(replicated.bytes <= model.Plan(std::string("--devices 8 --search ") + baseline).bytes);
    }
  }
}

// Within a limit the search of the RNN ends in a local minimum: within 0.9 of the memory 3.29 MB
// were found, and within 0.85 of it 3.07 MB.
TEST_CASE("a larger limit on memory moves no more, of an RNN hardly more") {
  const std::vector<std::pair<std::string, double>> slack = {
      {"gpt --layers 2 --width 64 --heads 4 --sequence 32 --vocab 256 --batch 8", 0},
      {"rnn --layers 2 --width 64 --batch 16", 0.1}};
  for (const auto& [name, more] : slack) {
    const TrainedZoo model(name);
    const Found unlimited = model.Plan("--devices 4");
    int64_t last = unlimited.bytes;
    const std::vector<double> shares = {1.0, 0.95, 0.9, 0.85};
    for (size_t s = 0; s < shares.size(); ++s) {
      if (!IsTried(s, 2)) continue;
      const double share = shares[s];
      const auto limit = static_cast<int64_t>(share * static_cast<double>(unlimited.memory));
      INFO(name << ", " << share << " of the memory");
      const Found found = model.Plan("--devices 4 --memory " + std::to_string(limit));
      CHECK(found.memory <= limit);
      CHECK(static_cast<double>(found.bytes) * (1 + more) >= static_cast<double>(last));
      last = std::max(last, found.bytes);
    }
  }
}

// Accumulators of five terms and more: where a byte of memory is priced above a byte that moves,
// terms that are cut unlike their accumulator would pay, so the replay of the bound must not allow
// them.
TEST_CASE("recurrences are planned within a limit on memory") {
  const std::string sizes = " --layers 1 --width 4 --batch 6 --inputs 5 --classes 3";
  const std::vector<std::pair<std::string, std::string>> limits = {
      {"5", "--devices 2 --memory 4128"},
      {"6", "--devices 3 --memory 3604 --space copies=none,accumulators=all"}};
  for (const auto& [steps, flags] : limits) {
    const TrainedZoo rnn("rnn --sequence " + steps + sizes, "sgd");
    CHECK(rnn.Plan(flags).bound > 0);
  }
}

TEST_CASE("a layer more costs what the layers before it cost") {
  std::map<int, Found> by_layers;
  for (const int layers : {4, 8, 16}) {
    const TrainedZoo model(
        "gpt --width 64 --heads 4 --sequence 32 --vocab 256 --batch 8 --layers " +
        std::to_string(layers));
    by_layers[layers] = model.Plan("--devices 8");
  }
  const double early = static_cast<double>(by_layers[8].bytes - by_layers[4].bytes) / 4;
  const double late = static_cast<double>(by_layers[16].bytes - by_layers[8].bytes) / 8;
  CHECK(late <= 1.01 * early);
}

// The best plans of recurrences cut the gates over the mesh in all steps together; no change of one
// step alone leads there.
TEST_CASE("plans of recurrences are near their bounds") {
  for (const int layers : {2, 3}) {
    const TrainedZoo model("rnn --width 8192 --batch 128 --layers " + std::to_string(layers));
    const Found found = model.Plan("--devices 8");
    INFO(layers << " layers");
    CHECK(static_cast<double>(found.bytes) <= 1.02 * found.bound);
  }
}

}  // namespace
}  // namespace yuba
