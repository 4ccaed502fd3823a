// What `--trace` writes: for each instruction when it ran, and what it had to do.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::json;

// A run of a model on so many devices, for two steps: its trace's events but for the names of
// devices, and the figures that it printed.
struct Traced {
  explicit Traced(int devices, const std::string& name = "mlp") {
    const std::string folder = ScratchFolder("trace" + std::to_string(devices));
    const std::string model = RepositoryFile("tests/models/" + name + "/model.onnx");
    Succeed("yuba partition " + model + " --devices " + std::to_string(devices) + " -o " + folder +
            "/plan.json");
    printed = Json::parse(Succeed("yuba run " + model + " " + folder +
                                  "/plan.json --random --steps 2 --json --trace " + folder +
                                  "/trace.json")
                              .out);
    std::ifstream file(folder + "/trace.json");
    const Json trace = Json::parse(file);
    for (const Json& event : trace["traceEvents"]) {
      if (event["ph"] == "X") events.push_back(event);
    }
  }
  std::vector<Json> Of(const std::string& kind) const {
    std::vector<Json> found;
    for (const Json& event : events) {
      if (event["cat"] == kind) found.push_back(event);
    }
    return found;
  }

  std::vector<Json> events;
  Json printed;
};

TEST_CASE("kernels in a trace say how many bytes and points they have") {
  const Traced whole(1), parts(2);
  // The first layer: [12, 48] times [48, W]. W follows from the points, and the bytes from W.
  const Json first = whole.Of("kernel").at(0);
  INFO(first);
  CHECK(first["args"]["type"] == "f32");
  CHECK(first["args"]["library"] == true);
  const double width = first["args"]["points"].get<double>() / (12 * 48);
  CHECK(first["args"]["bytes"].get<double>() == 4 * (12 * 48 + 48 * width + 12 * width));
  // 12 rows and the weights' transpose, or all of it transposed.
  const Json& call = first["args"]["call"];
  CHECK(call["call"] == "product");
  CHECK(call["type"] == "f32");
  CHECK(call["k"] == 48);
  CHECK(call["m"].get<double>() * call["n"].get<double>() == 12 * width);
  CHECK((call["m"] == 12 || call["n"] == 12));
  CHECK(call["batch"].empty());
  // Two devices share the points.
  double one = 0, both = 0;
  for (const Json& kernel : whole.Of("kernel")) one += kernel["args"]["points"].get<double>();
  for (const Json& kernel : parts.Of("kernel")) both += kernel["args"]["points"].get<double>();
  CHECK(one == both);
}

// Images 6 x 3 x 29 x 31: 12 channels by windows of 5 x 5 and stride 2, then 12 of them in 4
// groups.
TEST_CASE("a convolution in a trace says what its library was called with") {
  const Traced traced(1, "conv");
  std::vector<Json> calls;
  for (const Json& kernel : traced.Of("kernel")) {
    const Json& args = kernel["args"];
    if (args["step"] == 0 && args.contains("call") && args["call"]["call"] == "convolution")
      calls.push_back(args["call"]);
  }
  REQUIRE(calls.size() == 2);
  INFO(calls[0] << calls[1]);
  CHECK(calls[0]["images"] == 6);
  CHECK(calls[0]["inner"] == 3);
  CHECK(calls[0]["channels"] == 12);
  CHECK(calls[0]["input"] == std::vector<int>{3 * 29 * 31, 29 * 31, 31, 1});
  CHECK(calls[0]["filter"] == std::vector<int>{3 * 25, 25, 5, 1});
  CHECK(calls[0]["output"] == std::vector<int>{12 * 15 * 16, 15 * 16, 16, 1});
  CHECK(calls[1]["groups"] == 4);
  CHECK(calls[1]["inner"] == 3);
  CHECK(calls[1]["windows"][0]["dilation"] == 2);
  for (const Json& call : calls) {
    for (const Json& window : call["windows"]) {
      const int reach = window["dilation"].get<int>() * (window["taps"].get<int>() - 1) + 1;
      const int padded =
          window["input"].get<int>() + window["before"].get<int>() + window["behind"].get<int>();
      CHECK(window["outputs"] == (padded - reach) / window["stride"].get<int>() + 1);
    }
  }
}

// y[i, a, b, j] = pick(r where r == ids[a, b]) x[i, r, j], with x [3, 5, 2] and ids [2, 2].
TEST_CASE("an index that data determine adds no points, and rows that are not read no bytes") {
  const std::vector<Json> kernels = Traced(1, "operators/gather").Of("kernel");
  REQUIRE(kernels.size() == 4);  // in each of two steps this one and another
  CHECK(kernels[2]["args"]["step"] == 1);
  CHECK(kernels[2]["args"]["points"] == 3 * 4 * 2);
  CHECK(kernels[2]["args"]["bytes"] == 4 * 3 * 4 * 2 + 8 * 4 + 4 * 3 * 4 * 2);
}

TEST_CASE("exchanges in a trace say how many bytes a device receives in one run") {
  const Traced traced(3);
  std::map<std::pair<int, int>, int64_t> received;      // by device and instruction
  for (const Json& exchange : traced.Of("exchange")) {  // each several times, as it waits between
    const Json& args = exchange["args"];
    received[{exchange["tid"], args["instruction"]}] = args["bytes"];
  }
  int64_t bytes = 0;
  for (const auto& [where, of_one] : received) bytes += of_one;
  CHECK(received.size() > 3);
  CHECK(bytes > 0);
  CHECK(2 * bytes == traced.printed["bytes"]);  // of two steps
  for (const Json& waiting : traced.Of("wait")) CHECK(!waiting["args"].contains("bytes"));
}

}  // namespace
}  // namespace yuba::tools
