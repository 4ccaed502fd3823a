#include "opsemantics/base/mesh.h"

#include <algorithm>

#include "opsemantics/base/check.h"

namespace yuba {
namespace {

std::string AxisName(size_t position) {  // a .. z, then aa, ab, ...
  std::string name(1, static_cast<char>('a' + position % 26));
  return position < 26 ? name : AxisName(position / 26 - 1) + name;
}

}  // namespace

int Mesh::devices() const {
  int devices = 1;
  for (const MeshAxis& axis : axes) devices *= axis.size;
  return devices;
}

int Mesh::coordinate(int device, int axis) const {
  for (size_t inner = axes.size() - 1; inner > static_cast<size_t>(axis); --inner) {
    device /= axes[inner].size;
  }
  return device % axes[axis].size;
}

int Mesh::kinds() const {
  int kinds = 1;
  for (const MeshAxis& axis : axes) kinds = std::max(kinds, axis.kind + 1);
  return kinds;
}

Mesh MeshOf(int devices) {
  YUBA_CHECK(devices >= 1) << devices << " devices";
  std::vector<int> primes;
  for (int prime = 2; prime * prime <= devices; ++prime) {
    for (; devices % prime == 0; devices /= prime) primes.push_back(prime);
  }
  if (devices > 1) primes.push_back(devices);
  Mesh mesh;
  for (auto prime = primes.rbegin(); prime != primes.rend(); ++prime) {
    mesh.axes.push_back({AxisName(mesh.axes.size()), *prime});
  }
  return mesh;
}

std::vector<int> GroupSizes(const Mesh& mesh) {
  std::vector<int> groups(mesh.kinds(), 1);
  for (size_t kind = 0; kind < groups.size(); ++kind) {
    for (const MeshAxis& axis : mesh.axes) {
      if (axis.kind <= static_cast<int>(kind)) groups[kind] *= axis.size;
    }
  }
  return groups;
}

bool HasKindsOutermostFirst(const Mesh& mesh) {
  return std::is_sorted(mesh.axes.begin(), mesh.axes.end(),
                        [](const MeshAxis& a, const MeshAxis& b) { return a.kind > b.kind; });
}

bool IsPrime(int64_t number) {
  for (int64_t factor = 2; factor * factor <= number; ++factor) {
    if (number % factor == 0) return false;
  }
  return number >= 2;
}

}  // namespace yuba
