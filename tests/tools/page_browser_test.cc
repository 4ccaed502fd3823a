// The page in a browser without a window: what is drawn, and what clicks do. Without Chromium these
// cases are skipped.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::json;

std::string Browser() {
  return RunCommand(
             "for one in chromium chromium-browser google-chrome; do command -v $one && break; "
             "done")
      .out;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Writes the page of a small decoder of four layers, with memory over time where `with_model`.
std::string Page(const std::string& folder, bool with_model) {
  const std::string model = folder + "/m.onnx", plan = folder + "/p.json";
  Succeed("yuba zoo gpt --layers 4 --width 64 --heads 4 --vocab 128 --sequence 32 -o " + model);
  Succeed("yuba partition " + model + " --devices 8 -o " + plan);
  Succeed("yuba show " + (with_model ? model + " " : "") + plan + " --html " + folder + "/p.html");
  return folder + "/p.html";
}

// What `script` returns, an object, when it runs in the page; `errors` has the page's own errors.
Json InPage(const std::string& page, const std::string& script) {
  const std::string folder = ScratchFolder("browser");
  std::string html = Read(page);
  html = absl::StrReplaceAll(
      html,
      {{"<meta charset=\"utf-8\">",
        "<meta charset=\"utf-8\"><script>window.errors = []; window.onerror = (message) => "
        "{ errors.push(message); };</script>"},
       {"</html>",
        "<script>const result = (() => {" + script +
            "})(); result.errors = errors; document.documentElement.setAttribute('data-result', "
            "encodeURIComponent(JSON.stringify(result)));</script></html>"}});
  std::ofstream(folder + "/page.html", std::ios::binary) << html;
  std::string browser = Browser();
  browser.pop_back();
  const std::string dom =
      Succeed("HOME=" + folder + " timeout 100 " + browser +
              " --headless --no-sandbox --disable-gpu --window-size=1400,900 --user-data-dir=" +
              folder + "/profile --virtual-time-budget=5000 --dump-dom file://" + folder +
              "/page.html")
          .out;
  const std::string name = "data-result=\"";
  const size_t at = dom.find(name);
  REQUIRE(at != std::string::npos);
  const size_t begin = at + name.size();
  const std::string quoted = dom.substr(begin, dom.find('"', begin) - begin);
  std::string text;
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] == '%') {
      text += static_cast<char>(std::stoi(quoted.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      text += quoted[i];
    }
  }
  return Json::parse(text);
}

// Functions that the scripts of the cases use. A box is "over" another where they share area.
constexpr char kPrelude[] = R"(
const drawn = () => [...document.querySelectorAll('#canvas .view')];
const boxOf = (text) => [...document.querySelectorAll('#canvas [data-key]')]
    .find((one) => one.textContent.includes(text));
const click = (one, kind) => one.dispatchEvent(new MouseEvent(kind || 'click', {bubbles: true}));
const overlaps = () => {
  const boxes = drawn().map((one) => one.querySelector('rect.box').getBoundingClientRect());
  let count = 0;
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) ++count;
  }));
  return count;
};
const panelText = () => document.getElementById('details').textContent;
)";

TEST_CASE("the graph is drawn, unfolded by clicks, and its boxes lie beside each other") {
  if (Browser().empty()) {
    WARN("SKIP: there is no Chromium");
    return;
  }
  const std::string page = Page(ScratchFolder("page"), false);
  const Json seen = InPage(page, std::string(kPrelude) + R"(
    const result = {};
    document.getElementById('fold').click();
    result.folded = drawn().length;
    result.names = drawn().map((one) => one.textContent);
    click(boxOf('h.0 … h.3').querySelector('.button rect'));
    result.one = drawn().length;
    result.badge = [...document.querySelectorAll('.cluster > .button')].map((one) => one.textContent);
    click([...document.querySelectorAll('.cluster > .button')].find((one) => one.textContent === '× 4')
        .querySelector('rect'));
    result.all = drawn().map((one) => one.textContent).filter((text) => text.startsWith('h.')).length;
    document.getElementById('open').click();
    result.open = drawn().filter((one) => !one.classList.contains('pill')).length;
    result.units = items.filter((item) => item.kind === 'unit').length;
    result.overlaps = overlaps();
    result.edges = document.querySelectorAll('#canvas path.edge.k-weight').length;
    document.getElementById('fold').click();
    result.again = drawn().length;
    return result;
  )");
  INFO(seen.dump(1));
  CHECK(seen["errors"].empty());
  CHECK(seen["folded"] < 12);
  CHECK(seen["one"] > seen["folded"]);
  CHECK(seen["badge"] == Json({"–", "× 4"}));
  CHECK(seen["all"] == 4);
  CHECK(seen["open"] == seen["units"]);
  CHECK(seen["overlaps"] == 0);
  CHECK(seen["edges"] > 10);
  CHECK(seen["again"] == seen["folded"]);
}

