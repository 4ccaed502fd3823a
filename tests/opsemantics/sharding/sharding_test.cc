#include "opsemantics/sharding/sharding.h"

#include "catch2/catch.hpp"

namespace yuba {
namespace {

std::string AxesOf(const Mesh& mesh) {
  std::string text;
  for (const MeshAxis& axis : mesh.axes) text += axis.name + std::to_string(axis.size) + " ";
  return text;
}

TEST_CASE("a mesh has prime axes, largest first") {
  CHECK(AxesOf(MeshOf(1)) == "");
  CHECK(AxesOf(MeshOf(8)) == "a2 b2 c2 ");
  CHECK(AxesOf(MeshOf(12)) == "a3 b2 c2 ");
  CHECK(AxesOf(MeshOf(35)) == "a7 b5 ");
  CHECK(MeshOf(1).devices() == 1);
  CHECK(MeshOf(60).devices() == 60);
}

TEST_CASE("a device's coordinates are the digits of its number, the first axis most significant") {
  const Mesh mesh = MeshOf(12);
  CHECK(mesh.coordinate(7, 0) == 1);
  CHECK(mesh.coordinate(7, 1) == 1);
  CHECK(mesh.coordinate(7, 2) == 1);
  CHECK(mesh.coordinate(8, 0) == 2);
  CHECK(mesh.coordinate(8, 1) == 0);
}

TEST_CASE("part numbers read the axes as digits, outermost first") {
  const Mesh mesh = MeshOf(8);
  CHECK(PartCount(mesh, {}) == 1);
  CHECK(PartCount(mesh, {2, 0}) == 4);
  CHECK(PartNumber(mesh, {0, 2}, 1) == 1);
  CHECK(PartNumber(mesh, {2, 0}, 1) == 2);
  CHECK(PartInterval(mesh, {2, 0}, 10, 1) == Interval{5, 7});
  CHECK(PartInterval(mesh, {}, 10, 5) == Interval{0, 10});
}

TEST_CASE("shards tile the tensor, and replicate along unused axes") {
  const Mesh mesh = MeshOf(8);
  const Sharding sharding = {{{0}, {}, {2}}};
  CHECK(ShardBox(mesh, sharding, {7, 3, 4}, 0) == Box{{0, 3}, {0, 3}, {0, 2}});
  CHECK(ShardBox(mesh, sharding, {7, 3, 4}, 2) == ShardBox(mesh, sharding, {7, 3, 4}, 0));
  CHECK(ShardBox(mesh, sharding, {7, 3, 4}, 5) == Box{{3, 7}, {0, 3}, {2, 4}});
  CHECK(ShardBox(mesh, Sharding(), {}, 5) == Box());
}

TEST_CASE("shardings are written with their factors in parentheses") {
  const Mesh mesh = MeshOf(8);
  CHECK(ToString(Sharding{{{0, 1}, {}}}, {{32}, {64}}, mesh) == "[32/ab, 64]");
  CHECK(ToString(Sharding{{{0}, {}, {}, {1, 2}, {}}}, {{4}, {128}, {3, 12, 64}}, mesh) ==
        "[4/a, 128, (3 12/bc 64)]");
  CHECK(ToString(Sharding{{{2, 0}}}, {{256}}, mesh) == "[256/ca]");
  CHECK(ToString(Sharding(), {}, mesh) == "[]");
}

}  // namespace
}  // namespace yuba
