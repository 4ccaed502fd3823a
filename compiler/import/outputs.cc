#include "compiler/import/outputs.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/file/file_graph.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/onnx_tensor.h"

namespace yuba::onnx {

std::string WhyNotMade(const ::onnx::GraphProto& graph, const std::string& name) {
  for (int n = 0; n < graph.node_size(); ++n) {
    const auto& outputs = graph.node(n).output();
    const auto found = std::find(outputs.begin(), outputs.end(), name);
    if (found == outputs.end()) continue;
    return absl::StrCat(
        "output ", found - outputs.begin(), " of node ", NodeLabel(graph.node(n), n),
        ", which the operator does not have, or which is not supported: its description "
        "leaves it out");
  }
  return "an output that is not supported";
}

namespace {

// Gives an output's dimensions the file's symbols, except symbols that inputs have for another
// size: nothing in a file makes sure that its symbols are consistent.
void NameDims(const ::onnx::ValueInfoProto& output, const std::map<std::string, int64_t>& sizes,
              OnnxValue& value) {
  const auto& shape = output.type().tensor_type().shape();
  if (shape.dim_size() != static_cast<int>(value.dims.size())) return;
  value.dim_names.clear();
  for (int d = 0; d < shape.dim_size(); ++d) {
    const std::string& name = shape.dim(d).dim_param();
    const auto size = sizes.find(name);
    const bool other = size != sizes.end() && size->second != value.dims[d];
    value.dim_names.push_back(other ? "" : name);
  }
}

std::map<std::string, int64_t> SizesOfSymbols(const OnnxGraph& graph) {
  std::map<std::string, int64_t> sizes;
  for (const int input : graph.inputs) {
    const OnnxValue& value = graph.values[input];
    const auto named = graph.by_name.find(value.name);
    if (named == graph.by_name.end() || named->second != input) continue;  // of another entry
    for (size_t d = 0; d < value.dims.size(); ++d) sizes[value.dim_names[d]] = value.dims[d];
  }
  sizes.erase("");
  return sizes;
}

// Whether the value may be what the file says of the output. Extents that depend on what the user
// gave to symbols or for another batch are not compared: exporters write those of their example.
bool IsAsDeclared(const ::onnx::ValueInfoProto& output, const OnnxValue& value, bool as_in_file) {
  if (!output.type().has_tensor_type()) return true;
  const auto& declared = output.type().tensor_type();
  const absl::StatusOr<ElementType> type = ElementTypeFromOnnx(declared.elem_type());
  if (type.ok() && *type != value.type) return false;
  if (!declared.has_shape()) return true;
  if (declared.shape().dim_size() != static_cast<int>(value.dims.size())) return false;
  for (int d = 0; as_in_file && d < declared.shape().dim_size(); ++d) {
    const auto& dim = declared.shape().dim(d);
    if (dim.has_dim_value() && dim.dim_value() > 0 && dim.dim_value() != value.dims[d])
      return false;
  }
  return true;
}

std::string DeclaredText(const ::onnx::ValueInfoProto& output) {
  const auto& declared = output.type().tensor_type();
  const absl::StatusOr<ElementType> type = ElementTypeFromOnnx(declared.elem_type());
  return absl::StrCat(type.ok() ? Name(*type) : "", "[",
                      absl::StrJoin(declared.shape().dim(), ", ",
                                    [](std::string* text, const auto& dim) {
                                      absl::StrAppend(
                                          text, dim.has_dim_value() ? absl::StrCat(dim.dim_value())
                                                : dim.dim_param().empty() ? "?"
                                                                          : dim.dim_param());
                                    }),
                      "]");
}

std::string TypeText(const OnnxValue& value) {
  return absl::StrCat(Name(value.type), "[", absl::StrJoin(value.dims, ", "), "]");
}

}  // namespace

void FinishOutputs(const ::onnx::GraphProto& proto, NodeContext& context, OnnxGraph& graph) {
  std::set<int> taken;
  const std::map<std::string, int64_t> sizes = SizesOfSymbols(graph);
  for (const ::onnx::ValueInfoProto& output : proto.output()) {
    const auto found = graph.by_name.find(output.name());
    if (graph.sequences.count(output.name()) > 0) {
      return context.Fail("the graph's output '", output.name(), "' is a sequence of tensors, and ",
                          "must be a tensor: make each element that is needed an output ",
                          "(SequenceAt), or join them (ConcatFromSequence)");
    }
    if (found == graph.by_name.end()) {
      return context.Fail("the graph's output '", output.name(), "' is ",
                          WhyNotMade(proto, output.name()));
    }
    int value = found->second;
    const bool own =
        graph.values[value].kind == TensorKind::kActivation && taken.insert(value).second;
    if (!own) {
      value = context.Copy(value);
      if (context.failed()) return;
      taken.insert(value);
    }
    if (!IsAsDeclared(output, graph.values[value], sizes.empty() && graph.at_batch.empty())) {
      return context.Fail("the graph's output '", output.name(), "' is declared ",
                          DeclaredText(output), ", and its nodes compute ",
                          TypeText(graph.values[value]),
                          "; the file contradicts itself: export it again");
    }
    graph.outputs.push_back(value);
    graph.values[value].name = output.name();
    graph.values[value].entry = graph.entry;
    NameDims(output, sizes, graph.values[value]);
  }
}

namespace {

// The number of the value of that name that may be a state.
absl::StatusOr<int> StateNamed(const std::string& name, const OnnxGraph& graph) {
  const auto found = graph.by_name.find(name);
  if (found != graph.by_name.end()) {
    const TensorKind kind = graph.values[found->second].kind;
    if (kind == TensorKind::kState || kind == TensorKind::kParameter) return found->second;
    if (kind == TensorKind::kConstant) {
      return UserError("'", name, "' is bound to a value, so it cannot change from step to step; ",
                       "leave out --bind or --state");
    }
  }
  return UserError("no node reads an input or initializer '", name,
                   "'; a state is one of those that the model reads");
}

}  // namespace

absl::Status AddCarried(const ::onnx::GraphProto& proto,
                        const std::map<std::string, std::string>& pairs, OnnxGraph& graph) {
  std::set<std::string> taken;
  for (const auto& [next_name, state_name] : pairs) {
    const std::string flag = absl::StrCat("--state ", next_name, "=", state_name);
    const auto output =
        std::find_if(proto.output().begin(), proto.output().end(),
                     [&name = next_name](const auto& info) { return info.name() == name; });
    if (output == proto.output().end()) {
      return UserError(flag, ": the model has no output '", next_name,
                       "'; `yuba info` lists its outputs");
    }
    absl::StatusOr<int> state = StateNamed(state_name, graph);
    if (!state.ok()) return Annotate(state.status(), flag);
    if (!taken.insert(state_name).second) {
      return UserError(flag, ": '", state_name, "' has another next value already; ",
                       "leave out one of the flags");
    }
    const int next = *(graph.outputs.end() - (proto.output().end() - output));
    const OnnxValue &from = graph.values[next], &to = graph.values[*state];
    if (from.type != to.type || from.dims != to.dims) {
      return UserError(flag, ": the output is ", TypeText(from), ", the state ", TypeText(to),
                       "; a state keeps its type and shape");
    }
    graph.carried.push_back({*state, next, next_name});
  }
  return absl::OkStatus();
}

void CarryStatistics(OnnxGraph& graph) {
  for (const OnnxGraph::CarriedValues& pair : graph.statistics) {
    const auto same = [&](const OnnxGraph::CarriedValues& other) {
      return other.state == pair.state;
    };
    if (std::any_of(graph.carried.begin(), graph.carried.end(), same)) continue;
    if (std::count(graph.outputs.begin(), graph.outputs.end(), pair.next) == 0)
      graph.outputs.push_back(pair.next);
    graph.carried.push_back(pair);
  }
  graph.statistics.clear();
}

}  // namespace yuba::onnx
