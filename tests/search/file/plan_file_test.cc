// The plan file: a plan that is written is read back, and no bytes that are read can do harm.

#include "search/file/plan_file.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "nlohmann/json.hpp"
#include "search/file/read_back.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/mutate.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

Graph Network() {
  GraphBuilder builder;
  TensorId x = builder.Input({8, 4, 9, 9});
  TensorId y = builder.Relu(builder.Conv(x, builder.Parameter({6, 4, 3, 3}), 2, 1));
  TensorId z = builder.Add(y, builder.Conv(y, builder.Parameter({6, 6, 3, 3}), 1, 1));
  return builder.Finish({builder.SumOver(z, 1)});
}

Plan PlanOf(const Graph& graph, int devices = 6) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  return *plan;
}

PlanNotes Notes() {
  PlanNotes notes;
  notes.graph_file = "net \"work\".onnx";
  notes.graph_hash = "1234";
  notes.library_hash = "5678";
  notes.version = "0.1";
  notes.inputs["x"] = {8, 4, 9, 9};
  notes.options["devices"] = "6";
  notes.memory.resize(6);
  notes.memory[1] = {6, 1, 2, 1, 2, "t3"};
  notes.kernels = {"loops", "onednn"};
  notes.collectives = {"all_gather"};
  return notes;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("a plan file gives back the plan") {
  Graph graph = Network();
  Plan plan = PlanOf(graph);
  REQUIRE(plan.cost.bytes() > 0);
  std::string text = WritePlan(graph, plan, Notes());
  absl::StatusOr<PlanFile> file = ReadPlan(text);
  REQUIRE_THAT(file, IsOk());
  CHECK(file->notes.graph_file == "net \"work\".onnx");
  CHECK(file->notes.inputs == Notes().inputs);
  CHECK(file->notes.options == Notes().options);
  CHECK(file->notes.memory.size() == 6);
  CHECK(file->notes.memory[1].at == "t3");
  CHECK(file->nodes[1].kernel == "onednn");
  CHECK(file->transfers[0].collective == "all_gather");
  absl::StatusOr<Plan> attached = AttachPlan(graph, *file, Notes());
  REQUIRE_THAT(attached, IsOk());
  CHECK(attached->mesh.axes == plan.mesh.axes);
  CHECK(attached->tensors == plan.tensors);
  CHECK(attached->nodes == plan.nodes);
  CHECK(attached->cost.bytes() == plan.cost.bytes());
  CHECK(attached->proof.order == plan.proof.order);
  PlanNotes notes = file->notes;
  CHECK(WritePlan(graph, *attached, notes) == WritePlan(graph, plan, notes));
}

TEST_CASE("a text that is read as another plan is found before it is a file") {
  const Graph graph = Network();
  const Plan plan = PlanOf(graph);
  const std::string text = WritePlan(graph, plan, Notes());
  CHECK_THAT(ReadBack(graph, plan, text), IsOk());
  Plan other = plan;
  for (auto& node : other.nodes) {
    if (!(other.nodes == plan.nodes)) break;
    const auto differs = std::find_if(node.axes.begin(), node.axes.end(),
                                      [&](const auto& axes) { return axes != node.axes[0]; });
    if (differs != node.axes.end()) std::swap(node.axes[0], *differs);
  }
  REQUIRE(!(other.nodes == plan.nodes));
  const auto fault = [&](const Plan& written, const std::string& words) {
    CHECK_THAT(ReadBack(graph, plan, WritePlan(graph, written, Notes())),
               StatusIs(absl::StatusCode::kInternal, words));
  };
  fault(other, "read back with other partitions");
  other = plan;
  other.proof.order.pop_back();
  fault(other, "read back with other proof");
  CHECK_THAT(ReadBack(graph, plan, Replaced(text, "\"name\":\"t3\"", "\"name\":\"t2\"")),
             StatusIs(absl::StatusCode::kInternal, "cannot be read back"));
}

TEST_CASE("a plan file says the kinds of axes that are not 0") {
  const Graph graph = Network();
  SearchOptions options;
  options.mesh = MeshOf(6);
  options.mesh.axes[1].kind = 3;
  const Plan plan = *Search(graph, options);
  const std::string text = WritePlan(graph, plan, Notes());
  CHECK(text.find("{\"axis\":\"a\",\"size\":3},{\"axis\":\"b\",\"size\":2,\"kind\":3}") !=
        std::string::npos);
  const absl::StatusOr<PlanFile> file = ReadPlan(text);
  REQUIRE_THAT(file, IsOk());
  const absl::StatusOr<Plan> attached = AttachPlan(graph, *file, Notes());
  REQUIRE_THAT(attached, IsOk());
  CHECK(attached->mesh.axes == plan.mesh.axes);
  CHECK_FALSE(attached->mesh.axes == MeshOf(6).axes);
  for (const std::string kind : {"-1", "12", "\"net\"", "1.5"}) {
    CHECK_THAT(ReadPlan(Replaced(text, "\"kind\":3", "\"kind\":" + kind)),
               StatusIs(absl::StatusCode::kInvalidArgument,
                        "mesh[1].kind is " + kind + ", expected an integer from 0 to 11"));
  }
}

Plan Pinned(const Graph& graph) {
  SearchOptions options;
  options.mesh = MeshOf(6);
  options.pin_texts = {"t0=[b, *, -, -]", "t1=[*, a, -, -]"};
  Plan plan = *Search(graph, options);
  plan.unpinned = Unpinned{20, 10};
  return plan;
}

TEST_CASE("a plan file keeps pins: texts, demands and what they cost") {
  const Graph graph = Network();
  const Plan plan = Pinned(graph);
  REQUIRE(plan.space.pins.size() == 2);
  const std::string text = WritePlan(graph, plan, Notes());
  const absl::StatusOr<PlanFile> file = ReadPlan(text);
  REQUIRE_THAT(file, IsOk());
  CHECK(file->notes.options.at("pin.1") == "t1=[*, a, -, -]");
  const absl::StatusOr<Plan> attached = AttachPlan(graph, *file, Notes());
  REQUIRE_THAT(attached, IsOk());
  CHECK(attached->space.pins == plan.space.pins);
  CHECK(attached->space.pin_texts == plan.space.pin_texts);
  CHECK(attached->unpinned == plan.unpinned);
  CHECK(WritePlan(graph, *attached, file->notes) == text);
}

TEST_CASE("pins that are wrong in a file are refused with their place") {
  const Graph graph = Network();
  const std::string text = WritePlan(graph, Pinned(graph), Notes());
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& words) {
    CHECK_THAT(ReadPlan(Replaced(text, from, to)),
               StatusIs(absl::StatusCode::kInvalidArgument, words));
  };
  refused("\"element\":0", "\"element\":99", "space.pins[0].element is 99, expected an integer");
  refused("\"element\":1", "\"element\":0", "space.pins[1].element is 0, expected an integer");
  refused("\"axes\":[[\"b\"]", "\"axes\":[[\"q\"]", "space.pins[0].axes[0][0] is \"q\"");
  refused("[[\"b\"],[]", "[[\"b\"],[\"b\"]", "space.pins[0].axes[1] contradicts itself");
  refused("\"others\":[true,", "\"others\":[", "space.pins[0].others is shorter");
  refused("\"others\":[true,", "\"others\":[true,true,", "space.pins[0].others is longer");
  refused("\"others\":[true,", "\"others\":[1,", "space.pins[0].others[0] is 1, expected true");
  refused("\"element\":0", "\"element\":0,\"tensor\":1",
          "space.pins[0].tensor is an unknown field");
  refused("\"pin.0\"", "\"pin.7\"", "is there, but no pin.0");
  refused("\"without_pins\":{\"bytes\":20", "\"without_pins\":{\"bytes\":2",
          "cost.without_pins.lower_bound is 10, expected an integer from 0 to 2");
  absl::StatusOr<PlanFile> file = ReadPlan(text);
  REQUIRE_THAT(file, IsOk());
  file->space.pins[1].demands.pop_back();
  CHECK_THAT(AttachPlan(graph, *file, {}),
             StatusIs(absl::StatusCode::kInvalidArgument,
                      "space.pins[1] speaks of 3 dimensions of tensor t1, which has 4"));
}

