// Domains against an enumeration that tries everything.

#include "search/space/domain.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "search/model/grid_classes.h"
#include "search/space/symmetry.h"
#include "tests/support/marking.h"

namespace yuba::search {
namespace {

std::vector<int> AllAxes(const Mesh& mesh) {
  std::vector<int> axes;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) axes.push_back(static_cast<int>(axis));
  return axes;
}

ChoiceSpace SpaceOf(const std::vector<int64_t>& extents) {
  return SpaceOfTensor({ElementType::kF32, extents});
}

std::vector<Choice> Choices(const std::vector<int64_t>& extents, int devices,
                            Nesting nesting = Nesting::kFree) {
  Mesh mesh = MeshOf(devices);
  ChoiceSpace space = SpaceOf(extents);
  return LegalChoices(space, mesh, AllAxes(mesh), WholeChoice(space), nesting);
}

template <typename T>
std::set<std::vector<AxisList>> AsSet(const std::vector<T>& choices) {
  std::set<std::vector<AxisList>> set;
  for (const T& choice : choices) set.insert(choice.axes);
  return set;
}

TEST_CASE("the sizes of domains on three binary axes") {
  CHECK(Choices({64, 64, 64, 64}, 8).size() == 120);
  CHECK(Choices({64, 64, 64, 64}, 8, Nesting::kLevel).size() == 64);
  CHECK(Choices({64, 64, 64, 64, 64}, 8).size() == 210);
  CHECK(Choices({64, 64, 64, 64, 64}, 8, Nesting::kLevel).size() == 125);
  CHECK(GridsOf(Choices({64, 64, 64, 64}, 8), MeshOf(8)).count == 20);
  CHECK(GridsOf(Choices({64, 64, 64, 64, 64}, 8), MeshOf(8)).count == 35);
  CHECK(CountChoices(SpaceOf({64, 64, 64, 64}), 3) == 120);
}

TEST_CASE("choices that cannot use all axes are maximal by inclusion") {
  // 5 elements on (3, 2): either axis, not both.
  CHECK(AsSet(Choices({5}, 6)) == std::set<std::vector<AxisList>>{{{0}}, {{1}}});
  CHECK(AsSet(Choices({1, 1}, 8)) == std::set<std::vector<AxisList>>{{{}, {}}});
  CHECK(AsSet(Choices({}, 8)).size() == 1);
  CHECK(AsSet(Choices({0, 4}, 2)) == std::set<std::vector<AxisList>>{{{}, {0}}});
}

TEST_CASE("domains equal an enumeration, each choice once") {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    std::vector<int64_t> extents(random() % 4);
    for (int64_t& extent : extents) extent = 1 + random() % 9;
    int devices = 1 + static_cast<int>(random() % 12);
    CAPTURE(extents, devices);
    std::vector<Choice> choices = Choices(extents, devices);
    CHECK(AsSet(choices).size() == choices.size());
    CHECK(AsSet(choices) == AsSet(TriedChoices(MeshOf(devices), extents)));
    for (const Choice& choice : choices)
      CHECK(WhyIllegal(SpaceOf(extents), MeshOf(devices), choice) == "");
  }
}

TEST_CASE("later axes stay inside earlier ones") {
  Mesh mesh = MeshOf(8);
  ChoiceSpace space = SpaceOf({64, 64});
  const Choice given{{{0}, {}}};
  std::vector<Choice> choices = LegalChoices(space, mesh, {1, 2}, given, Nesting::kFree);
  CHECK(choices.size() == 6);
  for (const Choice& choice : choices) {
    CHECK(choice.axes[0].front() == 0);
    CHECK(Restrict(choice, {0}) == given);
  }
}

TEST_CASE("renaming equal axes maps a domain onto itself") {
  for (int devices : {4, 6, 8, 12}) {
    Mesh mesh = MeshOf(devices);
    std::vector<Choice> choices = Choices({6, 9, 4}, devices);
    std::vector<AxisPermutation> symmetries = AxisSymmetries(mesh, AllAxes(mesh), 100);
    CHECK(symmetries.size() == (devices == 8 ? 6u : devices == 6 ? 1u : 2u));
    for (std::vector<int> image : Images(choices, symmetries)) {
      std::sort(image.begin(), image.end());
      for (size_t i = 0; i < image.size(); ++i) CHECK(image[i] == static_cast<int>(i));
    }
  }
}

}  // namespace
}  // namespace yuba::search
