// The text of a state says all of it: whatever member of it changes, the text changes.
#include "compiler/dump/state.h"

#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "compiler/spmd/spmd.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::compiler {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A product and a map of its result.
Compilation State() {
  ModelBuilder build;
  const TensorId x = build.Input({8, 6});
  const TensorId w = build.Input({6, 10}, TensorKind::kParameter);
  Compilation state;
  state.model = build.Finish({build.Relu(build.MatMul(x, w))});
  return state;
}

// The same, planned for four devices. The text has the plan's file then, which says some of the
// graph too.
Compilation Planned() {
  Compilation state = State();
  Random random(1);
  state.plan = RandomPlan(state.model.graph, MeshOf(4), random);
  return state;
}

using Change = std::function<void(Compilation&)>;

// That each of the changes, made to `state` by itself, gives a text of its own.
void CheckChanges(const Compilation& state,
                  const std::vector<std::pair<const char*, Change>>& changes) {
  std::set<std::string> texts = {StateText(state)};
  for (const auto& [name, change] : changes) {
    INFO(name);
    Compilation changed = state;
    change(changed);
    const std::string text = StateText(changed);
    INFO(text);
    CHECK(texts.insert(text).second);
  }
}

// A change of the definition of the first node.
Change Defined(const std::function<void(Definition&)>& change) {
  return [change](Compilation& state) {
    Node& node = state.model.graph.nodes[0];
    Definition definition = *node.definition;
    change(definition);
    node.definition = std::make_shared<const Definition>(std::move(definition));
  };
}

ExprPtr Literal(ElementType type) {
  Expr literal;
  literal.type = type;
  return std::make_shared<const Expr>(literal);
}

ValueTablePtr Table(std::vector<int> indices, std::vector<int64_t> extents,
                    std::vector<int64_t> values) {
  return std::make_shared<const ValueTable>(
      ValueTable{std::move(indices), std::move(extents), std::move(values)});
}

DataCondition Condition(ValueTablePtr table) {
  return {IndexAffine(0), Function::kEq, false, Literal(ElementType::kI64), std::move(table)};
}

