#include "compiler/spmd/recognise.h"

#include <catch2/catch.hpp>

#include "compiler/spmd/tables.h"
#include "opsemantics/base/collectives.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {
namespace {

// A program of one exchange on four devices (axes a and b): a tensor [8, 8] that has one sharding
// and is received under another.
program::Exchange Recognised(const Sharding& from, const Sharding& to, const AxisList& parts = {}) {
  const Mesh mesh = yuba::MeshOf(4);
  program::Program program;
  for (const MeshAxis& axis : mesh.axes) {
    program::MeshAxis* added = program.add_mesh();
    added->set_name(axis.name);
    added->set_size(axis.size);
  }
  program::Exchange* exchange = program.add_instructions()->mutable_exchange();
  std::vector<Box> offered, wanted;
  std::vector<int64_t> part;
  for (int device = 0; device < 4; ++device) {
    offered.push_back(ShardBox(mesh, from, {8, 8}, device));
    wanted.push_back(ShardBox(mesh, to, {8, 8}, device));
    part.push_back(PartNumber(mesh, parts, device));
  }
  *exchange->mutable_from() = BoxTable(mesh, offered);
  *exchange->mutable_to() = BoxTable(mesh, wanted);
  exchange->set_partials(PartCount(mesh, parts));
  if (!parts.empty()) *exchange->mutable_partial() = BoundTable(mesh, part);
  RecogniseCollectives(program);
  return program.instructions(0).exchange();
}

std::vector<int> AxesOf(const program::Exchange& exchange) {
  return {exchange.axes().begin(), exchange.axes().end()};
}

absl::string_view CollectiveOf(const program::Exchange& exchange) {
  return CollectiveName(exchange.collective());
}

using Axes = std::vector<int>;

TEST_CASE("gathers are over the axes that the reader does not cut") {
  program::Exchange exchange = Recognised({{{0, 1}, {}}}, {{{}, {}}});
  CHECK(CollectiveOf(exchange) == "all_gather");
  CHECK(AxesOf(exchange) == Axes{0, 1});
  exchange = Recognised({{{0, 1}, {}}}, {{{0}, {}}});
  CHECK(CollectiveOf(exchange) == "all_gather");
  CHECK(AxesOf(exchange) == Axes{1});
  exchange = Recognised({{{0}, {1}}}, {{{}, {1}}});
  CHECK(CollectiveOf(exchange) == "all_gather");
  CHECK(AxesOf(exchange) == Axes{0});
}

TEST_CASE("a sharding that changes dimension is all to all, one that changes order permutes") {
  program::Exchange exchange = Recognised({{{0}, {1}}}, {{{}, {1, 0}}});
  CHECK(CollectiveOf(exchange) == "all_to_all");
  CHECK(AxesOf(exchange) == Axes{0});
  exchange = Recognised({{{0, 1}, {}}}, {{{1, 0}, {}}});
  CHECK(CollectiveOf(exchange) == "permute");
  CHECK(AxesOf(exchange) == Axes{0, 1});
}

TEST_CASE("sums are scattered or shared") {
  program::Exchange exchange = Recognised({{{0}, {}}}, {{{0, 1}, {}}}, {1});
  CHECK(CollectiveOf(exchange) == "reduce_scatter");
  CHECK(AxesOf(exchange) == Axes{1});
  exchange = Recognised({{{0}, {}}}, {{{0}, {}}}, {1});
  CHECK(CollectiveOf(exchange) == "all_reduce");
  CHECK(AxesOf(exchange) == Axes{1});
}

TEST_CASE("what is no collective stays an exchange") {
  CHECK(CollectiveOf(Recognised({{{0}, {}}}, {{{0}, {}}})) == "plain");  // nothing moves
  // A sum that also changes dimension over the other axis.
  CHECK(CollectiveOf(Recognised({{{0}, {}}}, {{{1}, {0}}}, {1})) == "plain");
}

}  // namespace
}  // namespace yuba::compiler
