// The checker accepts what the search finds, and refuses lies.

#include "search/check/check.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

Graph Network() {
  GraphBuilder builder;
  TensorId x = builder.Input({8, 5, 9, 9});
  TensorId y = builder.Relu(builder.Conv(x, builder.Parameter({6, 5, 3, 3}), 2, 1));
  TensorId z = builder.Add(y, builder.Conv(y, builder.Parameter({6, 6, 3, 3}), 1, 1));
  return builder.Finish({builder.SumOver(builder.Scale(z, builder.Parameter({6}), 1), 1)});
}

Plan PlanOf(const Graph& graph, int devices, const std::string& search = "default") {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  options.search = search;
  absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  return *plan;
}

std::string Answer(const Graph& graph, const Plan& plan) {
  absl::Status status = CheckPlan(graph, plan);
  if (status.ok()) return "";
  CHECK_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  return std::string(status.message());
}

bool Says(const std::string& answer, const std::string& words) {
  INFO(answer);
  return answer.find(words) != std::string::npos;
}

TEST_CASE("what the search finds is accepted") {
  Graph graph = Network();
  for (int devices : {1, 2, 3, 4, 6, 8}) {
    CAPTURE(devices);
    Plan plan = PlanOf(graph, devices);
    CHECK(plan.proof.kind == ProofKind::kElimination);
    CHECK(Answer(graph, plan) == "");
    CHECK(Answer(graph, PlanOf(graph, devices, "recursive")) == "");
  }
  SearchOptions options;
  options.mesh = MeshOf(8);
  options.nesting = Nesting::kLevel;
  absl::StatusOr<Plan> level = Search(graph, options);
  REQUIRE_THAT(level, IsOk());
  CHECK(Answer(graph, *level) == "");
}

TEST_CASE("a wrong cost is refused") {
  Graph graph = Network();
  Plan plan = PlanOf(graph, 4);
  plan.cost.weight += 4;
  CHECK(Says(Answer(graph, plan), "the plan says that it moves"));
  plan.cost.weight -= 8;
  plan.cost.partial += 4;
  CHECK(Says(Answer(graph, plan), "bytes of weights"));
}

TEST_CASE("a wrong bound is refused") {
  Graph graph = Network();
  Plan plan = PlanOf(graph, 4);
  // A plan that is not the best, and a bound that says it is.
  Plan worse = plan;
  for (const AxisList& first : {AxisList{0, 1}, AxisList{1, 0}}) {
    for (Choice& choice : worse.nodes) {
      for (AxisList& list : choice.axes) list.clear();
      choice.axes[0] = first;
    }
    worse.cost = CostOf(graph, worse);
    if (worse.cost.bytes() > plan.cost.bytes()) break;
  }
  REQUIRE(worse.cost.bytes() > plan.cost.bytes());
  CHECK(Answer(graph, worse) == "");
  worse.lower_bound = worse.cost.bytes();
  CHECK(Says(Answer(graph, worse), "its proof shows only"));
  worse.lower_bound = worse.cost.bytes() + 1;
  CHECK(Says(Answer(graph, worse), "less than its lower bound"));
  worse.lower_bound = worse.asked_bound - 1;
  CHECK(Says(Answer(graph, worse), "no plan of all spaces"));
  worse.lower_bound = plan.lower_bound;
  worse.asked_bound = -1;
  CHECK(Says(Answer(graph, worse), "no plan of all spaces"));
  worse.lower_bound = worse.asked_bound = 1;
  worse.proof.kind = ProofKind::kNone;
  CHECK(Says(Answer(graph, worse), "has no proof"));
}

TEST_CASE("a broken proof is refused") {
  Graph graph = Network();
  Plan plan = PlanOf(graph, 4);
  Plan broken = plan;
  broken.proof.order.pop_back();
  CHECK(Says(Answer(graph, broken), "leaves out element"));
  broken.proof.order.push_back(broken.proof.order[0]);
  CHECK(Says(Answer(graph, broken), "comes twice"));
  broken.proof.order.back() = 1000;
  CHECK(Says(Answer(graph, broken), "element 1000"));
}