TEST_CASE("a plan file keeps a dual proof") {
  Graph graph = Network();
  Plan plan = PlanOf(graph);
  plan.proof.kind = ProofKind::kDual;
  plan.proof.messages = {{1, 2, {3, -4}}, {0, 1, {}}};
  absl::StatusOr<PlanFile> file = ReadPlan(WritePlan(graph, plan, {}));
  REQUIRE_THAT(file, IsOk());
  CHECK(file->proof.kind == ProofKind::kDual);
  CHECK(file->proof.messages == plan.proof.messages);
}

TEST_CASE("messages with the same prices are written as often as there are messages") {
  const Graph graph = Network();
  Plan plan = PlanOf(graph);
  plan.proof = {};
  plan.proof.kind = ProofKind::kDual;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  plan.proof.messages = {{1, 2, {kMost, -kMost}}, {0, 1, {0}}, {3, 1, {kMost, -kMost}}};
  const std::string text = WritePlan(graph, plan, {});
  CHECK(
      absl::StrContains(text,
                        "\n \"proof\": {\"kind\":\"dual\",\"order\":[],\"messages\":["
                        "[1,2,9223372036854775807,-9223372036854775807],[0,1,0],"
                        "[3,1,9223372036854775807,-9223372036854775807]]},\n \"replayed\": false"));
  const absl::StatusOr<PlanFile> file = ReadPlan(text);
  REQUIRE_THAT(file, IsOk());
  CHECK(file->proof.messages == plan.proof.messages);
}