TEST_CASE("each member of a model is in the text") {
  const auto data = [](const char* bytes) { return std::make_shared<const std::string>(bytes); };
  const auto value = [](InitialValue initial) -> Change {
    return [initial](Compilation& s) { s.model.values[1] = initial; };
  };
  InitialValue drawn;
  drawn.kind = InitialValue::kDrawn;
  std::vector<std::pair<const char*, Change>> changes = {
      {"file", [](Compilation& s) { s.model.file = "a \"quoted\"\nname.onnx"; }},
      {"value", value({})},
      {"data", value({InitialValue::kData, data("1234")})},
      {"other data", value({InitialValue::kData, data("1235")})},
      {"long data", value({InitialValue::kData, data("1234567890123456789")})},
      {"other long data", value({InitialValue::kData, data("1234567890123456780")})},
      {"fill", value({InitialValue::kFill, data("1234")})},
      {"file of a value", value({InitialValue::kFile, nullptr, {"w", 1, 2, 3}})},
      {"offset", value({InitialValue::kFile, nullptr, {"w", 2, 2, 3}})},
      {"length", value({InitialValue::kFile, nullptr, {"w", 1, 3, 3}})},
      {"size of a file", value({InitialValue::kFile, nullptr, {"w", 1, 2, 4}})},
      {"drawn", value(drawn)}};
  const std::vector<Draw> draws = {{Draw::kNormal, 0, 0, 0},
                                   {Draw::kNormal, 0.5, 0, 0},
                                   {Draw::kNormal, 0, 2, 0},
                                   {Draw::kNormal, 0, 0, 7}};
  for (const Draw& draw : draws) {
    drawn.draw = draw;
    changes.emplace_back("draw", value(drawn));
  }
  const StoredForm form = {StoredForm::kBlocks, {"p"}, {1, 0}, "w"};
  const auto add = [&](const char* name, Change change) { changes.emplace_back(name, change); };
  const auto stored = [&](const char* name, const std::function<void(StoredForm&)>& change) {
    StoredForm changed = form;
    change(changed);
    add(name, [changed](Compilation& s) { s.model.forms["w"] = changed; });
  };
  stored("form", [](StoredForm&) {});
  stored("kind of form", [](StoredForm& f) { f.kind = StoredForm::kReshaped; });
  stored("parameters of form", [](StoredForm& f) { f.parameters = {"p", "q"}; });
  stored("blocks", [](StoredForm& f) { f.blocks = {0, 1}; });
  stored("stored as", [](StoredForm& f) { f.stored_as = "v"; });
  add("missing", [](Compilation& s) { s.model.missing_parameters["m"] = "n"; });
  add("rule", [](Compilation& s) { s.model.gradient_rules = {{{{1, 2}}, {{3, -1}}, 4, 5}}; });
  add("rule's output", [](Compilation& s) { s.model.gradient_rules = {{{{2, 2}}, {}, 4, 5}}; });
  add("rule's input", [](Compilation& s) { s.model.gradient_rules = {{{{2, 2}}, {}, 3, 5}}; });
  add("rule's first", [](Compilation& s) { s.model.gradient_rules = {{{{2, 2}}, {}, 4, 6}}; });
  add("cluster", [](Compilation& s) { s.model.clusters = {{1, {2, 3}, 0}}; });
  add("shared", [](Compilation& s) { s.model.clusters = {{2, {2, 3}, 0}}; });
  add("entry of a cluster", [](Compilation& s) { s.model.clusters = {{1, {2, 3}, 1}}; });
  add("parameters", [](Compilation& s) { s.model.words.parameters = {"w"}; });
  add("kept", [](Compilation& s) { s.model.words.kept["w"] = "a buffer"; });
  add("states", [](Compilation& s) { s.model.words.states = {"w"}; });
  add("first states", [](Compilation& s) { s.model.words.first_states = {"w"}; });
  add("trainable", [](Compilation& s) { s.model.trainable = {"w"}; });
  add("tie", [](Compilation& s) { s.model.ties = {{"v", "w", false}}; });
  add("transposed tie", [](Compilation& s) { s.model.ties = {{"v", "w", true}}; });
  add("training", [](Compilation& s) { s.model.training["loss"] = "mse"; });
  add("hash", [](Compilation& s) { s.model.graph_hash = "12ab"; });
  add("notes", [](Compilation& s) { s.model.notes = {"w"}; });
  add("file inputs", [](Compilation& s) { s.model.file_inputs = {"w"}; });
  add("file outputs", [](Compilation& s) { s.model.file_outputs = {"w"}; });
  add("file nodes", [](Compilation& s) { s.model.file_nodes = 9; });
  add("opset", [](Compilation& s) { s.model.opset = 9; });
  add("flops", [](Compilation& s) { s.model.flops = 9; });
  add("updated state", [](Compilation& s) { s.updated = {{"w", "v"}}; });
  add("updated by another", [](Compilation& s) { s.updated = {{"w", "u"}}; });
  add("layout", [](Compilation& s) { s.layouts[1] = {{0}, {6}}; });
  add("order", [](Compilation& s) { s.layouts[1] = {{1, 0}, {6}}; });
  add("shape", [](Compilation& s) { s.layouts[1] = {{0}, {2, 3}}; });
  add("tensor in another order", [](Compilation& s) { s.layouts[2] = {{0}, {6}}; });
  CheckChanges(State(), changes);
}

TEST_CASE("each member of a graph is in the text") {
  using G = Graph;
  const auto graph = [](const std::function<void(G&)>& change) -> Change {
    return [change](Compilation& s) { change(s.model.graph); };
  };
  CheckChanges(State(),
               {
                   {"entry", graph([](G& g) { g.entries[0].name = "decode"; })},
                   {"times", graph([](G& g) { g.entries[0].times = 3; })},
                   {"name", graph([](G& g) { g.tensors[0].name = "other"; })},
                   {"kind", graph([](G& g) { g.tensors[0].kind = TensorKind::kState; })},
                   {"type", graph([](G& g) { g.tensors[0].type.type = ElementType::kBF16; })},
                   {"dims", graph([](G& g) { g.tensors[0].dims[0] = {7}; })},
                   {"output", graph([](G& g) { g.tensors[0].output = true; })},
                   {"producer",
                    graph([](G& g) { g.tensors[0].producer = 1, g.tensors[0].producers = {1}; })},
                   {"producers", graph([](G& g) {
                      g.tensors[0].producer = 1, g.tensors[0].producers = {1, 2};
                    })},
                   {"consumers", graph([](G& g) { g.tensors[0].consumers = {0, 1}; })},
                   {"names of dimensions", graph([](G& g) { g.tensors[0].dim_names = {"n", ""}; })},
                   {"batch", graph([](G& g) { g.tensors[0].batch_dim = 1; })},
                   {"next name", graph([](G& g) { g.tensors[0].next_name = "x'"; })},
                   {"rows", graph([](G& g) { g.tensors[0].cache_rows = 9; })},
                   {"name of a node", graph([](G& g) { g.nodes[0].name = "n"; })},
                   {"operator", graph([](G& g) { g.nodes[0].op = "other"; })},
                   {"origin", graph([](G& g) { g.nodes[0].from = "/n"; })},
                   {"use", graph([](G& g) { g.nodes[0].instance = 8; })},
                   {"entry of a node", graph([](G& g) { g.nodes[0].entry = 1; })},
                   {"operands",
                    graph([](G& g) { std::swap(g.nodes[0].operands[0], g.nodes[0].operands[1]); })},
                   {"inputs", graph([](G& g) { g.inputs = {}; })},
                   {"outputs", graph([](G& g) { g.outputs = {2, 3}; })},
                   {"batch that is not known", graph([](G& g) { g.no_batch = "why"; })},
                   {"copies", graph([](G& g) { g.copies = true; })},
               });
}

