// Restrictions of choices, and pins as people write them.
#include "search/space/restriction.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <string>

#include "opsemantics/sharding/mesh_text.h"
#include "search/space/grid_space.h"
#include "search/space/pin_text.h"
#include "search/space/symmetry.h"
#include "tests/support/graphs.h"
#include "tests/support/kinds.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

const ChoiceSpace kMatrix = {{8, 6}, {true, true}};

std::vector<Choice> Allowed(const ChoiceSpace& space, const Mesh& mesh,
                            const Restriction& restriction) {
  std::vector<int> axes;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) axes.push_back(static_cast<int>(axis));
  return RestrictedChoices(space, mesh, axes, axes, WholeChoice(space), Nesting::kFree,
                           restriction);
}

TEST_CASE("demanded axes stay in order, others may join where they may") {
  const Mesh mesh = MeshOf(8);
  // a then b on rows, c anywhere: before, between and after on rows, or on columns.
  CHECK(Allowed(kMatrix, mesh, {{{{{0, 1}, true}, {{}, true}}}, Rest::kRefused}).size() == 4);
  CHECK(Allowed(kMatrix, mesh, {{{{{0, 1}, true}, {{}, false}}}, Rest::kRefused}).size() == 3);
  CHECK(Allowed(kMatrix, mesh, {{{{{0, 1}, false}, {{}, true}}}, Rest::kRefused}).size() == 1);
  CHECK(Allowed(kMatrix, mesh, {{{{{0, 1}, false}, {{}, false}}}, Rest::kRefused}).empty());
}

TEST_CASE("what no demand leaves room for goes elsewhere or is left out, as asked") {
  const Mesh mesh = MeshOf(8);
  const Demands columns = OnlyExtents({false, true});  // the 6 columns have room for two axes
  for (const Choice& choice : Allowed(kMatrix, mesh, {{columns}, Rest::kElsewhere})) {
    CHECK(choice.axes[0].size() == 1);
    CHECK(choice.axes[1].size() == 2);
  }
  for (const Choice& choice : Allowed(kMatrix, mesh, {{columns}, Rest::kLeftOut}))
    CHECK(choice.axes[0].empty());
  CHECK(Allowed(kMatrix, mesh, {{OnlyExtents({false, false})}, Rest::kLeftOut}).size() == 1);
}

std::string TextOf(const Choice& choice) {
  std::string text;
  for (const AxisList& axes : choice.axes) {
    for (const uint8_t axis : axes) text += static_cast<char>('a' + axis);
    text += '|';
  }
  return text;
}

TEST_CASE("a choice is conformed to pins, and grids that may meet them are those that do") {
  std::mt19937 random(7);
  int changed = 0, kept = 0, unmet = 0, left_out = 0;
  for (const int devices : {4, 6, 8, 12, 16}) {
    const int axes = static_cast<int>(MeshOf(devices).axes.size());
    for (int run = 0; run < 300; ++run) {
      const Mesh mesh = MeshOfRandomKinds(devices, 2, random);
      ChoiceSpace space = {{}, {}, random() % 4 == 0};
      Restriction restriction = {{{}}, Rest::kRefused};
      std::vector<uint8_t> shuffled(axes);
      std::iota(shuffled.begin(), shuffled.end(), 0);
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      for (int e = 0; e < 3; ++e) {
        space.extents.push_back(1 + static_cast<int64_t>(random() % 13));
        space.cuttable.push_back(random() % 8 != 0);
        AxisList demanded;
        while (!shuffled.empty() && random() % 3 == 0) {
          demanded.push_back(shuffled.back());
          shuffled.pop_back();
        }
        restriction.any_of[0].push_back({demanded, random() % 3 != 0});
      }
      const std::vector<Choice> allowed = Allowed(space, mesh, restriction);
      CHECK(WhyUnmet(space, mesh, restriction.any_of[0]).empty() == !allowed.empty());
      unmet += allowed.empty();
      if (allowed.empty()) continue;
      std::vector<Grid> grids;
      for (const Choice& choice : allowed) grids.push_back(GridOf(choice, mesh));
      for (const Grid& grid : AllGrids(space, mesh)) {
        if (std::count(grids.begin(), grids.end(), grid) > 0)
          CHECK(MayMeet(mesh, grid, restriction));
        left_out += !MayMeet(mesh, grid, restriction);
      }
      std::vector<int> all(axes);
      std::iota(all.begin(), all.end(), 0);
      const std::vector<Choice> any =
          LegalChoices(space, mesh, all, WholeChoice(space), Nesting::kFree);
      const Choice& like = any[random() % any.size()];
      const Choice conformed = ConformedChoice(space, mesh, like, restriction);
      CAPTURE(TextOf(like), TextOf(conformed), Key(restriction));
      CHECK(WhyIllegal(space, mesh, conformed).empty());
      CHECK(Meets({conformed}, {restriction}));
      if (Meets({like}, {restriction})) CHECK(conformed == like);
      ++(conformed == like ? kept : changed);
    }
  }
  CAPTURE(changed, kept, unmet, left_out);
  CHECK(changed > 100);
  CHECK(kept > 100);
  CHECK(unmet > 100);
  CHECK(left_out > 100);
}

