#include "compiler/verify/moved.h"

#include "compiler/verify/box_union.h"
#include "opsemantics/base/status.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {

std::string MovedBoxesOf(const program::Exchange& exchange) {
  program::Exchange boxes;
  *boxes.mutable_from() = exchange.from();
  *boxes.mutable_to() = exchange.to();
  boxes.set_from_first_only(exchange.from_first_only());
  return boxes.SerializeAsString();
}

absl::Status CheckOffered(const Mesh& mesh, const program::Exchange& exchange,
                          const std::vector<Box>& offers, const std::vector<Box>& to) {
  BoxUnion offered;
  for (const Box& offer : offers) offered.Add(offer);
  for (int device : FirstDevices(mesh, exchange.to())) {
    if (const auto lost = offered.Missing(to[device])) {
      return ProofError("device ", device, " waits for ", ToString(*lost), " of ",
                        exchange.tensor(), ", which no device offers");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReceived(const Mesh& mesh, const program::Exchange& exchange,
                           const std::vector<Box>& offers, const std::vector<Box>& to) {
  BoxUnion received;
  for (int device : FirstDevices(mesh, exchange.to())) received.Add(to[device]);
  for (int device : FirstDevices(mesh, exchange.from())) {
    if (const auto lost = received.Missing(offers[device])) {
      return ProofError(ToString(*lost), ", written by device ", device,
                        ", is reduced into nobody");
    }
  }
  return absl::OkStatus();
}

}  // namespace yuba::compiler
