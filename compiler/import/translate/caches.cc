#include "compiler/import/translate/caches.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

std::string FlagText(const CacheOptions& flag) {
  return absl::StrCat("--cache ", flag.past, "=", flag.present, ":", flag.length);
}

// What the * of the pattern stands for in the name; nothing where they do not match.
absl::optional<std::string> Middle(const std::string& pattern, const std::string& name) {
  const size_t star = pattern.find('*');
  if (star == std::string::npos) {
    return pattern == name ? absl::make_optional<std::string>() : absl::nullopt;
  }
  const std::string before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (name.size() < before.size() + after.size() || !absl::StartsWith(name, before) ||
      !absl::EndsWith(name, after)) {
    return absl::nullopt;
  }
  return name.substr(star, name.size() - before.size() - after.size());
}

const ::onnx::NodeProto* ProducerOf(const ::onnx::GraphProto& proto, const std::string& name) {
  for (const ::onnx::NodeProto& node : proto.node()) {
    if (std::count(node.output().begin(), node.output().end(), name) > 0) return &node;
  }
  return nullptr;
}

// The pair of names as a CachePair; `flag` is for messages.
absl::StatusOr<CachePair> PairOf(const ::onnx::GraphProto& proto,
                                 const ::onnx::ValueInfoProto& past, const std::string& present,
                                 int64_t length, const std::string& flag) {
  const bool is_output =
      std::any_of(proto.output().begin(), proto.output().end(),
                  [&](const ::onnx::ValueInfoProto& o) { return o.name() == present; });
  if (!is_output) return UserError(flag, ": the model has no output '", present, "'");
  const ::onnx::NodeProto* concat = ProducerOf(proto, present);
  if (concat == nullptr || concat->op_type() != "Concat" || concat->input_size() != 2 ||
      concat->input(0) != past.name()) {
    return UserError(flag, ": '", present, "' is no Concat of '", past.name(),
                     "' and new rows behind it; a state of another kind is for --state");
  }
  const auto& shape = past.type().tensor_type().shape();
  int64_t axis = 0;
  for (const ::onnx::AttributeProto& attribute : concat->attribute()) {
    if (attribute.name() == "axis") axis = attribute.i();
  }
  if (axis < 0) axis += shape.dim_size();
  if (axis < 0 || axis >= shape.dim_size() ||
      shape.dim(static_cast<int>(axis)).dim_param().empty()) {
    return UserError(flag, ": the dimension of '", past.name(),
                     "' that grows has no name in the file: export the model with that dimension "
                     "symbolic");
  }
  return CachePair{past.name(), present, shape.dim(static_cast<int>(axis)).dim_param(),
                   static_cast<int>(axis), length};
}

// A state that begins as zeros; that of an earlier entry where there is one.
absl::StatusOr<int> StateOf(const std::string& name, ElementType type,
                            const std::vector<int64_t>& dims, OnnxGraph& graph) {
  for (const int v : graph.earlier[name]) {
    if (graph.values[v].kind != TensorKind::kState) continue;
    if (graph.values[v].dims == dims) return v;
    return UserError("the cache '", name, "' has another shape than in an earlier entry; entries ",
                     "share their caches: give the same sizes of its dimensions to all");
  }
  OnnxValue state;
  state.name = name;
  state.kind = TensorKind::kState;
  state.type = type;
  state.dims = dims;
  state.dim_names.resize(dims.size());
  state.initial = compiler::InitialValue{compiler::InitialValue::kFill,
                                         std::make_shared<const std::string>(ByteSize(type), '\0')};
  graph.values.push_back(std::move(state));
  return static_cast<int>(graph.values.size()) - 1;
}

}  // namespace

absl::StatusOr<std::vector<CachePair>> FindCaches(const ::onnx::GraphProto& proto,
                                                  const std::set<std::string>& unread,
                                                  const std::vector<CacheOptions>& flags) {
  std::vector<CachePair> pairs;
  for (const CacheOptions& flag : flags) {
    const size_t before = pairs.size();
    for (const ::onnx::ValueInfoProto& input : proto.input()) {
      const absl::optional<std::string> middle = Middle(flag.past, input.name());
      if (!middle.has_value() || unread.count(input.name()) > 0) continue;
      std::string present = flag.present;
      const size_t star = present.find('*');
      if (star != std::string::npos) present.replace(star, 1, *middle);
      YUBA_ASSIGN_OR_RETURN(const CachePair pair,
                            PairOf(proto, input, present, flag.length, FlagText(flag)));
      if (!pairs.empty() && (pairs[0].symbol != pair.symbol || pairs[0].length != pair.length)) {
        return UserError(FlagText(flag), ": caches of one model grow together: '", pair.past,
                         "' grows along ", pair.symbol, " to ", pair.length, ", '", pairs[0].past,
                         "' along ", pairs[0].symbol, " to ", pairs[0].length);
      }
      for (const CachePair& other : pairs) {
        if (other.past == pair.past)
          return UserError(FlagText(flag), ": the input '", pair.past, "' has a cache already");
      }
      pairs.push_back(pair);
    }
    if (pairs.size() == before) {
      return UserError(FlagText(flag), ": the model has no input '", flag.past, "'");
    }
  }
  return pairs;
}

