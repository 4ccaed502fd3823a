// Engines by name: what is there, what is missing and why, and names that are none.
#include "runtime/ranks/open_transport.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

TEST_CASE("all engines are listed, each with its version or why it is missing") {
  const std::vector<EngineFacts> engines = FindEngines(RepositoryFile("runtime/ranks/engines"));
  REQUIRE(engines.size() == 3);
  for (const EngineFacts& engine : engines) {
    INFO(engine.name << ": " << engine.detail);
    CHECK_FALSE(engine.use.empty());
    const bool has_next_step = engine.detail.find("install") != std::string::npos;
    CHECK(engine.found != has_next_step);
    // "gloo 0.5.0, /the/file.so"
    if (engine.found) {
      CHECK(engine.detail.find("/libyuba_" + engine.name + ".so") != std::string::npos);
      CHECK(engine.detail.find('.') < engine.detail.find(','));
    }
  }
}

TEST_CASE("a name that is none is the user's error, with those that there are") {
  CHECK_THAT(OpenTransport("carrier-pigeon", {}).status(),
             StatusIs(absl::StatusCode::kInvalidArgument, "gloo, openmpi, mpich"));
}

TEST_CASE("an engine whose file is of no use is unavailable, with what to install") {
  const std::string folder = ScratchFolder("damaged");
  std::ofstream(folder + "/libyuba_gloo.so") << "no library";
  CHECK_THAT(OpenTransport("gloo", {}, folder).status(),
             StatusIs(absl::StatusCode::kUnavailable, "install libgloo0"));
  for (const EngineFacts& engine : FindEngines(folder)) {
    if (engine.name == "gloo") CHECK_FALSE(engine.found);
  }
}

TEST_CASE("gloo without a folder says what is missing") {
  const std::string folder = RepositoryFile("runtime/ranks/engines");
  if (!FindEngines(folder)[0].found) {
    WARN("SKIP: " << FindEngines(folder)[0].detail);
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