TEST_CASE("a message that is none is an error that says where it is") {
  const Graph graph = Network();
  Plan plan = PlanOf(graph);
  plan.proof.kind = ProofKind::kDual;
  plan.proof.messages = {{0, 1, {5}}, {1, 2, {3, -4}}};
  const std::string text = WritePlan(graph, plan, {}), row = "[1,2,3,-4]";
  const auto refuses = [&](const std::string& other, const std::string& message) {
    std::string wrong = text;
    wrong.replace(text.find(row), row.size(), other);
    CHECK_THAT(ReadPlan(wrong), StatusIs(absl::StatusCode::kInvalidArgument, message));
  };
  refuses("[1,2,3,\"x\"]", "proof.messages[1][3] is \"x\", expected an integer from ");
  refuses("[1,2,3,18446744073709551615]", "proof.messages[1][3] is 18446744073709551615, expected");
  refuses("[1,2,3,-4.5]", "proof.messages[1][3] is -4.5, expected an integer from ");
  refuses("[1,-2,3,-4]", "proof.messages[1][1] is -2, expected an integer from 0 to 2147483647");
  refuses("[2147483648,2]", "proof.messages[1][0] is 2147483648, expected an integer from 0 to ");
  refuses("[1]", "proof.messages[1] is an array, expected [tensor, node, prices ...]");
  refuses("7", "proof.messages[1] is 7, expected an array");
}

TEST_CASE("of a proof that nobody replays any more the bound is not kept") {
  const Graph graph = Network();
  Plan plan = PlanOf(graph);
  plan.lower_bound = plan.asked_bound = 5;
  plan.replayed = true;
  plan.proof.kind = ProofKind::kElimination;
  plan.proof.order = {2, 0, 1};
  std::string text = WritePlan(graph, plan, {});
  const std::string kind = "\"elimination\"";
  text.replace(text.find(kind), kind.size(), "\"grids\"");
  const absl::StatusOr<PlanFile> file = ReadPlan(text);
  REQUIRE_THAT(file, IsOk());
  CHECK(file->proof.kind == ProofKind::kNone);
  CHECK(file->lower_bound == 0);
  CHECK(file->asked_bound == 0);
  CHECK_FALSE(file->replayed);
  CHECK(file->proof_forgotten);
}

TEST_CASE("prices on memory come in the order of their times, each once") {
  Graph graph = Network();
  Plan plan = PlanOf(graph);
  const auto end = 3 * static_cast<int64_t>(graph.nodes.size());
  const auto answer = [&](std::vector<MemoryPrice> prices) {
    plan.proof.kind = ProofKind::kDual;
    plan.proof.prices = std::move(prices);
    return std::string(ReadPlan(WritePlan(graph, plan, {})).status().message());
  };
  CHECK(answer({{0, 5}, {3, 0}, {end - 1, 7}}).empty());
  for (const std::vector<MemoryPrice>& wrong :
       {std::vector<MemoryPrice>{{3, 1}, {3, 1}}, {{4, 1}, {3, 1}}, {{4, 1}, {end, 1}}}) {
    CHECK(answer(wrong).find("proof.prices[1][0]") != std::string::npos);
    CHECK(answer(wrong).find("three for each node") != std::string::npos);
  }
}

