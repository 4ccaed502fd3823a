#include "runtime/program/thread_launch.h"

#include <algorithm>

#include "runtime/program/tables.h"

namespace yuba::program {
namespace {

int64_t Covering(int64_t number, int64_t by) { return (number + by - 1) / by; }

int64_t ValuesOf(const Mesh& mesh, const Kernel& kernel, int index, int device) {
  return IntervalOn(mesh, kernel.indices(index), device).size();
}

}  // namespace

int64_t PointsOf(const Mesh& mesh, const Kernel& kernel, const ThreadLaunch& launch, int device) {
  int64_t points = 1;
  for (const int index : launch.indices()) points *= ValuesOf(mesh, kernel, index, device);
  return points;
}

int64_t BlocksOf(const Mesh& mesh, const Kernel& kernel, const ThreadLaunch& launch, int device) {
  const int64_t parts = std::max(launch.parts(), 1);
  if (launch.sides().empty())
    return Covering(PointsOf(mesh, kernel, launch, device), launch.points()) * parts;
  int64_t blocks = parts, turns = 1;
  for (int i = 0; i < launch.indices_size(); ++i) {
    turns *= ValuesOf(mesh, kernel, launch.indices(i), device);
    if (launch.sides(i) == 0) continue;  // one loop with the next index
    blocks *= Covering(turns, launch.sides(i));
    turns = 1;
  }
  return blocks;
}

}  // namespace yuba::program