TEST_CASE("each member of a definition is in the text") {
  using D = Definition;
  CheckChanges(
      State(),
      {
          {"name", Defined([](D& d) { d.name = "q"; })},
          {"index", Defined([](D& d) { d.indices[0].name = "q"; })},
          {"extent", Defined([](D& d) { d.indices[0].extent = 7; })},
          {"left", Defined([](D& d) { d.left[0] = ConstantAffine(0); })},
          {"reducer", Defined([](D& d) { d.reducer = Reducer::kMax; })},
          {"where", Defined([](D& d) { d.where = {{IndexAffine(0), true}}; })},
          {"inequality", Defined([](D& d) { d.where = {{IndexAffine(0), false}}; })},
          {"condition", Defined([](D& d) { d.data_where = {Condition(nullptr)}; })},
          {"table", Defined([](D& d) { d.data_where = {Condition(Table({1}, {2}, {3, 0}))}; })},
          {"values", Defined([](D& d) { d.data_where = {Condition(Table({1}, {2}, {3, 1}))}; })},
          {"index of a table",
           Defined([](D& d) { d.data_where = {Condition(Table({0}, {2}, {3, 0}))}; })},
          {"extent of a table",
           Defined([](D& d) { d.data_where = {Condition(Table({1}, {1, 2}, {3, 0}))}; })},
          {"body", Defined([](D& d) { d.body = Literal(ElementType::kF32); })},
          {"type of a literal", Defined([](D& d) { d.body = Literal(ElementType::kI32); })},
          {"flops", Defined([](D& d) { d.opaque.flops = 9; })},
          {"nograd", Defined([](D& d) { d.nograd = true; })},
          {"partial", Defined([](D& d) { d.partial = true; })},
          {"partial operands", Defined([](D& d) { d.partial_operands = {0}; })},
      });
}

TEST_CASE("each member of a plan is in the text") {
  using P = search::Plan;
  const auto plan = [](const std::function<void(P&)>& change) -> Change {
    return [change](Compilation& s) { change(s.plan); };
  };
  const auto bounded = [&](const std::function<void(P&)>& change) {
    return plan([change](P& p) {
      p.proof.kind = search::ProofKind::kElimination;
      p.proof.order = {2, 0, 1};
      change(p);
    });
  };
  CheckChanges(
      Planned(),
      {
          {"mesh", plan([](P& p) { p.mesh.axes[0].name = "model"; })},
          {"nesting", plan([](P& p) { p.space.nesting = search::Nesting::kLevel; })},
          {"factors", plan([](P& p) { p.space.factors = !p.space.factors; })},
          {"accumulators", plan([](P& p) { p.space.accumulators = true; })},
          {"partials", plan([](P& p) { p.space.partials = true; })},
          {"replicate", plan([](P& p) { p.space.replicate = search::Replicate::kAuto; })},
          {"memory", plan([](P& p) { p.space.memory = 1 << 20; })},
          {"pins", plan([](P& p) { p.space.pins = {{0, {{{0}, true}, {{}, false}}}}; })},
          {"search", plan([](P& p) { p.search = "recursive"; })},
          {"sharding", plan([](P& p) { p.tensors[0].axes = {{0, 1}, {}}; })},
          {"other sharding", plan([](P& p) { p.tensors[0].axes = {{1, 0}, {}}; })},
          {"partition", plan([](P& p) { p.nodes[1].axes = {{0, 1}, {}}; })},
          {"other partition", plan([](P& p) { p.nodes[1].axes = {{1, 0}, {}}; })},
          {"weights", plan([](P& p) { p.cost.weight += 1; })},
          {"activations", plan([](P& p) { p.cost.activation += 1; })},
          {"partial sums", plan([](P& p) { p.cost.partial += 1; })},
          {"halos", plan([](P& p) { p.cost.halo += 1; })},
          {"bound", plan([](P& p) { p.lower_bound = 9; })},
          {"asked bound", plan([](P& p) { p.lower_bound = 9, p.asked_bound = 8; })},
          {"proof", bounded([](P&) {})},
          {"order", bounded([](P& p) { p.proof.order = {0, 1, 2}; })},
          {"kind of proof", bounded([](P& p) { p.proof.kind = search::ProofKind::kDual; })},
          {"messages", bounded([](P& p) { p.proof.messages = {{0, 1, {-5, 7}}}; })},
          {"prices", bounded([](P& p) { p.proof.prices = {{3, 40}}; })},
          {"replayed", plan([](P& p) { p.replayed = !p.replayed; })},
          {"without pins", plan([](P& p) { p.unpinned = search::Unpinned{8, 5}; })},
          {"stopped", plan([](P& p) { p.stopped = search::kInterrupt; })},
      });
}

