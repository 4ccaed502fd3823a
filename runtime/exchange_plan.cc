#include "runtime/exchange_plan.h"

#include <map>
#include <utility>

#include "opsemantics/base/transfers.h"
#include "runtime/program/enums.h"

namespace yuba::runtime {
namespace {

// The box of one owner as cells: it is split where the set of partials that were written changes.
std::vector<Cell> CellsOf(const Box& owned, const std::vector<ReduceTransfer>& reductions,
                          int device) {
  std::vector<Cell> cells(1);
  cells[0].box = owned;
  for (const ReduceTransfer& reduction : reductions) {
    if (reduction.transfer.destination != device) continue;
    std::vector<Cell> split;
    for (Cell& cell : cells) {
      const Box common = Intersect(cell.box, reduction.transfer.box);
      if (IsEmpty(common)) {
        split.push_back(std::move(cell));
        continue;
      }
      for (Box& outside : Subtract(cell.box, common)) {
        split.push_back({cell.sources, std::move(outside), {}});
      }
      split.push_back({cell.sources, common, {}});
      split.back().sources.push_back(reduction.transfer.source);
    }
    cells = std::move(split);
  }
  return cells;
}

void PlanCells(const ExchangeBoxes& boxes, const std::vector<Box>& first_owners,
               const std::vector<ReduceTransfer>& reductions, ExchangePlan& plan) {
  for (size_t d = 0; d < first_owners.size(); ++d) {
    if (IsEmpty(first_owners[d])) continue;
    plan.devices[d].cells = CellsOf(first_owners[d], reductions, static_cast<int>(d));
    for (Cell& cell : plan.devices[d].cells) {
      std::vector<Box> buffers;
      for (int source : cell.sources) buffers.push_back(boxes.source[source]);
      buffers.push_back(boxes.destination[d]);
      cell.walk = WalkOf(cell.box, buffers);
    }
  }
}

void PlanCopies(const ExchangeBoxes& boxes, const std::vector<Transfer>& transfers,
                ExchangePlan& plan) {
  for (const Transfer& transfer : transfers) {
    const bool in_place = transfer.source == transfer.destination &&
                          plan.source_offset == plan.destination_offset &&
                          boxes.source[transfer.source] == boxes.destination[transfer.source];
    if (in_place) continue;
    plan.devices[transfer.destination].pieces.push_back(
        {transfer.source, transfer.box,
         WalkOf(transfer.box,
                {boxes.source[transfer.source], boxes.destination[transfer.destination]})});
  }
}

// Elements that a device shall have and no device wrote get the identity.
void PlanMissing(const ExchangeBoxes& boxes, const std::vector<Transfer>& transfers,
                 ExchangePlan& plan) {
  for (size_t d = 0; d < boxes.to.size(); ++d) {
    std::vector<Box> received;
    for (const Transfer& transfer : transfers) {
      if (transfer.destination == static_cast<int>(d)) received.push_back(transfer.box);
    }
    for (const Box& missing : SubtractAll(boxes.to[d], received)) {
      plan.devices[d].cells.push_back({{}, missing, WalkOf(missing, {boxes.destination[d]})});
    }
  }
}

}  // namespace

ExchangeBoxes BoxesOf(const LoadedProgram& program, const program::Exchange& exchange) {
  ExchangeBoxes boxes;
  for (int device = 0; device < program.devices(); ++device) {
    boxes.from.push_back(program.BoxOf(exchange.from(), device));
    boxes.to.push_back(program.BoxOf(exchange.to(), device));
    boxes.source.push_back(program.BufferBox(exchange.source(), device));
    boxes.destination.push_back(program.BufferBox(exchange.destination(), device));
  }
  if (!exchange.has_group()) return boxes;
  std::vector<int> groups;
  for (int device = 0; device < program.devices(); ++device) {
    groups.push_back(static_cast<int>(program.Value(exchange.group(), device)));
  }
  for (std::vector<Box>* each : {&boxes.from, &boxes.to}) *each = BoxesInGroups(*each, groups);
  // The box of a buffer gets its own device's group too, so that walks of its elements have boxes
  // of one rank.
  for (std::vector<Box>* each : {&boxes.source, &boxes.destination}) {
    *each = BoxesInGroups(*each, groups);
  }
  return boxes;
}

ExchangePlan EmptyPlan(const LoadedProgram& program, const program::Exchange& exchange) {
  ExchangePlan plan;
  plan.combination = {FromProto(exchange.reducer()), program.type(exchange.source()),
                      program.type(exchange.destination()), program.hash()};
  plan.source_element_bytes = program.ElementBytes(exchange.source());
  plan.destination_element_bytes = program.ElementBytes(exchange.destination());
  plan.source_offset = program.message().buffers(exchange.source()).offset();
  plan.destination_offset = program.message().buffers(exchange.destination()).offset();
  plan.devices.resize(program.devices());
  return plan;
}

void ListPeers(ExchangePlan& plan) {
  for (DeviceExchange& own : plan.devices) {
    own.sources.clear();
    own.received.clear();
    own.readers.clear();
  }
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    DeviceExchange& own = plan.devices[d];
    std::map<int, int64_t> elements;  // by source
    for (const Piece& piece : own.pieces) elements[piece.source] += piece.walk.elements();
    for (const Cell& cell : own.cells) {
      for (int source : cell.sources) elements[source] += cell.walk.elements();
    }
    for (const auto& [source, count] : elements) {
      if (source == static_cast<int>(d)) continue;
      own.sources.push_back(source);
      own.received.push_back(count * plan.source_element_bytes);
      plan.devices[source].readers.push_back(static_cast<int>(d));
    }
  }
}

ExchangePlan PlanExchange(const LoadedProgram& program, const program::Exchange& exchange) {
  ExchangePlan plan = EmptyPlan(program, exchange);
  ExchangeBoxes boxes = BoxesOf(program, exchange);
  if (exchange.from_first_only()) boxes.from = FirstOwnerBoxes(boxes.from);
  if (exchange.reduce()) {
    Producers producers;
    producers.writes = boxes.from;
    producers.partials = exchange.partials();
    for (int d = 0; d < program.devices(); ++d) {
      producers.partial.push_back(
          producers.partials == 1 ? 0 : static_cast<int>(program.Value(exchange.partial(), d)));
    }
    const std::vector<ReduceTransfer> reductions = ReduceTransfers(producers, boxes.to);
    if (producers.partials > 1 || plan.combination.from != plan.combination.to) {
      PlanCells(boxes, producers.partials > 1 ? FirstOwnerBoxes(boxes.to) : boxes.to, reductions,
                plan);
    } else {
      std::vector<Transfer> transfers;
      for (const ReduceTransfer& reduction : reductions) transfers.push_back(reduction.transfer);
      PlanCopies(boxes, transfers, plan);
      if (exchange.reducer() != program::NONE) PlanMissing(boxes, transfers, plan);
    }
  } else {
    PlanCopies(boxes, GatherTransfers(boxes.from, boxes.to), plan);
  }
  ListPeers(plan);
  return plan;
}

}  // namespace yuba::runtime
