#include "compiler/streams/exchange_order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/streams/best_order.h"
#include "compiler/streams/dependences.h"

namespace yuba::compiler {
namespace {

constexpr int64_t kPlenty = int64_t{1} << 40;

std::vector<StartedItem> OrderItems(const std::vector<WorkItem>& items, int64_t bytes_ahead,
                                    const OrderChoice& choice = {}) {
  return OrderItems(items, DependencesOf(items), bytes_ahead, choice);
}

WorkItem Item(int number, bool exchange, double milliseconds, std::vector<int> reads,
              std::vector<int> writes) {
  WorkItem item;
  item.begin = number;
  item.end = number + 1;
  item.exchange = exchange;
  item.seconds = 1e-3 * milliseconds;
  item.reads = std::move(reads);
  item.writes = std::move(writes);
  return item;
}

// "k0 g1+g2 k3": items by number, those that join the one before them behind a plus.
std::string Text(const std::vector<WorkItem>& items, const std::vector<StartedItem>& started) {
  std::string text;
  for (const StartedItem& each : started) {
    absl::StrAppend(&text,
                    text.empty() ? ""
                    : each.joins ? "+"
                                 : " ",
                    items[each.item].exchange ? "g" : "k", each.item);
  }
  return text;
}

double EndOf(const std::vector<StartedItem>& started) {
  double end = 0;
  for (const StartedItem& each : started) end = std::max(end, each.end);
  return end;
}

// Kernels that each need what the gather before them brings, of buffer 100 + the kernel.
std::vector<WorkItem> Layers(int count, double gather, int64_t bytes) {
  std::vector<WorkItem> items;
  for (int layer = 0; layer < count; ++layer) {
    const int at = static_cast<int>(items.size());
    items.push_back(Item(at, true, gather, {100 + layer}, {200 + layer}));
    items.back().made_bytes = bytes;
    items.push_back(Item(at + 1, false, 1, {300 + layer, 200 + layer}, {301 + layer}));
  }
  return items;
}

TEST_CASE("a gather is hidden behind the kernel before its reader, and no earlier") {
  const std::vector<WorkItem> items = Layers(4, 0.6, 10);
  const std::vector<StartedItem> started = OrderItems(items, kPlenty);
  // Twice as early as its time alone asks for, so that an estimate may be wrong.
  CHECK(Text(items, started) == "g0 k1 g2 g4 k3 g6 k5 k7");
  CHECK(EndOf(started) == Approx(4.6e-3));
  CHECK(started[3].begin == Approx(1.4e-3));
}

TEST_CASE("gathers that take longer than kernels follow each other") {
  const std::vector<WorkItem> items = Layers(4, 2, 10);
  CHECK(EndOf(OrderItems(items, kPlenty)) == Approx(9e-3));
}

TEST_CASE("without memory ahead a gather begins when its reader is the next kernel") {
  const std::vector<WorkItem> items = Layers(4, 2, 10);
  const std::vector<StartedItem> started = OrderItems(items, 0);
  CHECK(Text(items, started) == "g0 k1 g2 k3 g4 k5 g6 k7");
  CHECK(EndOf(started) == Approx(9e-3));
  for (size_t n = 2; n < started.size(); n += 2) CHECK(started[n].begin >= started[n - 1].begin);
}

TEST_CASE("what is needed first goes before what is needed later") {
  // A sum of a gradient that nobody waits for, and a gather that the next kernel needs.
  std::vector<WorkItem> items = {Item(0, false, 1, {1}, {2}),  Item(1, true, 5, {2}, {3}),
                                 Item(2, true, 0.5, {4}, {5}), Item(3, false, 1, {1, 5}, {6}),
                                 Item(4, false, 9, {6}, {7}),  Item(5, false, 1, {3, 7}, {8})};
  items[1].freed_bytes = 10;
  const std::vector<StartedItem> started = OrderItems(items, kPlenty);
  CHECK(Text(items, started) == "k0 g2 k3 g1 k4 k5");
  CHECK(EndOf(started) == Approx(12e-3));
}

TEST_CASE("of two kernels that can begin, the one comes first whose result is to move") {
  // A gradient of weights, one of activations, and the sum and the kernel that the second one
  // feeds.
  const std::vector<WorkItem> items = {Item(0, false, 1, {1}, {2}), Item(1, false, 1, {1}, {3}),
                                       Item(2, true, 1, {3}, {4}), Item(3, false, 1, {4}, {5})};
  const std::vector<StartedItem> started = OrderItems(items, kPlenty);
  CHECK(Text(items, started) == "k1 k0 g2 k3");
  CHECK(EndOf(started) == Approx(3e-3));
}

TEST_CASE("exchanges for one kernel, and small ones, are one group") {
  std::vector<WorkItem> items = {Item(0, true, 1, {1}, {2}), Item(1, true, 1, {3}, {4}),
                                 Item(2, false, 1, {2, 4}, {5}), Item(3, true, 0.01, {6}, {7}),
                                 Item(4, false, 1, {7}, {8})};
  for (WorkItem& item : items) item.latency = item.exchange ? 2e-5 : 0;
  const std::vector<StartedItem> started = OrderItems(items, kPlenty);
  CHECK(Text(items, started) == "g0+g1+g3 k2 k4");
  CHECK(started[2].end == Approx(2.03e-3));
}

TEST_CASE("a group takes its longest latency and the bytes of all, and what is small is a choice") {
  std::vector<WorkItem> items = {Item(0, true, 1, {1}, {2}), Item(1, false, 1, {2}, {5}),
                                 Item(2, true, 0.01, {6}, {7}), Item(3, false, 1, {7}, {8})};
  items[0].latency = 2e-5;
  items[2].latency = 5e-5;
  const std::vector<StartedItem> together = OrderItems(items, kPlenty, {1, 1});
  CHECK(Text(items, together) == "g0+g2 k1 k3");
  CHECK(together[0].end == Approx(1.06e-3));
  const std::vector<StartedItem> apart = OrderItems(items, kPlenty, {1, 0.1});
  CHECK(Text(items, apart) == "g0 k1 g2 k3");
  CHECK(EndOf(apart) < EndOf(together));
  CHECK(EndOf(BestOrder(items, kPlenty)) == EndOf(apart));
}

TEST_CASE("with more lead a gather begins earlier") {
  const std::vector<WorkItem> items = Layers(4, 0.6, 10);
  const auto begin = [&](double lead) { return OrderItems(items, kPlenty, {lead, 1})[3].begin; };
  CHECK(begin(1) == Approx(1.4e-3));
  CHECK(begin(2) == Approx(1.2e-3));  // right behind the one before it
}

TEST_CASE("a source that waits for its exchange does not hold more memory than there is") {
  std::vector<WorkItem> items;
  for (int n = 0; n < 6; ++n) {
    const int at = static_cast<int>(items.size());
    items.push_back(Item(at, false, 1, {1}, {10 + n}));
    items.push_back(Item(at + 1, true, 3, {10 + n}, {20 + n}));
    items.back().freed_bytes = 100;
  }
  const std::vector<StartedItem> tight = OrderItems(items, 0);
  CHECK(Text(items, tight) == "k0 g1 k2 g3 k4 g5 k6 g7 k8 g9 k10 g11");
}

// Items that read and write any of a few buffers.
std::vector<WorkItem> RandomItems(std::mt19937& random, int count) {
  const auto draw = [&](int below) { return static_cast<int>(random() % below); };
  std::vector<WorkItem> items;
  for (int n = 0; n < count; ++n) {
    const bool exchange = draw(2) == 0;
    std::set<int> reads, writes;
    for (int r = exchange ? 1 : draw(4); r > 0; --r) reads.insert(draw(12));
    writes.insert(draw(12));
    items.push_back(Item(n, exchange, 0.1 * (1 + draw(30)), {reads.begin(), reads.end()},
                         {writes.begin(), writes.end()}));
    items.back().latency = exchange ? 1e-4 * draw(5) : 0;
    items.back().made_bytes = draw(3) * 50;
    items.back().freed_bytes = draw(3) * 50;
  }
  return items;
}

bool Uses(const std::vector<int>& buffers, int buffer) {
  return std::count(buffers.begin(), buffers.end(), buffer) > 0;
}

bool Conflict(const WorkItem& a, const WorkItem& b) {
  for (int buffer = 0; buffer < 12; ++buffer) {
    const bool in_a = Uses(a.reads, buffer) || Uses(a.writes, buffer);
    const bool in_b = Uses(b.reads, buffer) || Uses(b.writes, buffer);
    const bool written = Uses(a.writes, buffer) || Uses(b.writes, buffer);
    if (in_a && in_b && written) return true;
  }
  return false;
}

TEST_CASE("every order has all items, keeps what they depend on, and groups are independent") {
  std::mt19937 random(7);
  int joined = 0;
  for (int round = 0; round < 400; ++round) {
    const std::vector<WorkItem> items = RandomItems(random, 1 + static_cast<int>(random() % 40));
    const std::vector<StartedItem> started =
        OrderItems(items, static_cast<int64_t>(random() % 4) * 60);
    std::vector<int> place(items.size(), -1);
    for (size_t n = 0; n < started.size(); ++n) place[started[n].item] = static_cast<int>(n);
    REQUIRE(started.size() == items.size());
    REQUIRE(std::count(place.begin(), place.end(), -1) == 0);
    for (size_t a = 0; a < items.size(); ++a) {
      for (size_t b = a + 1; b < items.size(); ++b) {
        if (!Conflict(items[a], items[b])) continue;
        REQUIRE(place[a] < place[b]);
        REQUIRE(started[place[a]].end <= started[place[b]].begin);
      }
    }
    for (size_t n = 0; n < started.size(); ++n) {
      if (!started[n].joins) continue;
      ++joined;
      REQUIRE(items[started[n].item].exchange);
      REQUIRE(items[started[n - 1].item].exchange);
      REQUIRE(started[n].begin == started[n - 1].begin);
    }
  }
  CHECK(joined > 100);
}

TEST_CASE("orders are the same each time") {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    const std::vector<WorkItem> items = RandomItems(random, 60);
    CHECK(Text(items, OrderItems(items, 100)) == Text(items, OrderItems(items, 100)));
  }
}

}  // namespace
}  // namespace yuba::compiler