TEST_CASE("a click shows a node's cut and its tensors' pieces; all bytes are in the time line") {
  if (Browser().empty()) {
    WARN("SKIP: there is no Chromium");
    return;
  }
  const std::string page = Page(ScratchFolder("page"), true);
  const Json seen = InPage(page, std::string(kPrelude) + R"(
    const result = {plan: panelText(), bars: document.querySelectorAll('#time rect.move').length,
                    moves: plan.moves.length};
    result.sum = sum(bars.map((bar) => bar.move.bytes));
    result.bytes = sum(plan.bytes);
    const isCutMatrix = (t) => weightOf(t) >= 0 && plan.tensors[weightOf(t)].dims.length === 2 &&
                                plan.tensors[weightOf(t)].dims.every((one) => dimSize(one) >= 64);
    const node = plan.nodes.findIndex((one, n) => movesOf[n].length && one.reads.some(isCutMatrix));
    chooseNode(node);
    result.node = panelText();
    result.name = plan.nodes[node].name;
    result.text = plan.tensors[plan.nodes[node].writes].text;
    result.dim = document.querySelectorAll('#time rect.dim').length;
    const weight = plan.nodes[node].reads.find((t) => weightOf(t) >= 0);
    showTensors([weightOf(weight)]);
    result.tensor = panelText();
    const devices = new Set([...document.querySelectorAll('.pieces text:not(.axis)')].map((one) => one.textContent));
    result.devices = [...devices].sort().join();
    result.parts = plan.tensors[weightOf(weight)].dims.reduce((n, one) => n * dimParts(one), 1);
    result.arena = document.querySelectorAll('.arena rect').length;
    document.querySelector('#nodes').open = true;
    return result;
  )");
  INFO(seen.dump(1));
  const auto has = [](const Json& text, const std::string& words) {
    return text.get<std::string>().find(words) != std::string::npos;
  };
  CHECK(seen["errors"].empty());
  CHECK(has(seen["plan"], "largest transfers"));
  CHECK(seen["bars"] == seen["moves"]);
  CHECK(seen["sum"] == seen["bytes"]);
  CHECK(has(seen["node"], seen["name"]));
  CHECK(has(seen["node"], "splits its"));
  CHECK(has(seen["node"], seen["text"]));
  CHECK(seen["dim"] > 0);
  CHECK(has(seen["tensor"], "read by"));
  CHECK(seen["parts"] == 8);
  CHECK(seen["devices"] == "0,1,2,3,4,5,6,7");
  CHECK(seen["arena"] > 10);
}

// The pieces of a tensor are those of ShardBox: parts of an extent differ by at most one element.
TEST_CASE("pieces of uneven and of nested cuts, and replicas") {
  if (Browser().empty()) {
    WARN("SKIP: there is no Chromium");
    return;
  }
  const Json seen = InPage(Page(ScratchFolder("page"), false), R"(
    const one = (list) => list.map(({from, to, parts}) => [Math.round(from * 60), Math.round(to * 60), ...parts]);
    const tensor = {kind: 'weight', dims: [[[10, [2, 0]]]]};
    return {uneven: one(intervalsOf([[10, [2, 0]]]).list), nested: one(intervalsOf([[3, []], [20, [1]]]).list),
            number: partNumber([2, 0], 1), stored: storedText(tensor),
            whole: storedText({kind: 'state', dims: []}), short: intervalsOf([[20, []], [4, [0]]]).cutShort};
  )");
  INFO(seen.dump());
  CHECK(seen["errors"].empty());
  CHECK(seen["uneven"] == Json::parse("[[0,12,0],[12,30,1],[30,42,2],[42,60,3]]"));
  CHECK(seen["nested"] ==
        Json::parse("[[0,10,0],[10,20,1],[20,30,0],[30,40,1],[40,50,0],[50,60,1]]"));
  CHECK(seen["number"] == 2);
  CHECK(seen["stored"] == "4 shards, each on 2 devices (replicas)");
  CHECK(seen["whole"] == "whole on each of 8 devices");
  CHECK(seen["short"] == true);
}

}  // namespace
}  // namespace yuba::tools
