#include "compiler/streams/streams.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/memory/memory.h"
#include "compiler/streams/best_order.h"
#include "compiler/streams/move_instructions.h"
#include "compiler/streams/waits.h"
#include "compiler/streams/work_items.h"
#include "runtime/program/all_reduce.h"

namespace yuba::compiler {
namespace {

// Of an arena without a limit, so much may be used to hide exchanges.
constexpr int64_t kShareOfArena = 10;
// Shares of the memory that is left that exchanges ahead of their readers may hold, tried in turn.
// What they hold is an estimate, and offsets are not perfect.
constexpr double kTries[] = {1, 0.5, 0.25, 0.1, 0};

// [position]: the last item that begins before this one has ended.
std::vector<int> LastDuring(const std::vector<StartedItem>& started) {
  std::vector<int> last(started.size());
  for (size_t i = 0; i < started.size(); ++i) {
    size_t j = i;
    while (j + 1 < started.size() && started[j + 1].begin < started[i].end) ++j;
    last[i] = static_cast<int>(j);
  }
  return last;
}

// A new order of a program's instructions.
struct Order {
  // By new position: the old one, whether it joins, and the last that begins before it has ended.
  std::vector<int> order;
  std::vector<bool> joins;
  std::vector<int> runs_until;
};

void AddEntry(const std::vector<WorkItem>& items, int64_t bytes_ahead, Order& order) {
  const std::vector<StartedItem> started = BestOrder(items, bytes_ahead);
  std::vector<int> begin;  // [position in started]: of its first instruction
  for (const StartedItem& each : started) {
    begin.push_back(static_cast<int>(order.order.size()));
    for (int i = items[each.item].begin; i < items[each.item].end; ++i) {
      order.joins.push_back(each.joins && i == items[each.item].begin);
      order.order.push_back(i);
    }
  }
  const std::vector<int> last = LastDuring(started);
  for (size_t n = 0; n < started.size(); ++n) {
    const WorkItem& item = items[started[n].item];
    const WorkItem& during = items[started[last[n]].item];
    for (int i = item.begin; i < item.end; ++i)
      order.runs_until.push_back(begin[last[n]] + during.end - during.begin - 1);
  }
}

// The program in the order that so many bytes ahead allow, with lives and offsets.
program::Program Reordered(const program::Program& program,
                           const std::vector<std::vector<WorkItem>>& items, int64_t bytes_ahead,
                           int64_t limit) {
  Order order;
  for (const std::vector<WorkItem>& of_entry : items) AddEntry(of_entry, bytes_ahead, order);
  program::Program moved = program;
  MoveInstructions(order.order, moved);
  for (int i = 0; i < moved.instructions_size(); ++i) {
    // A sum and its gather that have come together are a unit of their own.
    const bool pair = program::IsAllReduce(moved, i - 1) || program::IsAllReduce(moved, i - 2) ||
                      program::IsAllReduce(moved, i);
    moved.mutable_instructions(i)->set_joins(order.joins[i] && !pair);
  }
  PlanMemory(moved, limit, order.runs_until);
  return moved;
}

}  // namespace

void OverlapExchanges(const Machine& machine, int64_t limit, program::Program& program) {
  const bool exchanges = std::any_of(
      program.instructions().begin(), program.instructions().end(),
      [](const program::Instruction& instruction) { return instruction.has_exchange(); });
  if (!exchanges) return;
  const std::vector<std::vector<WorkItem>> items = WorkItemsOf(program, machine);
  std::string code = std::move(*program.mutable_code());  // megabytes, which no try needs
  const int64_t before = program.arena_size();
  const int64_t most = std::max(before, limit > 0 ? limit : before + before / kShareOfArena);
  for (const double share : kTries) {
    const auto ahead = static_cast<int64_t>(share * static_cast<double>(most - before));
    program::Program moved = Reordered(program, items, ahead, most);
    if (moved.arena_size() > most) continue;
    program = std::move(moved);
    break;
  }
  program.set_code(std::move(code));
  SetWaits(program);
}

}  // namespace yuba::compiler
