// `yuba op`: the table of partitions has every index, and a description that fits no operands is an
// error.
#include <catch2/catch.hpp>
#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

// The file's path as a flag; `text` describes an operator `a`.
std::string Described(const std::string& name, const std::string& text) {
  const std::string file = ScratchFolder(name) + "/my.tdl";
  std::ofstream(file) << text;
  return file;
}

constexpr char kDilated[] =
    "op a(x[r, c], w[r]; k: int, d: int = 1) -> y[r, c - d*(k - 1)]\n"
    "  m[i, j: c - d*(k - 1)] = max(u: k) x[i, j + u*d]\n"
    "  y[i, j] = m[i, j]*w[i]\n";

TEST_CASE("every index of a description has its row, with what its parts read") {
  const CommandResult result =
      RunCommand("yuba op --json a --operators " + Described("dilated", kDilated));
  INFO(result.out << result.error);
  const nlohmann::json json = nlohmann::json::parse(result.out, nullptr, false);
  REQUIRE(json["definitions"].size() == 2);
  const nlohmann::json greatest = json["definitions"][0]["partitions"],
                       scaled = json["definitions"][1]["partitions"];
  REQUIRE(greatest.size() == 3);
  CHECK(greatest[0]["reads"]["x"] == "aligned");
  CHECK(greatest[1]["index"] == "j");
  CHECK(greatest[1]["reads"]["x"] == "aligned, halo");
  CHECK(greatest[2]["result"] == "partial(max)");
  REQUIRE(scaled.size() == 2);
  CHECK(scaled[0]["reads"]["w"] == "aligned");
  CHECK(scaled[1]["reads"]["w"] == "whole");
}

TEST_CASE("operators are listed, and a window has both of its dimensions") {
  const CommandResult names = RunCommand("yuba op --json");
  const nlohmann::json list = nlohmann::json::parse(names.out, nullptr, false);
  REQUIRE(list.is_array());
  CHECK(list.size() > 50);
  const CommandResult window =
      RunCommand("yuba op window --json --operators " +
                 Described("window",
                           "op window(x[b, c, h, v], f[d, c, k, l]) -> y[b, d, r, s]\n"
                           "  let r = h - k + 1\n"
                           "  let s = v - l + 1\n"
                           "  y[n, o, p: r, q: s] =\n"
                           "    sum(a: c, u: k, w: l) x[n, a, p+u, q+w] * f[o, a, u, w]\n"));
  const nlohmann::json json = nlohmann::json::parse(window.out, nullptr, false);
  std::string indices;
  for (const nlohmann::json& sharding : json["definitions"][0]["partitions"]) {
    indices += sharding["index"].get<std::string>() + " ";
  }
  CHECK(indices == "n o p q a u w ");
}

TEST_CASE("what has no dimensions has no empty table") {
  const CommandResult result = RunCommand("yuba op a --operators " +
                                          Described("scalar", "op a(x[]) -> y[]\n  y[] = x[]+1\n"));
  INFO(result.out << result.error);
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("It cannot be cut.") != std::string::npos);
  CHECK(result.out.find("index") == std::string::npos);
}

TEST_CASE("a description that fits no operands is refused where it is wrong") {
  const struct {
    const char *signature, *body, *says;
  } kMistakes[] = {
      {"x[n]) -> y[n]", "x[i+1]", "my.tdl:2:12: this can leave 'x'"},
      {"x[n]) -> y[n]", "x[i*i]", "my.tdl:2:12: a position is a sum of indices"},
      {"x[n]) -> y[n/0]", "x[i]", "my.tdl:1:17: this divides by 0\n"},
      {"x[n]) -> y[n*9223372036854775807*4]", "x[0]", "my.tdl:1:17: integers overflow"},
      {"x[n], z[m]; k: int) -> y[n/k]", "x[i*i]*z[0]", "my.tdl:2:12: a position is a sum"},
  };
  for (const auto& mistake : kMistakes) {
    const std::string text =
        std::string("op a(") + mistake.signature + "\n  y[i] = " + mistake.body + "\n";
    for (const char* flag : {"", "--json "}) {
      const CommandResult result = RunCommand("yuba op a " + std::string(flag) + "--operators " +
                                              Described("mistake", text));
      INFO(text << result.out << result.error);
      CHECK(result.exit_code == 2);
      CHECK(result.error.find(mistake.says) != std::string::npos);
      CHECK(result.error.find("^") != std::string::npos);
    }
  }
}

TEST_CASE("a repeated flag takes one value each time, and no word after it") {
  const std::string first = Described("first", kDilated),
                    second = Described("second", "op b(x[n]) -> y[n]\n  y[i] = x[i]\n");
  for (const std::string& line : {"--operators " + first + " a", "--operators=" + first + " a",
                                  "--operators " + first + " --operators " + second + " b",
                                  "a --operators " + first + " --operators=" + second}) {
    const CommandResult result = RunCommand("yuba op " + line);
    INFO(line << "\n" << result.error);
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("Its partitions:") != std::string::npos);
  }
  const std::string model = RepositoryFile("tests/models/mlp/model_dynamic.onnx");
  CHECK(RunCommand("yuba info --dim batch=4 " + model).exit_code == 0);
}

}  // namespace
}  // namespace yuba::tools