TEST_CASE("level by level, and all at once, restrictions leave the same choices") {
  const Mesh mesh = MeshOf(12);  // 3 2 2
  const ChoiceSpace space = {{7, 5, 4}, {true, true, true}};
  for (const Restriction& restriction :
       {Restriction{{{{{1}, true}, {{}, true}, {{}, false}}}, Rest::kRefused},
        Restriction{{{{{}, true}, {{0}, true}, {{2}, false}}}, Rest::kRefused}}) {
    std::vector<Choice> together = RestrictedChoices(
        space, mesh, {0, 1, 2}, {0, 1, 2}, WholeChoice(space), Nesting::kLevel, restriction);
    std::vector<Choice> choices = {WholeChoice(space)};
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<int> placed;
      for (int before = 0; before <= axis; ++before) placed.push_back(before);
      std::vector<Choice> next;
      for (const Choice& choice : choices) {
        const auto more =
            RestrictedChoices(space, mesh, {axis}, placed, choice, Nesting::kLevel, restriction);
        CHECK_FALSE(more.empty());  // no dead ends
        next.insert(next.end(), more.begin(), more.end());
      }
      choices = next;
    }
    auto keys = [](const std::vector<Choice>& list) {
      std::vector<std::string> result;
      for (const Choice& choice : list) result.push_back(Key(choice));
      std::sort(result.begin(), result.end());
      return result;
    };
    CHECK(keys(choices) == keys(together));
    CHECK_FALSE(together.empty());
  }
}

TEST_CASE("axes that may go outside earlier ones are placed one by one as all at once") {
  const Mesh mesh = MeshOf(8);
  const Restriction restriction = {{{{{2, 0, 1}, false}, {{}, true}}}, Rest::kRefused};
  std::vector<Choice> choices = {WholeChoice(kMatrix)};
  for (const int axis : {0, 1, 2}) {
    std::vector<int> placed;
    for (int before = 0; before <= axis; ++before) placed.push_back(before);
    choices = RestrictedChoices(kMatrix, mesh, {axis}, placed, choices[0], Nesting::kAnywhere,
                                restriction);
    REQUIRE(choices.size() == 1);
  }
  CHECK(choices[0] == Choice{{{2, 0, 1}, {}}});
  CHECK_FALSE(NestByLevel(restriction.any_of[0]));
}

TEST_CASE("level by level, what went elsewhere stays, and no level is a dead end") {
  const Mesh mesh = MeshOf(48);  // 3 2 2 2 2
  const std::vector<int> all = {0, 1, 2, 3, 4};
  const ChoiceSpace space = {{7, 5, 4}, {true, true, true}};
  const Restriction first = {{OnlyExtent(3, 0)}, Rest::kElsewhere},
                    one = {{OnlyExtent(3, 1), OnlyExtent(3, 2)}, Rest::kElsewhere};
  for (const Restriction& restriction : {first, one}) {
    const std::vector<Choice> together =
        RestrictedChoices(space, mesh, all, all, WholeChoice(space), Nesting::kLevel, restriction);
    std::vector<Choice> choices = {WholeChoice(space)};
    for (int axis : all) {
      const std::vector<int> placed(all.begin(), all.begin() + axis + 1);
      std::vector<Choice> next;
      for (const Choice& choice : choices) {
        const auto more =
            RestrictedChoices(space, mesh, {axis}, placed, choice, Nesting::kLevel, restriction);
        CHECK_FALSE(more.empty());
        next.insert(next.end(), more.begin(), more.end());
      }
      choices = next;
    }
    CHECK_FALSE(choices.empty());
    for (const Choice& choice : choices)
      CHECK(std::count(together.begin(), together.end(), choice) == 1);
  }
}

// t0 is x [8, 8], t1 and t3 are weights, t2 and t4 results.
TEST_CASE("pins are read") {
  const Graph graph = MatmulChain({8, 16, 8}, 8);
  const absl::StatusOr<Mesh> mesh = MeshOfGroups("data=2,model=4");
  REQUIRE_THAT(mesh, IsOk());
  auto parse = [&](const std::string& text) { return ParsePin(graph, *mesh, text); };
  const auto weight = parse("t1=[-, model]");
  REQUIRE_THAT(weight, IsOk());
  REQUIRE(weight->size() == 1);
  CHECK((*weight)[0].demands == Demands{{{}, false}, {{1, 2}, true}});
  CHECK((*parse("t1 = [ 8/data , * ]"))[0].demands == Demands{{{0}, true}, {{}, true}});
  CHECK(parse("t*=[-, *]")->size() == graph.tensors.size());
  CHECK(parse("t?=[-, *]")->size() == graph.tensors.size());
  CHECK(parse("batch=data")->size() == 3);  // x and both products
  const auto node = parse(graph.nodes[0].name + "/k=model");
  REQUIRE_THAT(node, IsOk());
  CHECK((*node)[0].is_node);
  const auto refused = [&](const char* text, const char* because) {
    INFO(text);
    CHECK_THAT(parse(text), StatusIs(absl::StatusCode::kInvalidArgument, because));
  };
  refused("", "expected NAME=[...] for tensors");
  refused("=", "expected NAME=[...] for tensors");
  refused("t1", "expected NAME=[...] for tensors");
  refused("t1=", "expected NAME=[...] for tensors");
  refused("t1=[", "']' is missing");
  refused("t1=[]", "has 2 dimensions");
  refused("t1=[-]", "has 2 dimensions");
  refused("t1=[-, -, -]", "has 2 dimensions");
  refused("t1=[,]", "nothing is said of a dimension");
  refused("t1=[9/data, -]", "'9' is written for a dimension or factor of 8");
  refused("t1=[x, -]", "no mesh axis is called 'x'");
  refused("t1=[data/8, -]", "'data' is written for a dimension or factor of 8");
  refused("t1=[/data, -]", "'' is written for a dimension or factor of 8");
  refused("t1=[(2 4), -]", "'(2 4)' has 2 factors");
  refused("u=[-, -]", "no tensor is called 'u'");
  refused("heads=data", "no dimension is called 'heads'");
  refused("batch=rows", "no mesh axis is called 'rows'");
  refused("t2/z=data", "node t2 has no index z");
  refused("u/k=data", "no node is called 'u'");
  refused("t1=[data/, -]", "'data' is written for a dimension or factor of 8");
}

