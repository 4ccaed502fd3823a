#include "search/model/grid_classes.h"

#include <map>
#include <memory>

#include "search/space/grid_space.h"

namespace yuba::search {
Classes GridsOf(const std::vector<Choice>& choices, const Mesh& mesh) {
  std::map<Grid, int> grids;
  for (const Choice& choice : choices) grids.emplace(GridOf(choice, mesh), 0);
  int count = 0;
  for (auto& grid : grids) grid.second = count++;
  Classes classes;
  classes.count = count;
  for (const Choice& choice : choices) classes.of.push_back(grids[GridOf(choice, mesh)]);
  return classes;
}

std::vector<ClassesPtr> GridsOf(const Problem& problem, const Mesh& mesh) {
  std::vector<ClassesPtr> classes;
  std::map<const void*, ClassesPtr> known;
  for (const int element : problem.elements) {
    ClassesPtr& grids = known[problem.choices[element].get()];
    if (grids == nullptr) {
      grids = std::make_shared<const Classes>(GridsOf(*problem.choices[element], mesh));
    }
    classes.push_back(grids);
  }
  return classes;
}

}  // namespace yuba::search