absl::Status AddCaches(const std::vector<CachePair>& pairs, int64_t new_rows, OnnxGraph& graph) {
  graph.caches.clear();
  graph.new_rows = new_rows;
  if (pairs.empty()) return absl::OkStatus();
  if (graph.by_name.count(pairs[0].symbol) > 0) {
    return UserError("--cache: the model calls an input '", pairs[0].symbol,
                     "', which is the dimension of its caches that grows: rename the input");
  }
  YUBA_ASSIGN_OR_RETURN(graph.rows_used, StateOf(pairs[0].symbol, ElementType::kI64, {}, graph));
  for (const CachePair& pair : pairs) {
    CacheSlot slot;
    slot.past = graph.by_name.at(pair.past);
    slot.axis = pair.axis;
    slot.length = pair.length;
    slot.present_name = pair.present;
    OnnxValue& past = graph.values[slot.past];
    past.kind = TensorKind::kActivation;  // nothing holds it: only Shape and the Concat read it
    past.in_cache = true;
    graph.inputs.erase(std::remove(graph.inputs.begin(), graph.inputs.end(), slot.past),
                       graph.inputs.end());
    std::vector<int64_t> dims = past.dims;
    const ElementType type = past.type;
    dims[slot.axis] = slot.length;
    past.name.clear();  // the state has it
    YUBA_ASSIGN_OR_RETURN(slot.state, StateOf(pair.past, type, dims, graph));
    graph.caches.push_back(std::move(slot));
  }
  return absl::OkStatus();
}

CacheSlot* CacheOf(NodeContext& node, OnnxGraph& graph) {
  for (CacheSlot& slot : graph.caches) {
    const auto& outputs = node.proto().output();
    if (outputs.size() == 1 && outputs[0] == slot.present_name) return &slot;
  }
  return nullptr;
}

void TranslateCacheWrite(NodeContext& node, CacheSlot& slot, OnnxGraph& graph) {
  const int rows = node.Input(1);
  if (node.failed()) return;
  const std::vector<int64_t> dims = node.Dims(rows);
  if (static_cast<int>(dims.size()) <= slot.axis || dims[slot.axis] != graph.new_rows) {
    if (static_cast<int>(dims.size()) > slot.axis) graph.new_rows = dims[slot.axis];
    return node.Fail("it adds ", graph.new_rows, " rows to a cache");
  }
  if (node.Rank(rows) < 2) return node.Fail("it has no dimension but the rows");
  // Rows beyond the end are an error of the run, which knows the names of the caches.
  const int64_t places = node.Dims(slot.state)[slot.axis] + 1;
  const int written =
      node.Entry("write_rows",
                 {node.AxisLast(slot.state, slot.axis), node.AxisLast(rows, slot.axis),
                  node.Reshape(graph.rows_used, {1})},
                 {{"choices", places}});
  if (node.failed()) return;
  slot.present = node.AxisBack(written, slot.axis);
  if (node.failed()) return;
  graph.values[slot.present].in_cache = true;
  node.SetOutput(0, slot.present);
}

absl::Status FinishCaches(NodeContext& context, OnnxGraph& graph) {
  if (graph.caches.empty()) return absl::OkStatus();
  for (const CacheSlot& slot : graph.caches) {
    const auto present = graph.by_name.find(slot.present_name);
    if (slot.present < 0 || present == graph.by_name.end()) {
      return UserError("--cache: nothing computes '", slot.present_name, "'");
    }
    // FinishOutputs has made it a value of its own where something else has the same.
    graph.carried.push_back({slot.state, present->second, slot.present_name});
    graph.rows.push_back({present->second, slot.axis, graph.new_rows, graph.entry});
  }
  const int added = context.Constant(compiler::IntegerValue({}, {graph.new_rows}));
  const int next = context.Entry("add", {graph.rows_used, added});
  if (context.failed()) return context.status();
  const std::string name = absl::StrCat("next(", graph.values[graph.rows_used].name, ")");
  graph.values[next].name = name;
  graph.values[next].entry = graph.entry;
  graph.outputs.push_back(next);
  graph.carried.push_back({graph.rows_used, next, name});
  return absl::OkStatus();
}

}  // namespace yuba::onnx