// Two products of an input [8, 4] whose dimensions have names: a name goes where its dimension
// goes.
TEST_CASE("a dimension is pinned by the model's name for it, in all that it becomes") {
  Graph graph = MatmulChain({4, 16, 8}, 8);
  graph.tensors[0].dim_names = {"rows", "batch"};
  const absl::StatusOr<Mesh> mesh = MeshOfGroups("data=2,model=4");
  REQUIRE_THAT(mesh, IsOk());
  const auto pinned = [&](const std::string& text) {
    const absl::StatusOr<std::vector<Pin>> pins = ParsePin(graph, *mesh, text);
    INFO(text);
    REQUIRE_THAT(pins, IsOk());
    std::vector<std::pair<int, Demands>> all;
    for (const Pin& pin : *pins) all.push_back({pin.id, pin.demands});
    return all;
  };
  using All = std::vector<std::pair<int, Demands>>;
  const Demands first = {{{0}, true}, {{}, true}}, second = {{{}, true}, {{0}, true}};
  CHECK(pinned("rows=data") == All{{0, first}, {2, first}, {4, first}});
  CHECK(pinned("batch=data") == All{{0, second}});  // the name, not the first dimension
  // Where a result has a name of its own, that name holds and is carried on.
  graph.tensors[2].dim_names = {"samples", "a/b"};
  CHECK(pinned("rows=data") == All{{0, first}});
  CHECK(pinned("samples=data") == All{{2, first}, {4, first}});
  CHECK(pinned("a/b=data") == All{{2, second}});
  const auto unknown = ParsePin(graph, *mesh, "row=data");
  CHECK(unknown.status().message() ==
        "--pin row=data: no dimension is called 'row'; there are a/b, batch, rows, samples; for a "
        "tensor write row=[...], for a node row/INDEX=AXES");
  GraphBuilder build;
  const TensorId x = build.Input({8, 4}), half = build.Slice(build.Relu(x), 0, 4);
  graph = build.Finish({half});
  graph.tensors[x].dim_names = {"rows", ""};
  CHECK(pinned("rows=data") == All{{0, first}, {1, first}});  // half of the rows are not the rows
}

TEST_CASE("pins of one tensor are joined, and contradictions and full axes are named") {
  const Graph graph = MatmulChain({8, 16, 8}, 8);
  const absl::StatusOr<Mesh> mesh = MeshOfGroups("data=2,model=4");
  REQUIRE_THAT(mesh, IsOk());
  auto restrict = [&](const std::vector<std::string>& texts) -> absl::StatusOr<Restrictions> {
    std::vector<Pin> pins;
    for (const std::string& text : texts) {
      const auto more = ParsePin(graph, *mesh, text);
      REQUIRE_THAT(more, IsOk());
      pins.insert(pins.end(), more->begin(), more->end());
    }
    return RestrictionsOf(graph, *mesh, pins);
  };
  const auto both = restrict({"t1=[data, *]", "t1=[*, model]"});
  REQUIRE_THAT(both, IsOk());
  CHECK((*both)[1].any_of == std::vector<Demands>{{{{0}, true}, {{1, 2}, true}}});
  auto says = [&](const std::vector<std::string>& texts, const std::string& words) {
    const auto result = restrict(texts);
    CHECK_THAT(result, Fails(words));
  };
  says({"t1=[data, *]", "t1=[model, *]"}, "contradict each other (t1=[data, *]) (t1=[model, *])");
  says({"t1=[data, *]", "t1=[-, *]"}, "contradict");
  says({"t1=[data, *]", "t1=[*, data]"}, "axis data is used twice");
  says({"t1=[data, *]", "batch=model", "t0=[*, model]"}, "(batch=model) (t0=[*, model]): axis");
  says({"t1=[-, -]"}, "axis data is left out, but fits dimension 0");
}

}  // namespace
}  // namespace yuba::search
