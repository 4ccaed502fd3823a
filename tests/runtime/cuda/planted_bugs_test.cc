// The list of tools/plant_bugs is of today's code: each edit has its place, each test case is
// there.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba::cuda {
namespace {

std::string Text(const std::string& path) {
  std::ifstream file(RepositoryFile(path));
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

TEST_CASE("planted bugs have one place each, and a test case that is to notice them") {
  std::string tests = Text("tests/tools/gpu_check_test.cc") +
                      Text("tests/compiler/kernels/library_convolutions_test.cc");
  for (const char* name : {"backend", "failures", "fake_backend", "generated_threads", "graphs",
                           "library_calls", "nccl_collectives", "nccl_ranks", "opaque_calls",
                           "row_sort", "tiles", "training_ranks", "tuned_products"}) {
    tests += Text("tests/runtime/cuda/" + std::string(name) + "_test.cc");
  }
  const auto bugs = nlohmann::json::parse(Text("tests/runtime/cuda/planted_bugs.json"));
  CHECK(bugs.size() >= 12);
  for (const nlohmann::json& bug : bugs) {
    INFO(bug["name"].get<std::string>());
    CHECK(Count(Text(bug["file"]), bug["from"]) == 1);
    const std::string caught_by = bug["caught_by"];
    CHECK((caught_by == "a crash" || Count(tests, "TEST_CASE(\"" + caught_by + "\")") == 1));
  }
}

}  // namespace
}  // namespace yuba::cuda