// Every field of every message has a value, texts and numbers each another one. Of a oneof it is
// the last that has.
void Fill(Message& message, int& next) {
  const auto& of = *message.GetReflection();
  for (int f = 0; f < message.GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor* field = message.GetDescriptor()->field(f);
    for (int i = 0; i < (field->is_repeated() ? 2 : 1); ++i) {
      const bool one = !field->is_repeated();
      ++next;
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_MESSAGE:
          Fill(one ? *of.MutableMessage(&message, field) : *of.AddMessage(&message, field), next);
          break;
        case FieldDescriptor::CPPTYPE_STRING: {
          const std::string text = "text " + std::to_string(next);
          one ? of.SetString(&message, field, text) : of.AddString(&message, field, text);
          break;
        }
        case FieldDescriptor::CPPTYPE_INT32:  // positions of axes among them
          one ? of.SetInt32(&message, field, i) : of.AddInt32(&message, field, i);
          break;
        case FieldDescriptor::CPPTYPE_INT64:
          one ? of.SetInt64(&message, field, next) : of.AddInt64(&message, field, next);
          break;
        case FieldDescriptor::CPPTYPE_UINT32: of.SetUInt32(&message, field, next); break;
        case FieldDescriptor::CPPTYPE_UINT64: of.SetUInt64(&message, field, next); break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          one ? of.SetDouble(&message, field, next) : of.AddDouble(&message, field, next);
          break;
        case FieldDescriptor::CPPTYPE_BOOL: of.SetBool(&message, field, true); break;
        case FieldDescriptor::CPPTYPE_ENUM: of.SetEnumValue(&message, field, 1); break;
        default: FAIL("a field of another type: " << field->full_name());
      }
    }
  }
}

// Changes the field, or the first element of a list that is no list of messages.
void ChangeField(Message& message, const FieldDescriptor* field) {
  const auto& of = *message.GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) return of.ClearField(&message, field);
  if (!field->is_repeated()) {
    if (!of.HasField(message, field)) {  // of a oneof
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        return of.SetString(&message, field, "other");
      }
      return of.SetInt32(&message, field, 1);
    }
    return of.ClearField(&message, field);
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: return of.SetRepeatedString(&message, field, 0, "other");
    case FieldDescriptor::CPPTYPE_INT32: return of.SetRepeatedInt32(&message, field, 0, 1);
    case FieldDescriptor::CPPTYPE_INT64: return of.SetRepeatedInt64(&message, field, 0, -1);
    case FieldDescriptor::CPPTYPE_DOUBLE: return of.SetRepeatedDouble(&message, field, 0, -1);
    default: FAIL("a list of another type: " << field->full_name());
  }
}

// That each field of `message`, a part of state.program, is in the text, and of those inside it.
void CheckFields(Message& message, Compilation& state, int& fields) {
  const auto& of = *message.GetReflection();
  const std::string text = StateText(state);
  const std::unique_ptr<Message> before(message.New());
  before->CopyFrom(message);
  for (int f = 0; f < message.GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor* field = message.GetDescriptor()->field(f);
    INFO(field->full_name());
    const bool of_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const bool there =
        field->is_repeated() ? of.FieldSize(message, field) > 0 : of.HasField(message, field);
    if (of_message && !there) continue;
    ++fields;
    // Without its mesh a program has no axes to write, without buffers it is none.
    if (field->name() != "mesh" && field->name() != "buffers") {
      ChangeField(message, field);
      CHECK(StateText(state) != text);
      message.CopyFrom(*before);
    }
    if (!of_message) continue;
    CheckFields(field->is_repeated() ? *of.MutableRepeatedMessage(&message, field, 0)
                                     : *of.MutableMessage(&message, field),
                state, fields);
  }
}

TEST_CASE("each field of a program is in the text") {
  Compilation state = State();
  int next = 0, fields = 0;
  Fill(state.program, next);
  // A kernel and an exchange: an instruction is one of them.
  program::Instruction& kernel = *state.program.mutable_instructions(0);
  Fill(*kernel.mutable_kernel(), next);
  INFO(StateText(state));
  CheckFields(state.program, state, fields);
  program::Instruction exchange = state.program.instructions(1);
  REQUIRE(exchange.has_exchange());
  state.program.mutable_instructions()->SwapElements(0, 1);
  CheckFields(*state.program.mutable_instructions(0), state, fields);
  CHECK(fields > 150);
}

}  // namespace
}  // namespace yuba::compiler
