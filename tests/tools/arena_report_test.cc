// The arena's bars and picture, on reports that are made up.
#include "tools/report/arena_report.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

namespace yuba::tools {
namespace {

// Three buffers in four instructions, slots of 64 bytes: w lives throughout, g in 2, y in 2 and 3.
ArenaReport Small() {
  ArenaReport report;
  report.devices = 2;
  report.fullest = 1;
  report.arena = 256;
  report.whole = 300;
  report.nodes = {"a", "b", "c", "d"};
  report.slots = {64, 64, 192, 128};
  report.own = {60, 60, 150, 110};
  report.peak = 2;
  report.buffers = {{"w", "weight", "a … c", 0, 3, 0, 64, 60},
                    {"gather(w)@c", "gathered", "c", 2, 2, 192, 64, 40},
                    {"<y>", "output", "c … d", 2, 3, 64, 64, 50}};
  return report;
}

bool Has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST_CASE("bars say when a buffer lives, and figures what the arena is beside what is live") {
  const std::string text = ArenaText(Small(), 9);
  INFO(text);
  CHECK(Has(text, "256 B on each of 2 devices, 1.333 times the 192 B of slots"));
  CHECK(Has(text, "instruction 2, of c\n         gathered 64 B, output 64 B, weight 64 B\n"));
  CHECK(Has(text, "42 B in slots beyond the boxes of device 1, the fullest; 64 B in no slot"));
  CHECK(Has(text, "150 B is a device's share of what one alone needs; the arena is 1.707 times"));
  CHECK(Has(text, "▂▂▆▄\n"));
  CHECK(Has(text, "████\n"));
  CHECK(Has(text, "··█·\n"));
  CHECK(Has(text, "··██\n"));
  CHECK(Has(ArenaText(Small(), 2), "1 more."));
}

TEST_CASE("buffers that live throughout are one bar a kind, unless all are asked for") {
  ArenaReport report = Small();
  report.buffers.push_back({"b", "weight", "a", 0, 3, 128, 64, 64});
  const std::string few = ArenaText(report, 9), all = ArenaText(report, absl::nullopt);
  INFO(few << all);
  CHECK(Has(few, "\nall that live throughout, 2  weight    128  several "));
  CHECK_FALSE(Has(few, "\nw "));
  CHECK(Has(all, "\nw "));
  CHECK(Has(all, "\nb "));
  CHECK_FALSE(Has(all, "all that live"));
}

TEST_CASE("a long program's bars are no longer than a line, and still show what is short") {
  ArenaReport report = Small();
  report.slots.assign(5000, 64);
  report.own = report.slots;
  report.nodes.assign(5000, "n");
  report.peak = 0;
  report.buffers = {{"short", "activation", "n", 4999, 4999, 0, 64, 64}};
  const std::string text = ArenaText(report, 9);
  INFO(text);
  CHECK(Has(text, "·█\n"));
  CHECK_FALSE(Has(text, "██"));
  size_t line = 0;
  for (char c : text) {
    line = c == '\n' ? 0 : line + ((c & 0xC0) != 0x80);
    CHECK(line < 160);
  }
}

// The numbers of all attributes `name` of rectangles, in order.
std::vector<double> Attributes(const std::string& html, const std::string& name) {
  std::vector<double> values;
  for (size_t at = 0; (at = html.find("<rect ", at)) != std::string::npos; ++at) {
    values.push_back(std::atof(html.c_str() + html.find(" " + name + "='", at) + name.size() + 3));
  }
  return values;
}

TEST_CASE("rectangles lie as buffers do, and names are text") {
  const std::string html = ArenaHtml(Small());
  const std::vector<double> x = Attributes(html, "x"), y = Attributes(html, "y"),
                            width = Attributes(html, "width"), height = Attributes(html, "height");
  REQUIRE(x.size() == 3);
  CHECK(x[1] == Approx(x[2]));  // both begin at instruction 2
  CHECK(width[0] == Approx(4 * width[1]).epsilon(0.001));
  CHECK(width[2] == Approx(2 * width[1]).epsilon(0.001));
  CHECK(x[1] == Approx(x[0] + 2 * width[1]).epsilon(0.001));
  CHECK(y[0] == Approx(y[2] + height[2]).epsilon(0.001));  // w lies below y
  CHECK(y[1] + height[1] < y[2]);                          // the gap
  CHECK(
      Has(html, "&lt;y&gt;\noutput, 64 B at 64 B; 50 B on device 1\nlives in instructions 2 to 3"));
  CHECK_FALSE(Has(html, "<y>"));
}

TEST_CASE("where buffers come and go beside large weights is drawn once more, larger") {
  ArenaReport report = Small();
  CHECK(Attributes(ArenaHtml(report), "x").size() == 3);
  report.arena = 64064;  // w takes all below the others
  report.buffers[0].slot = 63872;
  report.buffers[1].offset = 64000;
  report.buffers[2].offset = 63872;
  const std::string html = ArenaHtml(report);
  CHECK(Has(html, "from 63.9 kB to 64.1 kB, where buffers come and go"));
  const std::vector<double> height = Attributes(html, "height"), y = Attributes(html, "y");
  REQUIRE(height.size() == 5);  // w does not reach into the second
  CHECK(height[1] < 1);
  CHECK(height[3] > 100);
  CHECK(height[4] > 100);
  CHECK(y[3] < y[4]);
}

TEST_CASE("a page of five thousand buffers stays readable") {
  ArenaReport report = Small();
  const int count = 5000;
  report.buffers.clear();
  report.slots.assign(count, 4 * 64);
  report.own = report.slots;
  report.nodes.assign(count, "node");
  report.arena = 4 * 64;
  for (int b = 0; b < count; ++b) {
    report.buffers.push_back({"gather(model.layers.17.weight)@model.layers.17/MatMul", "gathered",
                              "node", b, b + 3, b % 4 * 64, 64, 64});
  }
  const std::string html = ArenaHtml(report);
  CHECK(html.size() < 2'500'000);
  const std::vector<double> width = Attributes(html, "width"), height = Attributes(html, "height");
  REQUIRE(width.size() == count);
  for (int b = 0; b < count; ++b) {
    CHECK(width[b] >= 1);  // pixels
    CHECK(height[b] >= 0.3);
  }
}

}  // namespace
}  // namespace yuba::tools
