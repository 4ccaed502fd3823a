#include "compiler/import/translate/node.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "compiler/import/file/module_of_node.h"
#include "compiler/import/file/read.h"
#include "compiler/import/parameters/export_record.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/module_name.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {

NodeContext::NodeContext(const ::onnx::NodeProto& proto, int64_t opset, std::string label,
                         const std::string& folder, const OperatorLibrary& library,
                         OnnxGraph& graph, TranslateInside translate_inside)
    : proto_(proto),
      opset_(opset),
      label_(std::move(label)),
      folder_(folder),
      library_(library),
      graph_(graph),
      translate_inside_(std::move(translate_inside)) {}

const ::onnx::AttributeProto* NodeContext::Find(const std::string& name) const {
  for (const ::onnx::AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

bool NodeContext::MadeOf(const std::vector<std::string>& functions) const {
  const absl::optional<CallRecord> call = ReadNodeRecord(proto_).call;
  if (!call.has_value()) return false;
  return std::any_of(functions.begin(), functions.end(), [&](const std::string& function) {
    return absl::StartsWith(call->target, absl::StrCat(function, "."));
  });
}

int64_t NodeContext::Int(const std::string& name, int64_t absent) {
  const ::onnx::AttributeProto* attribute = Find(name);
  if (attribute == nullptr) return absent;
  // Some writers leave out zeros, which then show in the type alone.
  if (!attribute->has_i() && attribute->type() != ::onnx::AttributeProto::INT)
    Fail("attribute '", name, "' must be an integer");
  return attribute->i();
}

double NodeContext::Float(const std::string& name, double absent) {
  const ::onnx::AttributeProto* attribute = Find(name);
  if (attribute == nullptr) return absent;
  if (!attribute->has_f() && attribute->type() != ::onnx::AttributeProto::FLOAT)
    Fail("attribute '", name, "' must be a float");
  return attribute->f();
}

std::string NodeContext::String(const std::string& name, const std::string& absent) {
  const ::onnx::AttributeProto* attribute = Find(name);
  if (attribute == nullptr) return absent;
  if (!attribute->has_s() && attribute->type() != ::onnx::AttributeProto::STRING)
    Fail("attribute '", name, "' must be a string");
  return attribute->s();
}

std::vector<int64_t> NodeContext::Ints(const std::string& name,
                                       const std::vector<int64_t>& absent) {
  const ::onnx::AttributeProto* attribute = Find(name);
  if (attribute == nullptr) return absent;
  // An empty list shows no kind; the attribute's type tells it, where the file gives one.
  if (attribute->ints_size() == 0 && attribute->type() != ::onnx::AttributeProto::INTS)
    Fail("attribute '", name, "' must be a list of integers");
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::vector<double> NodeContext::Floats(const std::string& name) {
  const ::onnx::AttributeProto* attribute = Find(name);
  if (attribute == nullptr) return {};
  if (attribute->floats_size() == 0 && attribute->type() != ::onnx::AttributeProto::FLOATS)
    Fail("attribute '", name, "' must be a list of floats");
  return {attribute->floats().begin(), attribute->floats().end()};
}

int NodeContext::Optional(int i) const {
  if (i >= proto_.input_size() || proto_.input(i).empty()) return -1;
  const auto found = graph_.by_name.find(proto_.input(i));
  return found == graph_.by_name.end() ? -1 : found->second;
}

int NodeContext::Input(int i) {
  const int value = Optional(i);
  if (value < 0 && IsSequence(i))
    Fail("operand ", i, " is a sequence of tensors, and must be a tensor");
  if (value < 0) Fail("operand ", i, " is missing");
  return value;
}

std::vector<int> NodeContext::AllInputs() {
  std::vector<int> values;
  for (int i = 0; i < InputCount(); ++i) values.push_back(Input(i));
  return values;
}

const OnnxValue& NodeContext::ValueOf(int value) const {
  static const OnnxValue* const kNone = new OnnxValue;
  return value < 0 ? *kNone : graph_.values[value];
}

std::vector<int64_t> NodeContext::KnownInts(int value, absl::string_view what) {
  if (failed()) return {};
  const OnnxValue& operand = ValueOf(value);
  if (operand.known == nullptr || IsFloat(operand.type)) {
    Fail("its ", what, " '", operand.name,
         "' must be integers that are known when planning: a constant, or computed from shapes");
    return {};
  }
  std::vector<int64_t> integers;
  for (const Scalar& element : operand.known->elements) integers.push_back(element.integer);
  for (size_t i = 0; GrowsWithCache(value) && i < integers.size(); ++i) {
    MayBeLength(integers[i], integers[i] - operand.one_row_fewer->elements[i].integer);
  }
  return integers;
}

bool NodeContext::MayBeLength(int64_t length, int64_t growth) {
  if (growth == 0 || (growth == 1 && length == graph_.caches[0].length)) return true;
  Fail("a size of it depends on how many rows the caches of --cache hold, otherwise than as their ",
       "length with the new rows");
  return false;
}

int NodeContext::Sizes(int value, int start, const TensorValue& dims) {
  TensorValue fewer = dims;
  bool whole = false;  // a cache itself, of which the rows are known
  for (const CacheSlot& cache : graph_.caches) {
    if (value != cache.past && value != cache.present) continue;
    whole = true;
    const int at = cache.axis - start;
    if (at >= 0 && at < static_cast<int>(fewer.elements.size())) --fewer.elements[at].integer;
  }
  const bool in_cache = ValueOf(value).in_cache;
  const int constant = Constant(dims, std::move(fewer));
  graph_.values[constant].sizes_only = in_cache && !whole;
  return constant;
}

int NodeContext::Axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    Fail("axis ", axis, " is outside a tensor of ", rank, " dimensions");
    return 0;
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> NodeContext::Axes(int since, int input, int rank, bool* given) {
  std::vector<int64_t> axes;
  bool present;
  if (opset_ < since) {
    present = HasAttribute("axes");
    axes = Ints("axes");
  } else {
    present = Optional(input) >= 0;
    if (present) axes = KnownInts(Optional(input), "axes");
  }
  if (given != nullptr) *given = present;
  std::vector<int> result;
  for (const int64_t axis : axes) result.push_back(Axis(axis, rank));
  std::sort(result.begin(), result.end());
  if (std::unique(result.begin(), result.end()) != result.end()) Fail("an axis is named twice");
  return result;
}

int NodeContext::Constant(TensorValue value) {
  OnnxValue constant;
  constant.kind = TensorKind::kConstant;
  constant.type = value.type.type;
  constant.dims = value.type.dims;
  constant.initial.kind = compiler::InitialValue::kData;
  constant.initial.data = std::make_shared<const std::string>(compiler::BytesFromValue(value));
  constant.known = std::make_shared<const TensorValue>(std::move(value));
  graph_.values.push_back(std::move(constant));
  return static_cast<int>(graph_.values.size()) - 1;
}

int NodeContext::Constant(TensorValue value, TensorValue one_row_fewer) {
  bool grows = false;
  for (size_t i = 0; i < value.elements.size(); ++i) {
    // All bits of a Scalar are its double's and its integer's.
    grows |= value.elements[i].integer != one_row_fewer.elements[i].integer;
  }
  const int constant = Constant(std::move(value));
  if (grows) {
    graph_.values[constant].one_row_fewer =
        std::make_shared<const TensorValue>(std::move(one_row_fewer));
  }
  return constant;
}

int NodeContext::Stored(ElementType type, const std::vector<int64_t>& dims,
                        std::shared_ptr<const std::string> data) {
  OnnxValue constant;
  constant.kind = TensorKind::kConstant;
  constant.type = type;
  constant.dims = dims;
  if (ElementCount(TensorType{type, dims}) <= (IsFloat(type) ? kFoldedElements : kKnownElements)) {
    constant.known =
        std::make_shared<const TensorValue>(compiler::ValueFromBytes(type, dims, *data));
  }
  constant.initial = compiler::InitialValue{compiler::InitialValue::kData, std::move(data)};
  graph_.values.push_back(std::move(constant));
  return static_cast<int>(graph_.values.size()) - 1;
}

int NodeContext::Fill(ElementType type, const std::vector<int64_t>& dims,
                      std::shared_ptr<const std::string> element) {
  OnnxValue parameter;
  parameter.kind = TensorKind::kParameter;
  parameter.type = type;
  parameter.dims = dims;
  parameter.initial = compiler::InitialValue{compiler::InitialValue::kFill, std::move(element)};
  // In a file of PyTorch's exporter of today parameters are stored.
  if (ReadNodeRecord(proto_).exported) parameter.role.word = StoredRole::Word::kOther;
  graph_.values.push_back(std::move(parameter));
  return static_cast<int>(graph_.values.size()) - 1;
}

void NodeContext::SetOutput(int i, int value) {
  if (failed() || value < 0 || !HasOutput(i)) return;
  const std::string& name = proto_.output(i);
  if (!graph_.by_name.emplace(name, SameInEarlierEntry(name, value)).second)
    return Fail("its output '", name, "' is the name of another value too");
  if (!graph_.values[value].name.empty()) return;
  graph_.values[value].name = NameInModule(ModuleOfNode(proto_), name);
  graph_.values[value].entry = graph_.entry;
}

bool NodeContext::MakeState(int value) {
  OnnxValue& made = graph_.values[value];
  if (made.kind == TensorKind::kState) return true;
  const bool begins =
      made.kind == TensorKind::kParameter && made.initial.kind != compiler::InitialValue::kMissing;
  if (!made.stored && !(graph_.trains && begins)) return false;
  made.kind = TensorKind::kState;
  made.known = nullptr;
  return true;
}

const ValueAtBatch* NodeContext::AtBatch(int output) const {
  if (!HasOutput(output)) return nullptr;
  const auto found = graph_.at_batch.find(proto_.output(output));
  return found == graph_.at_batch.end() ? nullptr : &found->second;
}

std::vector<int64_t> NodeContext::DimsAtBatch(int output, const std::vector<int64_t>& dims) const {
  const ValueAtBatch* other = AtBatch(output);
  return other == nullptr ? dims : other->dims;
}

void NodeContext::MarkStatistics(int value) {
  if (value >= 0) graph_.values[value].statistics = true;
}

void NodeContext::MarkMean(int value, int total, int weight) {
  if (value < 0) return;
  graph_.values[value].total = total;
  graph_.values[value].weight = weight;
}

void NodeContext::KeepStatistics(int state, int next) {
  OnnxValue& value = graph_.values[next];
  for (OnnxGraph::CarriedValues& pair : graph_.statistics) {
    if (pair.state != state || pair.next == next) continue;
    if (value.name.empty()) std::swap(value.name, graph_.values[pair.next].name);
    value.entry = graph_.entry;
    pair = {state, next, value.name};
    return;
  }
  if (value.name.empty()) value.name = absl::StrCat("next(", graph_.values[state].name, ")");
  value.entry = graph_.entry;
  graph_.statistics.push_back({state, next, value.name});
}

int NodeContext::SameInEarlierEntry(const std::string& name, int value) {
  const OnnxValue& here = graph_.values[value];
  const auto earlier = graph_.earlier.find(name);
  if (!HasInitialValue(here.kind) || earlier == graph_.earlier.end()) return value;
  for (const int v : earlier->second) {
    OnnxValue& other = graph_.values[v];
    const bool same = other.kind == here.kind && other.type == here.type &&
                      other.dims == here.dims && other.initial.kind == here.initial.kind &&
                      other.initial.data != nullptr && here.initial.data != nullptr &&
                      *other.initial.data == *here.initial.data;
    if (!same) continue;
    other.entry = OnnxValue::kCommon;
    return v;
  }
  return value;
}

}  // namespace yuba::onnx
