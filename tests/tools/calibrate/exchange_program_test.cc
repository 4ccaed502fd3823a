// Programs of one collective: the run time takes them as that collective, they move the bytes that
// collectives are counted to move, and bring the right values.
#include "tools/calibrate/exchange_program.h"

#include <catch2/catch.hpp>

#include "opsemantics/base/collectives.h"
#include "opsemantics/machine/collective_table.h"
#include "runtime/session.h"
#include "tests/support/status_matchers.h"

namespace yuba::tools {
namespace {

std::vector<float> FloatsOf(const TensorData& tensor) {
  const auto* begin = reinterpret_cast<const float*>(tensor.data.data());
  return {begin, begin + tensor.data.size() / sizeof(float)};
}

TEST_CASE("every collective is one, moves what it is counted to, and brings the right values") {
  for (const int devices : {2, 3, 8}) {
    for (const Collective& collective : Collectives()) {
      INFO(collective.name << " on " << devices);
      program::Program message = ExchangeProgram(collective.name, devices, 1000);
      const auto bytes = static_cast<double>(TensorBytes(message));
      CHECK(bytes >= 1000);
      CHECK(bytes < 1000 + 4 * devices * devices);
      const auto program = runtime::LoadedProgram::FromMessage(std::move(message));
      REQUIRE_THAT(program, IsOk());
      const auto session = runtime::Session::Open(*program, {});  // plans it as a collective
      REQUIRE_THAT(session, IsOk());
      REQUIRE_THAT((*session)->Randomize(7), IsOk());
      REQUIRE_THAT((*session)->Step(), IsOk());
      for (const int64_t received : (*session)->statistics().bytes_in) {
        CHECK(static_cast<double>(received) ==
              Approx(BytesReceived(collective.name, devices, bytes)));
      }
      const auto x = (*session)->GetBuffer(0), y = (*session)->GetBuffer(1);
      REQUIRE_THAT(x, IsOk());
      REQUIRE_THAT(y, IsOk());
      const std::vector<float> before = FloatsOf(*x), after = FloatsOf(*y);
      REQUIRE(before.size() == after.size());
      // Each device has the same made-up values where it has the whole.
      const float times = collective.combines ? static_cast<float>(devices) : 1;
      for (size_t i = 0; i < before.size(); ++i) {
        CHECK(after[i] == Approx(times * before[i]).margin(1e-5));
      }
    }
  }
}

}  // namespace
}  // namespace yuba::tools
