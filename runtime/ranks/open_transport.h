// The transports there are, by name: shared objects that lie beside the command and are opened when
// first asked for, so that none of the libraries behind them must be installed.
//
//   TransportOptions options{rank, size, folder, "lo"};
//   YUBA_ASSIGN_OR_RETURN(std::unique_ptr<Transport> transport, OpenTransport("gloo", options));
//
// A transport's file is looked for in the folder of the running command, in
// ../runtime/ranks/transports seen from there (where Bazel builds it), and where the loader looks.
#ifndef YUBA_RUNTIME_RANKS_OPEN_TRANSPORT_H_
#define YUBA_RUNTIME_RANKS_OPEN_TRANSPORT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ranks/transport.h"

namespace yuba::runtime {

// Opens the transport of this name and waits until all ranks of the job have come. Once a process,
// as MPI may be started only once. `folder`, where given, is where its file is looked for first. A
// user's error where there is no such transport; Unavailable, with the reason and what to do, where
// it or its library is missing; DeadlineExceeded where
// the ranks do not meet.
absl::StatusOr<std::unique_ptr<Transport>> OpenTransport(const std::string& name,
                                                         const TransportOptions& options,
                                                         const std::string& folder = "");

struct TransportFacts {
  std::string name;  // for OpenTransport: "gloo"
  bool found = false;
  std::string detail;  // its version and file, or why it cannot be opened and what to do
  std::string use;     // what it is for
};

// All transports. Opens their files and starts nothing.
std::vector<TransportFacts> FindTransports(const std::string& folder = "");

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_OPEN_TRANSPORT_H_
