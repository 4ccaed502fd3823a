// Machine files that are none: the message names the file and the place.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A machine file of `folder` in which `from` is `to`; the whole text where `from` is empty.
std::string With(const std::string& folder, const std::string& from, const std::string& to) {
  std::string text = Text(RepositoryFile("machines/hgx-h100.json"));
  const size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  text.replace(place, from.empty() ? text.size() : from.size(), to);
  std::ofstream(folder + "/m.json") << text;
  return folder + "/m.json";
}

TEST_CASE("a machine file that is wrong is refused with its name and the place") {
  const std::string folder = ScratchFolder("machines");
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& words,
                           const std::string& nodes = "") {
    const std::string file = With(folder, from, to);
    const CommandResult result = RunCommand("yuba devices --machine " + file + nodes);
    INFO(from << " -> " << to << ": " << result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK(result.error.find("the machine " + file + ": ") != std::string::npos);
    CHECK(result.error.find(words) != std::string::npos);
  };
  REQUIRE(RunCommand("yuba devices --machine " + With(folder, "HGX", "hgx")).exit_code == 0);
  refused("\"value\": 3.35e12", "\"value\": 0", "device.bandwidth.value is 0, expected a number");
  refused("\"value\": 3.7e11", "\"value\": -1",
          "links[0].bandwidth.value is -1, expected a number");
  refused("\"links\"", "\"lines\"", "lines is an unknown field");
  refused("\"most_nodes\"", "\"nodes\"", "links[1].nodes is an unknown field");
  refused("\"most_nodes\": {\"value\": 512", "\"devices\": {\"value\": 512",
          "links join the devices", ":2");
  refused("\"most_nodes\": {\"value\": 512", "\"most_nodes\": {\"value\": 4",
          "links join at most 4 nodes, and 5 are asked for", ":5");
  refused("", "{", "this is no JSON");
}

TEST_CASE("what names no machine is refused with those that there are") {
  for (const std::string name : {"hgx", "hgx-h100:0", "hgx-h100:x", "hgx-h100:513", "no/m.json"}) {
    const CommandResult result = RunCommand("yuba devices --machine " + name);
    INFO(result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find(name.substr(0, name.find(':'))) != std::string::npos);
  }
}

}  // namespace
}  // namespace yuba