TEST_CASE("the rows of a plan file add up to its cost") {
  Graph graph = Network();
  Plan plan = PlanOf(graph);
  absl::StatusOr<PlanFile> file = ReadPlan(WritePlan(graph, plan, Notes()));
  REQUIRE_THAT(file, IsOk());
  int64_t bytes = 0;
  std::map<CostKind, int64_t> of_kind;
  for (const PlanFile::TransferRow& row : file->transfers) {
    bytes += row.bytes;
    CHECK(!row.over.empty());
    CHECK(row.why.find(row.node) == 0);
    of_kind[row.counts_as] += row.bytes;
  }
  CHECK(bytes == plan.cost.bytes());
  CHECK(of_kind[CostKind::kWeight] == plan.cost.weight);
  CHECK(of_kind[CostKind::kActivation] == plan.cost.activation);
  CHECK(of_kind[CostKind::kPartial] == plan.cost.partial);
  CHECK(of_kind[CostKind::kHalo] == plan.cost.halo);
}

TEST_CASE("a plan file keeps the bound of all that was asked for, and where none is known null") {
  const Graph graph = Network();
  Plan plan = PlanOf(graph);
  REQUIRE(plan.asked_bound > 1);
  for (const int64_t bound : {plan.asked_bound, plan.asked_bound / 2, int64_t{0}}) {
    plan.asked_bound = bound;
    const std::string text = WritePlan(graph, plan, Notes());
    const absl::StatusOr<PlanFile> file = ReadPlan(text);
    REQUIRE_THAT(file, IsOk());
    CHECK(file->asked_bound == bound);
    CHECK(AttachPlan(graph, *file, Notes())->asked_bound == bound);
    const bool is_null = text.find("\"asked_lower_bound\":null,\"asked_gap\":null") != text.npos;
    CHECK(is_null == (bound == 0));
  }
}

TEST_CASE("files of before there were its fields are read") {
  const Graph graph = Network();
  std::string text = WritePlan(graph, PlanOf(graph), Notes());
  size_t fields = 0;
  for (const char* field : {"\"asked_lower_bound\":", "\"asked_gap\":", "\"counts_as\":"}) {
    for (size_t at = text.find(field); at != text.npos; at = text.find(field, at)) {
      text.erase(at, text.find(',', at) + 1 - at);
      ++fields;
    }
  }
  REQUIRE(fields > 2);
  const absl::StatusOr<PlanFile> file = ReadPlan(text);
  REQUIRE_THAT(file, IsOk());
  CHECK(file->asked_bound == 0);
  for (const PlanFile::TransferRow& row : file->transfers) {
    CHECK(row.counts_as == (row.kind == "reduce" ? CostKind::kPartial : CostKind::kActivation));
  }
}

TEST_CASE("a plan of something else is refused with the first difference") {
  Graph graph = Network();
  absl::StatusOr<PlanFile> file = ReadPlan(WritePlan(graph, PlanOf(graph), Notes()));
  REQUIRE_THAT(file, IsOk());
  Graph other = graph;
  other.tensors[4].name = "other";
  CHECK(AttachPlan(other, *file, {}).status().message().find("tensor 4 is other") !=
        absl::string_view::npos);
  other = graph;
  other.nodes[2].op = "mul";
  CHECK(AttachPlan(other, *file, {}).status().message().find("node 2 is") !=
        absl::string_view::npos);
  PlanFile wider = *file;
  wider.space.accumulators = true;
  CHECK(AttachPlan(graph, wider, {}).status().message().find("no sum of it has an accumulator") !=
        absl::string_view::npos);
  wider = *file;
  wider.space.partials = true;
  CHECK(AttachPlan(graph, wider, {}).status().message().find("no sum of it stays unreduced") !=
        absl::string_view::npos);
  PlanNotes notes = Notes();
  notes.library_hash = "9";
  CHECK(AttachPlan(graph, *file, notes).status().message().find("another operator library") !=
        absl::string_view::npos);
}

