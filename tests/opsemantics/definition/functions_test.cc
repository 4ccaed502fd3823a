#include "opsemantics/definition/functions.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/command.h"

namespace yuba {
namespace {

TEST_CASE("descriptions call each function by its own name, and the language's page lists it") {
  std::ifstream file(RepositoryFile("opsemantics/README.md"));
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const size_t begin = page.find("**Functions**");
  REQUIRE(begin != std::string::npos);
  std::string words = page.substr(begin, page.find("\n- ", begin) - begin);
  for (char& c : words) {
    if (c == '`' || c == '\n') c = ' ';
  }
  for (const FunctionFacts& facts : Functions()) {
    INFO(facts.name);
    CHECK(&FactsOf(facts.function) == &facts);
    if (facts.rule == TypeRule::kInner) {
      CHECK(FindFunction(facts.name) == nullptr);
      continue;
    }
    CHECK(FindFunction(facts.name) == &facts);
    CHECK(words.find(" " + std::string(facts.name) + " ") != std::string::npos);
  }
}

}  // namespace
}  // namespace yuba
