// The elements that devices have, read and write, found one by one: what marking.h prices.
#ifndef YUBA_TESTS_SUPPORT_MARKED_POINTS_H_
#define YUBA_TESTS_SUPPORT_MARKED_POINTS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba {

using Point = std::vector<int64_t>;
using Points = std::set<Point>;

// The coordinate of a device on an axis.
int Digit(const Mesh& mesh, int device, int axis);

void ForAll(const std::vector<int64_t>& extents, const std::function<void(const Point&)>& visit);

// [device]: the elements of a tensor of these extents that it has.
std::vector<Points> Owned(const Mesh& mesh, const Sharding& sharding,
                          const std::vector<int64_t>& dims);

// The box round all elements of an operand that a device's part of a node reads.
Points ReadsOf(const Definition& definition, const Mesh& mesh, const Sharding& sharding, int device,
               int operand);

// What each device writes: the points of its output indices; where a reduction index is cut, only
// the box round those points that have a term in the device's part of the reduction. And which
// partial that is.
struct Produced {
  std::vector<Points> writes;
  std::vector<std::vector<int64_t>> partial;  // [device] the first reduction point of its part
};
Produced ProducedBy(const Definition& definition, const Mesh& mesh, const Sharding& sharding);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_MARKED_POINTS_H_
