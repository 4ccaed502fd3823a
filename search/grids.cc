#include "search/grids.h"

#include <map>
#include <memory>

namespace yuba {
namespace {

std::vector<int> Parts(const Cut& cut, const Mesh& mesh) {
  std::vector<int> parts;
  for (const AxisList& axes : cut.axes) parts.push_back(PartCount(mesh, axes));
  return parts;
}

}  // namespace

Classes GridsOf(const std::vector<Cut>& cuts, const Mesh& mesh) {
  std::map<std::vector<int>, int> grids;
  for (const Cut& cut : cuts) grids.emplace(Parts(cut, mesh), 0);
  int count = 0;
  for (auto& grid : grids) grid.second = count++;
  Classes classes;
  classes.count = count;
  for (const Cut& cut : cuts) classes.of.push_back(grids[Parts(cut, mesh)]);
  return classes;
}

std::vector<ClassesPtr> GridsOf(const Problem& problem, const Mesh& mesh) {
  std::vector<ClassesPtr> classes;
  std::map<const void*, ClassesPtr> known;
  for (const int element : problem.elements) {
    ClassesPtr& grids = known[problem.cuts[element].get()];
    if (grids == nullptr) {
      grids = std::make_shared<const Classes>(GridsOf(*problem.cuts[element], mesh));
    }
    classes.push_back(grids);
  }
  return classes;
}

}  // namespace yuba
