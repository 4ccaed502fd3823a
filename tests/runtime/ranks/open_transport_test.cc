// Transports by name: what is there, what is missing and why, and names that are none.
#include "runtime/ranks/open_transport.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

TEST_CASE("all transports are listed, each with its version or why it is missing") {
  const std::vector<TransportFacts> transports =
      FindTransports(RepositoryFile("runtime/ranks/transports"));
  REQUIRE(transports.size() == 3);
  for (const TransportFacts& transport : transports) {
    INFO(transport.name << ": " << transport.detail);
    CHECK_FALSE(transport.use.empty());
    const bool has_next_step = transport.detail.find("install") != std::string::npos;
    CHECK(transport.found != has_next_step);
    // "0.5.0, /the/file.so"
    if (transport.found) {
      CHECK(transport.detail.find("/libyuba_" + transport.name + ".so") != std::string::npos);
      CHECK(transport.detail.find('.') < transport.detail.find(','));
    }
  }
}

TEST_CASE("a name that is none is the user's error, with those that there are") {
  CHECK_THAT(OpenTransport("carrier-pigeon", {}).status(),
             StatusIs(absl::StatusCode::kInvalidArgument, "gloo, openmpi, mpich"));
}

TEST_CASE("a transport whose file is of no use is unavailable, with what to install") {
  const std::string folder = ScratchFolder("damaged");
  std::ofstream(folder + "/libyuba_gloo.so") << "no library";
  CHECK_THAT(OpenTransport("gloo", {}, folder).status(),
             StatusIs(absl::StatusCode::kUnavailable, "install libgloo0"));
  for (const TransportFacts& transport : FindTransports(folder)) {
    if (transport.name == "gloo") CHECK_FALSE(transport.found);
  }
}

TEST_CASE("gloo without a folder says what is missing") {
  const std::string folder = RepositoryFile("runtime/ranks/transports");
  if (!FindTransports(folder)[0].found) {
    WARN("SKIP: " << FindTransports(folder)[0].detail);
    return;
  }
  CHECK_THAT(OpenTransport("gloo", {0, 2}, folder).status(),
             StatusIs(absl::StatusCode::kUnavailable, "gloo needs a place where the ranks meet"));
  TransportOptions options{0, 2, ScratchFolder("meeting"), "no-such-network"};
  CHECK_THAT(OpenTransport("gloo", options, folder).status(),
             StatusIs(absl::StatusCode::kUnavailable, "no network interface \"no-such-network\""));
}

}  // namespace
}  // namespace yuba::runtime
