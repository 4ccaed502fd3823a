// What each device copies and combines in one exchange: the boxes of a program::Exchange become
// lists of strided walks, once, when a session opens. A step then only runs the lists
// (Communicator::Advance). Gathers, halos among them, become pieces; reductions become cells.
//
// Example: the halo of program.proto. Rows [0,4) and [4,8) are stored, [0,5) and [3,8) are wanted.
// Device 0 gets two pieces, {source 0, rows [0,4)} and {source 1, rows [4,5)}; it reads device 1
// and is read by it. The first piece is a copy within the device and counts no bytes. The second is
// one row of 16 f32 elements, so `received` of device 0 is {64}.
//
// What moves is counted here, from pieces and cells, and nowhere else in the runtime: back ends
// copy what a plan lists and count nothing (ExchangeProtocol adds up `received`).
#ifndef YUBA_RUNTIME_EXCHANGE_PLAN_H_
#define YUBA_RUNTIME_EXCHANGE_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/program/program.h"
#include "runtime/reduce.h"
#include "runtime/walk.h"

namespace yuba::runtime {

// A box that a device copies from the source buffer of device `source`, which may be itself, into
// its own destination buffer.
struct Piece {
  int source = 0;
  Box box;
  BoxWalk walk;  // of the source buffer, then of the destination buffer
};

// A box of a device's own destination buffer that gets the combination of its partials; without
// sources it gets the reducer's identity. One partial is only converted.
struct Cell {
  std::vector<int> sources;  // devices, one for each partial of the box, by ascending partial
  Box box;
  BoxWalk walk;  // of the sources' buffers, then of the destination buffer
};

// What one device does in an exchange.
struct DeviceExchange {
  std::vector<Piece> pieces;
  std::vector<Cell> cells;
  std::vector<int> sources;       // the other devices it reads, ascending
  std::vector<int64_t> received;  // [position in sources] payload bytes that come from there
  std::vector<int> readers;       // the other devices that read it, ascending
};

struct ExchangePlan {
  Combination combination;           // of the cells
  int64_t source_element_bytes = 0;  // what moves is counted in these
  int64_t destination_element_bytes = 0;
  int64_t source_offset = 0;            // of the source buffer in every arena, bytes
  int64_t destination_offset = 0;       // of the destination buffer
  bool joins = false;                   // Instruction.joins: begins with the exchange before it
  int entry = 0;                        // position in LoadedProgram::entries
  std::vector<DeviceExchange> devices;  // [device]
};

// Plans the exchange from its boxes alone, by GatherTransfers and ReduceTransfers
// (opsemantics/base/transfers.h). `exchange` is one of `program`, which was validated, so it cannot
// fail.
ExchangePlan PlanExchange(const LoadedProgram& program, const program::Exchange& exchange);

// Plans the exchange from the collective that it was recognised as. Each device deals only with the
// members of its group, the devices that differ from it on the exchange's axes only, and lists
// itself first and then those that follow it, so that not all read the same member at once. The
// result has the same bits as PlanExchange's. A user's error where the boxes are not those of the
// collective: the program was not written by this compiler.
absl::StatusOr<ExchangePlan> PlanCollective(const LoadedProgram& program,
                                            const program::Exchange& exchange);

// The boxes of an exchange, [device]. Where the exchange has groups, the number of the device's
// group is one more dimension of each box, the first (BoxesInGroups).
struct ExchangeBoxes {
  std::vector<Box> from, to;             // what is held and read
  std::vector<Box> source, destination;  // what the buffers hold
};
ExchangeBoxes BoxesOf(const LoadedProgram& program, const program::Exchange& exchange);

// The first and the last step of both planners. EmptyPlan has element sizes, the program's offsets
// and empty lists; ListPeers derives `sources`, `received` and `readers` of each device from pieces
// and cells.
ExchangePlan EmptyPlan(const LoadedProgram& program, const program::Exchange& exchange);
void ListPeers(ExchangePlan& plan);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_EXCHANGE_PLAN_H_
