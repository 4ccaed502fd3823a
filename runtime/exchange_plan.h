// What each device copies and combines in one exchange, made from the boxes once, at load time.
#ifndef YUBA_RUNTIME_EXCHANGE_PLAN_H_
#define YUBA_RUNTIME_EXCHANGE_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/program/program.h"
#include "runtime/reduce.h"
#include "runtime/walk.h"

namespace yuba::runtime {

// A box that a device takes from `source`'s buffer (which may be its own) into its own.
struct Piece {
  int source = 0;
  Box box;
  BoxWalk walk;  // the source's buffer, the destination's
};

// A box of a device's own buffer whose parts are combined; without sources it gets the identity.
struct Cell {
  std::vector<int> sources;  // one for each part that is there, by ascending part
  Box box;
  BoxWalk walk;  // the sources' buffers, then the destination's
};

struct DeviceExchange {
  std::vector<Piece> pieces;
  std::vector<Cell> cells;
  std::vector<int> sources;  // the other devices it reads, ascending
  std::vector<int> readers;  // the other devices that read it, ascending
};

struct ExchangePlan {
  Combination combination;
  int64_t source_element = 0;  // bytes; what moves is counted in these
  int64_t destination_element = 0;
  int64_t source_offset = 0;  // of the buffers, in the arena
  int64_t destination_offset = 0;
  std::vector<DeviceExchange> devices;
};

// The exchange as its boxes say (GatherTransfers, ReduceTransfers).
ExchangePlan PlanExchange(const LoadedProgram& program, const program::Exchange& exchange);

// The same from the collective that was recognised: each device deals with the members of its group
// (the devices that differ on the exchange's axes only), starting after itself so that not all read
// the same one. An error where the boxes are not those of that collective.
absl::StatusOr<ExchangePlan> PlanCollective(const LoadedProgram& program,
                                            const program::Exchange& exchange);

// Boxes of an exchange on all devices.
struct ExchangeBoxes {
  std::vector<Box> from, to;             // what is offered and wanted
  std::vector<Box> source, destination;  // of the buffers
};
ExchangeBoxes BoxesOf(const LoadedProgram& program, const program::Exchange& exchange);

// A plan without devices' lists, and its last step: who waits for whom.
ExchangePlan EmptyPlan(const LoadedProgram& program, const program::Exchange& exchange);
void ListPeers(ExchangePlan& plan);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_EXCHANGE_PLAN_H_