TEST_CASE("an impossible sharding in a file is an error, not a crash") {
  Graph graph = Network();
  std::string text = WritePlan(graph, PlanOf(graph), Notes());
  // The 6 channels of the first weight are cut over both axes, twice.
  absl::StatusOr<PlanFile> file = ReadPlan(text);
  REQUIRE_THAT(file, IsOk());
  file->tensors[1].sharding.axes[0] = {0, 1};
  file->tensors[1].sharding.axes[1] = {0};
  CHECK_THAT(AttachPlan(graph, *file, {}),
             StatusIs(absl::StatusCode::kFailedPrecondition, "axis a is used twice"));
  file = ReadPlan(text);
  file->tensors[1].sharding.axes = {{}, {}, {0, 1}, {}};  // a kernel of 3 into 6 parts
  CHECK_THAT(AttachPlan(graph, *file, {}), Fails("into 6 parts"));
}

TEST_CASE("errors of a plan file name the place") {
  Graph graph = Network();
  std::string text = WritePlan(graph, PlanOf(graph), Notes());
  auto message = [](const std::string& json) {
    return std::string(ReadPlan(json).status().message());
  };
  CHECK(message("").find("line 1") != std::string::npos);
  CHECK(message(text.substr(0, 300)).find("line ") != std::string::npos);
  CHECK(message("[]") == "this is no plan file: the file is an array, expected an object");
  CHECK(message(Replaced(text, "{\"kind\":\"elimination\"", "{\"kind\":\"trust me\"")) ==
        "this is no plan file: proof.kind is \"trust me\", expected one of none, elimination, "
        "dual");
  CHECK(message(Replaced(text, "yuba-plan/2", "yuba-plan/1")).find("make it anew with") !=
        std::string::npos);
  CHECK(message(Replaced(text, "yuba-plan/2", "yuba-plan/9")).find("format is \"yuba-plan/9\"") !=
        std::string::npos);
  CHECK(message(Replaced(text, "\"lower_bound\"", "\"bound\"")) ==
        "this is no plan file: there is no cost.lower_bound");
  CHECK(message(Replaced(text, "\"counts_as\":\"", "\"counts_as\":\"no "))
            .find("expected one of weight, activation, partial, halo") != std::string::npos);
  CHECK(message(Replaced(text, "\"size\":3", "\"size\":4"))
            .find("mesh[0].size is 4, expected a prime") != std::string::npos);
  CHECK(message(Replaced(text, "\"cost\": {", "\"cost\": {\"gap\":1,")) ==
        "this is no plan file: cost.gap is there twice: leave one of them");
  CHECK(message(Replaced(text, "\"cost\": {", "\"version\": 1, \"cost\": {"))
            .find("version is there twice") != std::string::npos);
  const size_t second =
      text.find("\"kind\":", text.find("\"kind\":", text.find("\"tensors\"")) + 1);
  CHECK(message(text.substr(0, second) + "\"kind\":1," + text.substr(second))
            .find("tensors[1].kind is there twice") != std::string::npos);
  CHECK(message(Replaced(text, "\"options\": {", "\"options\": {\"space\":\"x\","))
            .find("options.space is \"x\", expected \"flat\" or \"tofu\"") != std::string::npos);
  CHECK(message(Replaced(text, "\"space\": {", "\"space\": {\"zork\":1,"))
            .find("space.zork is an unknown field; space has nesting, factors") !=
        std::string::npos);
  CHECK(message(Replaced(text, "\"size\":3", "\"size\":\"3\"")).find("mesh[0].size is \"3\"") !=
        std::string::npos);
  CHECK(message(Replaced(text, "\"axes\":[\"", "\"axes\":[\"q")).find(".axes[0] is \"q") !=
        std::string::npos);
}

TEST_CASE("damaged plan files are refused or attach to something legal") {
  Graph graph = Network();
  std::string text = WritePlan(graph, Pinned(graph), Notes());
  Random random(7);
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    bool words = i % 2 == 0;
    std::string damaged =
        words ? MutateWords(text, {"a", "b", "null", "true", "[]", "{}", "axes", "-1", "1e99"},
                            random)
              : MutateBytes(text, random);
    absl::StatusOr<PlanFile> file = ReadPlan(damaged);
    if (!file.ok()) continue;
    ++read;
    absl::StatusOr<Plan> plan = AttachPlan(graph, *file, {});
    if (plan.ok()) CHECK(CostOf(graph, *plan).bytes() >= 0);
  }
  CHECK(read > 10);
  std::string deep(1000000, '[');
  CHECK_THAT(ReadPlan(deep), StatusIs(absl::StatusCode::kInvalidArgument, "nested more than"));
}

}  // namespace
}  // namespace yuba::search