TEST_CASE("a dual proof is replayed, and refused where it is bent") {
  Graph graph = Network();
  SearchOptions options;
  options.mesh = MeshOf(4);
  options.table_cells = 10;
  absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  REQUIRE(plan->proof.kind == ProofKind::kDual);
  REQUIRE(plan->lower_bound > 0);
  REQUIRE(plan->proof.messages.size() > 1);
  CHECK(Answer(graph, *plan) == "");
  Plan bent = *plan;
  bent.lower_bound += 1;
  if (bent.lower_bound <= bent.cost.bytes())
    CHECK(Says(Answer(graph, bent), "its proof shows only"));
  bent = *plan;
  bent.proof.messages[0].values[0] -= bent.lower_bound;  // is paid back
  CHECK(Says(Answer(graph, bent), "its proof shows only"));
  bent = *plan;
  bent.proof.messages[0].values.pop_back();
  CHECK(Says(Answer(graph, bent), "prices for"));
  bent = *plan;
  bent.proof.messages.push_back(bent.proof.messages[0]);
  CHECK(Says(Answer(graph, bent), "two messages"));
  bent = *plan;
  bent.proof.messages[0].tensor = 99;
  CHECK(Says(Answer(graph, bent), "tensor 99"));
  bent = *plan;
  bent.proof.messages = {{0, 3, std::vector<int64_t>(10, 0)}};
  CHECK(Says(Answer(graph, bent), "does not use its tensor"));
  bent = *plan;
  bent.proof.messages.clear();
  CHECK(Says(Answer(graph, bent), "its proof shows only"));
}

TEST_CASE("meshes that are none of plans are refused") {
  const Graph graph = Network();
  const Plan plan = PlanOf(graph, 6);
  for (const int kind : {-1, kMostKinds}) {
    Plan other = plan;
    other.mesh.axes[1].kind = kind;
    CHECK(Answer(graph, other).find("mesh axis b has kind ") == 0);
  }
  Plan other = plan;
  other.mesh.axes[0].size = 4;
  CHECK(Answer(graph, other) == "mesh axis a has size 4, which is no prime");
}

TEST_CASE("illegal shardings are refused") {
  Graph graph = Network();
  Plan plan = PlanOf(graph, 4);
  auto with_tensor = [&](TensorId tensor, std::vector<AxisList> axes) {
    Plan changed = plan;
    changed.tensors[tensor].axes = std::move(axes);
    return Answer(graph, changed);
  };
  CHECK(Says(with_tensor(0, {{0}, {}, {}, {}}), "is left out, but fits"));
  CHECK(Says(with_tensor(0, {{0, 1}, {1}, {}, {}}), "axis b is used twice"));
  CHECK(Says(with_tensor(0, {{0, 2}, {}, {}, {}}), "no axis number 2"));
  CHECK(Says(with_tensor(1, {{}, {}, {0, 1}, {}}), "dimension 2 of 3 cannot be cut into 4 parts"));
  CHECK(Says(with_tensor(0, {{0, 1}}), "it cuts 1 dimensions of 4"));
  Plan changed = plan;
  changed.nodes[1].axes.assign(changed.nodes[1].axes.size(), {});
  CHECK(Says(Answer(graph, changed), "node t3: axis a is left out, but fits"));
}

TEST_CASE("stored replicas are legal in the space that has them, and only there") {
  Graph graph = Network();
  Plan plan = PlanOf(graph, 4);
  plan.tensors[1].axes.assign(plan.tensors[1].axes.size(),
                              {});  // a parameter, whole on each device
  plan.cost = CostOf(graph, plan);
  plan.lower_bound = plan.asked_bound = 0;
  plan.proof = Proof();
  CHECK(Says(Answer(graph, plan), "is left out, but fits"));
  plan.space.replicate = Replicate::kAuto;
  CHECK(Answer(graph, plan) == "");
  Plan odd = plan;
  odd.space.nesting = Nesting::kAnywhere;
  CHECK(Says(Answer(graph, odd), "which is no space of plans"));
  plan.nodes[0].axes.assign(plan.nodes[0].axes.size(), {});  // work is never repeated
  CHECK(Says(Answer(graph, plan), "is left out, but fits"));
}

}  // namespace
}  // namespace yuba::search
