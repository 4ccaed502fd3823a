// What `yuba show` says of the arena: with the model each buffer's life and place, without it what
// the plan file knows, and what is missing.
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::json;

std::string Model(const std::string& name) {
  return RepositoryFile("tests/models/" + name + "/model.onnx");
}

std::string Planned(const std::string& name, const std::string& flags, const std::string& folder) {
  const std::string plan = folder + "/" + name + ".json";
  Succeed("yuba partition " + Model(name) + " " + flags + " -o " + plan);
  return plan;
}

bool Has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

int CountOf(const std::string& text, const std::string& words) {
  int count = 0;
  for (size_t at = 0; (at = text.find(words, at)) != std::string::npos; at += words.size()) ++count;
  return count;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int64_t Aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// That buffers which live at once share no bytes, and that the figures follow from the buffers.
void CheckArena(const Json& arena) {
  const Json &buffers = arena["buffers"], &instructions = arena["instructions"];
  REQUIRE(buffers.size() > 5);
  int64_t peak = 0;
  for (size_t i = 0; i < instructions.size(); ++i) {
    int64_t live = 0, own = 0;
    for (const Json& buffer : buffers) {
      if (buffer["first"] > i || buffer["last"] < i) continue;
      live += Aligned(buffer["slot"]);
      own += buffer["box"].get<int64_t>();
    }
    CHECK(instructions[i]["live"] == live);
    CHECK(instructions[i]["fullest"] == own);
    CHECK(instructions[i]["node"] != "");
    peak = std::max(peak, live);
  }
  CHECK(arena["live"] == peak);
  CHECK(instructions[arena["peak"].get<int>()]["live"] == peak);
  CHECK(arena["between_slots"] == arena["arena"].get<int64_t>() - peak);
  std::set<std::string> kinds;
  for (const Json& a : buffers) {
    kinds.insert(a["kind"].get<std::string>());
    CHECK(a["offset"].get<int64_t>() + a["slot"].get<int64_t>() <= arena["arena"]);
    CHECK(a["box"] <= a["slot"]);
    for (const Json& b : buffers) {
      const bool together = a["first"] <= b["last"] && b["first"] <= a["last"];
      if (&a == &b || !together) continue;
      CHECK((a["offset"].get<int64_t>() + a["slot"].get<int64_t>() <= b["offset"] ||
             b["offset"].get<int64_t>() + b["slot"].get<int64_t>() <= a["offset"]));
    }
  }
  for (const char* kind : {"weight", "input", "output", "gathered"}) {
    INFO(kind);
    CHECK(kinds.count(kind) == 1);
  }
}

TEST_CASE("show --arena --json lists each buffer's life and place, and the figures") {
  const std::string folder = ScratchFolder("arena_json");
  for (const char* const name : {"mlp", "lstm"}) {
    const std::string plan = Planned(
        name, std::string(name) == "lstm" ? "--devices 6 --search recursive" : "--devices 6",
        folder);
    const Json alone = Json::parse(Succeed("yuba show --json --arena " + plan).out);
    const Json shown =
        Json::parse(Succeed("yuba show --json --arena " + Model(name) + " " + plan).out);
    CHECK(alone["ok"] == true);
    CHECK(alone["arena"].is_null());
    CHECK(shown["devices"] == alone["devices"]);
    REQUIRE(shown["devices"].size() == 6);
    const int fullest = shown["fullest"];
    int64_t most = 0;
    for (const Json& device : shown["devices"]) {
      CHECK(device["unused"] == device["arena"].get<int64_t>() - device["peak"].get<int64_t>());
      most = std::max(most, device["peak"].get<int64_t>());
    }
    CHECK(shown["devices"][fullest]["peak"] == most);
    const Json& arena = shown["arena"];
    CHECK(arena["devices"] == 6);
    CHECK(arena["fullest"] == fullest);
    CHECK(arena["arena"] == shown["devices"][0]["arena"]);
    const Json one =
        Json::parse(Succeed("yuba show --json --arena " + Model(name) + " " +
                            Planned(name, "--devices 1", ScratchFolder("arena_json_one")))
                        .out);
    // A plan's graph has accumulators, so that other nodes share kernels.
    const int64_t live = one["arena"]["live"], whole = arena["whole"];
    CHECK(static_cast<double>(whole) == Approx(static_cast<double>(live)).epsilon(0.03));
    CHECK(arena["share"] == whole / 6);
    CheckArena(arena);
  }
}

TEST_CASE("show --arena draws a bar for each buffer, and says what the model is needed for") {
  const std::string folder = ScratchFolder("arena_text"), plan = Planned("mlp", "", folder);
  const std::string shown = Succeed("yuba show " + Model("mlp") + " " + plan + " --arena").out;
  INFO(shown);
  CHECK(Has(shown, "each device must fit "));
  CHECK(Has(shown, " of slots that are live at the peak"));
  CHECK(Has(shown, "instructions 0 to 10"));
  CHECK(Has(shown, "▼"));
  CHECK(Has(shown, "███████████"));  // a weight lives throughout
  CHECK(Has(shown, "·██"));
  CHECK_FALSE(Has(shown, "needs the model"));
  const std::string alone = Succeed("yuba show " + plan + " --arena").out;
  CHECK(Has(alone, "needs the model: yuba show MODEL PLAN"));
  CHECK(Has(alone, "each device must fit "));
  CHECK_FALSE(Has(alone, "▼"));
  const std::string lstm = Planned("lstm", "", folder),
                    command = "yuba show " + Model("lstm") + " " + lstm;
  const std::string few = Succeed(command + " --arena").out;
  const std::string all = Succeed(command + " --arena --all").out;
  CHECK(Has(few, " more.  All: --arena --all"));
  CHECK(all.size() > few.size());
  CHECK_FALSE(Has(all, " more.  All:"));
}

TEST_CASE("the page has a rectangle for each buffer, and show says that it wrote it") {
  const std::string folder = ScratchFolder("arena_html"), plan = Planned("lstm", "", folder);
  const std::string both = Model("lstm") + " " + plan, page = folder + "/p.html";
  const std::string said = Succeed("yuba show " + both + " --html " + page).out;
  CHECK(said.find("wrote " + page + " (") == 0);
  CHECK(CountOf(said, "\n") == 1);  // no report besides
  const Json arena = Json::parse(Succeed("yuba show --json --arena " + both).out)["arena"];
  const std::string html = Read(page), plots = html.substr(html.find("<div class=arena>")),
                    first = plots.substr(0, plots.find("</svg>"));
  CHECK(CountOf(first, "<rect ") == static_cast<int>(arena["buffers"].size()));
  CHECK(CountOf(html, "<title>") == CountOf(html, "<rect ") + 1);
  CHECK_FALSE(Has(html, "needs the model"));
  CHECK(Has(Succeed("yuba show " + plan + " --html " + page).out, "yuba show MODEL PLAN"));
  CHECK(Has(Read(page), "needs the model"));
  CHECK_FALSE(Has(Read(page), "<rect "));
}

TEST_CASE("a model that is not the plan's, or not there, is named") {
  const std::string folder = ScratchFolder("arena_errors"), plan = Planned("mlp", "", folder);
  const auto fails = [](const std::string& line, const std::string& words) {
    const CommandResult result = RunCommand(line);
    INFO(line << "\n" << result.error);
    CHECK(result.exit_code == 2);
    CHECK(Has(result.error, words));
  };
  fails("yuba show " + Model("conv") + " " + plan + " --arena", "is of another graph");
  fails("yuba show none.onnx " + plan + " --arena", "none.onnx");
  fails("yuba show " + plan + " " + Model("mlp"), "the model comes before the plan");
  fails("yuba show " + plan + " --operators x.tdl", "name the model before the plan");
  fails("yuba show a b c", "takes a plan, or a model and a plan; 3 files are given");
  const CommandResult json = RunCommand("yuba show none.onnx " + plan + " --arena --json");
  CHECK(json.exit_code == 2);
  CHECK(Json::parse(json.out)["ok"] == false);
}

}  // namespace
}  // namespace yuba::tools
