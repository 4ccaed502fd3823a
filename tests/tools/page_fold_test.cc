// How nodes are folded: repetitions in a sequence, and the tree of a plan's nodes.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/page/fold.h"
#include "tools/page/repeats.h"

namespace yuba::tools {
namespace {

using Sequence = std::vector<int>;

std::string Found(const Sequence& sequence, const Unity& unity) {
  std::string text;
  for (const Repeat& repeat : FindRepeats(sequence, unity)) {
    absl::StrAppend(&text, repeat.begin, "+", repeat.period, "x", repeat.count, " ");
  }
  return text;
}
std::string Found(const Sequence& sequence) {
  return Found(sequence, [](size_t, size_t) { return size_t{0}; });
}

TEST_CASE("repeats are those that cover most, in the shortest period") {
  CHECK(Found({1, 2, 3, 2, 3, 2, 3, 4}) == "1+2x3 ");
  CHECK(Found({1, 2, 1, 2}) == "");  // short and only twice
  CHECK(Found({1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}) == "0+6x2 ");
  CHECK(Found({7, 7, 7, 7}) == "0+1x4 ");
  CHECK(Found({1, 1, 1, 9, 2, 3, 2, 3, 2, 3, 9}) == "0+1x3 4+2x3 ");
  CHECK(Found({1, 1, 2, 1, 1, 2, 1, 1, 2}) == "0+3x3 ");  // not 1 1 by itself
  CHECK(Found({}) == "");
  CHECK(Found({1}) == "");
}

TEST_CASE("of two ways to lay a repeat the one whose stretch is one thing") {
  const Sequence sequence = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1};
  CHECK(Found(sequence) == "0+3x3 ");
  CHECK(Found(sequence, [](size_t begin, size_t) { return begin; }) == "1+3x3 ");
}

// A plan of nodes that read nothing. `names`: "name" or "name of operator".
search::PlanFile PlanOf(const std::vector<std::pair<std::string, std::string>>& nodes) {
  search::PlanFile plan;
  for (const auto& [name, op] : nodes) {
    search::PlanFile::NodeRow row;
    row.name = row.from = row.writes = name;
    row.op = op;
    plan.nodes.push_back(row);
  }
  return plan;
}

// "name(items)" of each item; a unit's nodes in brackets.
std::string TreeText(const std::vector<FoldedItem>& items) {
  std::string text;
  for (const FoldedItem& item : items) {
    absl::StrAppend(&text, text.empty() ? "" : " ", item.gradient ? "grad:" : "", item.name);
    if (item.kind == FoldedItem::kRun) absl::StrAppend(&text, "*", item.items.size());
    if (item.kind == FoldedItem::kBlock) absl::StrAppend(&text, "(", TreeText(item.items), ")");
  }
  return text;
}

TEST_CASE("names say what a block is, and equal blocks are a run") {
  std::vector<std::pair<std::string, std::string>> nodes = {{"embed", "gather"}};
  for (const std::string layer : {"h.0.", "h.1.", "h.2."}) {
    for (const std::string part : {"norm", "attn", "proj", "add"}) {
      nodes.push_back({layer + part, part});
    }
  }
  nodes.push_back({"head", "linear"});
  CHECK(TreeText(FoldNodes(PlanOf(nodes))) == "embed h.0 … h.2*3 head");
  nodes[6].second = "other";  // of h.1: a block of another structure is by itself
  CHECK(TreeText(FoldNodes(PlanOf(nodes))) ==
        "embed h.0(h.0.norm h.0.attn h.0.proj h.0.add) h.1(h.1.norm h.1.attn h.1.proj h.1.add) "
        "h.2(h.2.norm h.2.attn h.2.proj h.2.add) head");
}

TEST_CASE("layers that take turns are runs of all of them") {
  std::vector<std::pair<std::string, std::string>> nodes;
  for (int step = 0; step < 40; ++step) {
    for (const std::string layer : {"l.0.", "l.1."}) {
      for (const std::string part : {"a", "b", "c", "d"}) {
        nodes.push_back({absl::StrCat(layer, part, step), layer + part});
      }
    }
  }
  const auto tree = FoldNodes(PlanOf(nodes));
  CHECK(TreeText(tree) == "l.0.a0 … l.1.d39*40");
  CHECK(tree[0].items[1].items.size() == 8);
}

TEST_CASE("without telling names the structure says it") {
  std::vector<std::pair<std::string, std::string>> nodes = {{"a", "gather"}};
  for (int i = 0; i < 6; ++i) nodes.push_back({absl::StrCat("v", i), i % 2 == 0 ? "mul" : "add"});
  nodes.push_back({"z", "linear"});
  const auto tree = FoldNodes(PlanOf(nodes));
  CHECK(TreeText(tree) == "a v0 … v5*3 z");
  CHECK(tree[1].items[1].name == "v2 … v3");
}

TEST_CASE("gradients and updates are told from what they are of") {
  std::vector<std::pair<std::string, std::string>> nodes;
  for (const std::string layer : {"h.0.", "h.1."}) {
    for (const std::string part : {"a", "b", "c", "d"}) nodes.push_back({layer + part, part});
  }
  for (const std::string layer : {"h.1.", "h.0."}) {
    for (const std::string part : {"d", "c", "b", "a"}) {
      nodes.push_back({layer + part, part + ".grad"});
    }
  }
  nodes.push_back({"loss", "sum"});
  for (const std::string layer : {"h.0.", "h.1."}) {
    for (const std::string part : {"a", "b", "c", "d"}) {
      nodes.push_back({"adam of " + layer + part, "adam"});
    }
  }
  // h.1's nodes and their gradients stand side by side, and are one block.
  CHECK(TreeText(FoldNodes(PlanOf(nodes))) ==
        "h.0(h.0.a h.0.b h.0.c h.0.d) h.1(h.1.a h.1.b h.1.c h.1.d grad:h.1.d grad:h.1.c grad:h.1.b "
        "grad:h.1.a) grad:h.0(grad:h.0.d grad:h.0.c grad:h.0.b grad:h.0.a) loss adam of h.0 … adam "
        "of h.1*2");
}

size_t MostSideBySide(const std::vector<FoldedItem>& items) {
  size_t most = items.size();
  for (const FoldedItem& item : items) {
    if (item.kind != FoldedItem::kRun) most = std::max(most, MostSideBySide(item.items));
  }
  return most;
}

TEST_CASE("thousands of nodes without repetition are parts of parts") {
  std::vector<std::pair<std::string, std::string>> nodes;
  for (int i = 0; i < 5000; ++i) nodes.push_back({absl::StrCat("n", i), absl::StrCat("op", i)});
  const auto tree = FoldNodes(PlanOf(nodes));
  CHECK(MostSideBySide(tree) <= kMostItems);
  CHECK(tree.size() == 3);  // of 35 or 36 parts each
  CHECK(tree[0].name == absl::StrCat("n0 … n", tree[0].items.back().items.back().nodes[0]));
}

}  // namespace
}  // namespace yuba::tools
