// How many blocks a launch has.
#include "runtime/program/thread_launch.h"

#include <catch2/catch.hpp>

namespace yuba {
namespace {

TEST_CASE("blocks are as many as cover the points, or as tiles do") {
  program::Kernel kernel;
  program::ThreadLaunch launch;
  for (const int64_t extent : {10, 6, 50}) {
    program::Range* range = kernel.add_indices();
    range->mutable_begin()->add_values(3);
    range->mutable_end()->add_values(3 + extent);
    launch.add_indices(launch.indices_size());
  }
  launch.set_points(256);
  CHECK(program::PointsOf(Mesh(), kernel, launch, 0) == 3000);
  CHECK(program::BlocksOf(Mesh(), kernel, launch, 0) == 12);
  launch.set_parts(4);
  CHECK(program::BlocksOf(Mesh(), kernel, launch, 0) == 48);
  launch.set_parts(0);
  for (const int64_t side : {1, 0, 128}) launch.add_sides(side);
  CHECK(program::BlocksOf(Mesh(), kernel, launch, 0) == 30);
  launch.set_sides(0, 4);
  launch.set_sides(1, 4);
  CHECK(program::BlocksOf(Mesh(), kernel, launch, 0) == 6);
}

}  // namespace
}  // namespace yuba
