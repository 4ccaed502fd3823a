// Meshes and axes as text: what a person writes is read, what is written for people is read back,
// and what is no mesh is refused.
#include "opsemantics/sharding/mesh_text.h"

#include <catch2/catch.hpp>

#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

Mesh Of(const std::string& text) {
  absl::StatusOr<Mesh> mesh = MeshOfGroups(text);
  REQUIRE_THAT(mesh, IsOk());
  return *mesh;
}

bool Refuses(const std::string& text, const std::string& words) {
  absl::StatusOr<Mesh> mesh = MeshOfGroups(text);
  INFO(text << ": " << mesh.status().message());
  return !mesh.ok() && std::string(mesh.status().message()).find(words) != std::string::npos;
}

TEST_CASE("groups are refined to prime axes") {
  const Mesh mesh = Of("data=2,model=12");
  REQUIRE(mesh.axes.size() == 4);
  CHECK(mesh.axes[0] == MeshAxis{"data", 2});
  CHECK(mesh.axes[1] == MeshAxis{"model.0", 3});
  CHECK(mesh.axes[3] == MeshAxis{"model.2", 2});
  CHECK(mesh.devices() == 24);
  CHECK(MeshText(mesh) == "data=2 model=12");
  CHECK(MeshText(MeshOf(6)) == "a=3 b=2");
  CHECK(MeshText(MeshOf(1)) == "one device");
}

TEST_CASE("kinds of axes are in the text, where there are several") {
  Mesh mesh = Of("node=4,gpu=4");
  mesh.axes[0].kind = mesh.axes[1].kind = mesh.axes[3].kind = 1;
  CHECK(MeshText(mesh) == "node=4(kind 1) gpu=2 gpu=2(kind 1)");
}

TEST_CASE("axes are written as people read them, and read back") {
  const Mesh named = Of("data=2,model=4"), letters = MeshOf(8);
  CHECK(AxesText(letters, {2, 0}) == "ca");
  CHECK(AxesText(named, {1, 2}) == "model");
  CHECK(AxesText(named, {0, 1, 2}) == "data+model");
  CHECK(AxesText(named, {2, 1, 0}) == "model.1+model.0+data");
  CHECK(AxesText(named, {2}) == "model.1");
  for (const Mesh* mesh : {&named, &letters}) {
    for (const AxisList& axes : {AxisList{}, AxisList{2}, AxisList{1, 2}, AxisList{2, 1, 0},
                                 AxisList{1, 2, 0}, AxisList{0, 2, 1}}) {
      const absl::StatusOr<AxisList> read = ParseAxes(*mesh, AxesText(*mesh, axes));
      REQUIRE_THAT(read, IsOk());
      CHECK(*read == axes);
    }
  }
  CHECK(*ParseAxes(named, "model data") == AxisList{1, 2, 0});
  CHECK(ParseAxes(named, "modell").status().message() ==
        "no mesh axis is called 'modell'; the mesh is data=2 model=4");
  CHECK_THAT(ParseAxes(letters, "ad"),
             StatusIs(absl::StatusCode::kInvalidArgument, "no mesh axis is called 'ad'"));
}

TEST_CASE("what is no mesh is refused with the reason") {
  CHECK(Refuses("data", "expected NAME=SIZE"));
  CHECK(Refuses("", "expected NAME=SIZE"));
  CHECK(Refuses("2=2", "expected NAME=SIZE"));
  CHECK(Refuses("data=x", "expected NAME=SIZE"));
  CHECK(Refuses("data=1,model=2", "leave the axis out"));
  CHECK(Refuses("a=2,a=2", "named twice"));
  CHECK(Refuses("a=4096,b=2", "at most 4096 devices"));
}

}  // namespace
}  // namespace yuba
