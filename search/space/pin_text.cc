#include "search/space/pin_text.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/module_name.h"
#include "opsemantics/base/status.h"
#include "opsemantics/sharding/mesh_text.h"
#include "search/space/dim_names.h"

namespace yuba::search {
namespace {

constexpr size_t kNamed = 6;  // so many tensors are named in an error

// Matches greedily and, on a mismatch, resumes at the last `*`: linear in practice, quadratic at
// worst.
bool Matches(absl::string_view pattern, absl::string_view name) {
  size_t p = 0, n = 0, star = absl::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == absl::string_view::npos;
}

// The pattern may be of the name alone, or of the name in its module.
bool MatchesName(absl::string_view pattern, absl::string_view name) {
  return Matches(pattern, name) || Matches(pattern, NameAlone(name));
}

absl::string_view Trim(absl::string_view text) { return absl::StripAsciiWhitespace(text); }

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

absl::Status CheckSize(absl::string_view written, int64_t extent) {
  int64_t size = 0;
  if (absl::SimpleAtoi(written, &size) && size == extent) return absl::OkStatus();
  return UserError("'", written, "' is written for a dimension or factor of ", extent);
}

// What one word says of one extent: "-", "*", "96", "96/ab" or "ab".
absl::StatusOr<Demand> ParseDemand(const Mesh& mesh, absl::string_view word, int64_t extent) {
  if (word.empty()) return UserError("nothing is said of a dimension; write - or *");
  if (word == "*") return Demand{{}, true};
  if (word == "-") return Demand{{}, false};
  if (IsNumber(word)) {
    YUBA_RETURN_IF_ERROR(CheckSize(word, extent));
    return Demand{{}, false};
  }
  const size_t slash = word.find('/');
  if (slash != absl::string_view::npos) {
    YUBA_RETURN_IF_ERROR(CheckSize(Trim(word.substr(0, slash)), extent));
    word = Trim(word.substr(slash + 1));
  }
  YUBA_ASSIGN_OR_RETURN(AxisList axes, ParseAxes(mesh, word));
  if (axes.empty()) return UserError("no axes are named in '", word, "'");
  return Demand{std::move(axes), true};
}

// What one element of the list says of one dimension, factor by factor.
absl::Status AppendDimension(const Mesh& mesh, absl::string_view element,
                             const std::vector<int64_t>& factors, Demands* demands) {
  if (element.size() >= 2 && element.front() == '(' && element.back() == ')') {
    const std::vector<absl::string_view> words =
        absl::StrSplit(element.substr(1, element.size() - 2), ' ', absl::SkipWhitespace());
    if (words.size() != factors.size()) {
      return UserError("'", element, "' has ", words.size(), " factors; the dimension has ",
                       factors.size(), " (", absl::StrJoin(factors, " "), ")");
    }
    for (size_t f = 0; f < words.size(); ++f) {
      YUBA_ASSIGN_OR_RETURN(Demand demand, ParseDemand(mesh, words[f], factors[f]));
      demands->push_back(std::move(demand));
    }
    return absl::OkStatus();
  }
  int64_t whole = 1;
  for (int64_t factor : factors) whole *= factor;
  YUBA_ASSIGN_OR_RETURN(const Demand demand, ParseDemand(mesh, element, whole));
  // Axes cut the outermost factor that has room for them, as they would cut the dimension.
  size_t place = 0;
  while (place + 1 < factors.size() && factors[place] < PartCount(mesh, demand.axes)) ++place;
  for (size_t f = 0; f < factors.size(); ++f) {
    const bool here = f == place || demand.axes.empty();
    demands->push_back(here ? demand : Demand{{}, true});
  }
  return absl::OkStatus();
}

absl::StatusOr<Demands> ParseList(const Mesh& mesh, absl::string_view list, const Tensor& tensor) {
  const absl::string_view inner = Trim(list.substr(1, list.size() - 2));
  std::vector<absl::string_view> elements;
  if (!inner.empty()) elements = absl::StrSplit(inner, ',');
  if (elements.size() != tensor.dims.size()) {
    return UserError("tensor ", tensor.name, " has ", tensor.dims.size(), " dimensions, [",
                     absl::StrJoin(WholeDims(tensor), ", "), "]; the pin speaks of ",
                     elements.size());
  }
  Demands demands;
  for (size_t d = 0; d < elements.size(); ++d) {
    const absl::Status status = AppendDimension(mesh, Trim(elements[d]), tensor.dims[d], &demands);
    if (!status.ok())
      return Annotate(status, absl::StrCat("tensor ", tensor.name, ", dimension ", d));
  }
  return demands;
}

// The names of the first tensors that can be pinned.
std::string SomeNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const Tensor& tensor : graph.tensors) {
    if (IsTransient(tensor)) continue;
    if (names.size() == kNamed) return absl::StrCat(absl::StrJoin(names, ", "), ", ...");
    names.push_back(tensor.name);
  }
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<std::vector<Pin>> PinTensors(const Graph& graph, const Mesh& mesh,
                                            absl::string_view pattern, absl::string_view list) {
  if (list.back() != ']') return UserError("']' is missing at the end");
  // The demand on a term must not be lost among those on tensors that the pattern names too.
  for (const Node& node : graph.nodes) {
    if (graph.tensors[node.result].kind != TensorKind::kPartial) continue;
    if (!MatchesName(pattern, node.name)) continue;
    return UserError(
        "what node '", node.name, "' makes is no tensor here, but a term of a sum ",
        "that is reduced at once: pin the sum, or plan with --space accumulators=none");
  }
  std::vector<Pin> pins;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (IsTransient(tensor)) continue;
    if (!MatchesName(pattern, tensor.name) && !Matches(pattern, OutputName(tensor))) continue;
    YUBA_ASSIGN_OR_RETURN(Demands demands, ParseList(mesh, list, tensor));
    pins.push_back({false, static_cast<int>(t), std::move(demands), ""});
  }
  if (!pins.empty()) return pins;
  return UserError("no tensor is called '", pattern, "'; there are ", SomeNames(graph));
}

absl::StatusOr<std::vector<Pin>> PinNodes(const Graph& graph, absl::string_view pattern,
                                          absl::string_view index, const AxisList& axes) {
  std::vector<Pin> pins;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (IsCopy(graph, graph.nodes[n]) || !MatchesName(pattern, graph.nodes[n].name)) continue;
    const std::vector<Index>& indices = graph.nodes[n].definition->indices;
    Demands demands(indices.size());
    bool found = false;
    std::vector<std::string> names;
    for (size_t i = 0; i < indices.size(); ++i) {
      names.push_back(indices[i].name);
      if (indices[i].name != index) continue;
      demands[i].axes = axes;
      found = true;
    }
    if (!found) {
      return UserError("node ", graph.nodes[n].name, " has no index ", index, "; it has ",
                       absl::StrJoin(names, ", "));
    }
    pins.push_back({true, static_cast<int>(n), std::move(demands), ""});
  }
  if (pins.empty())
    return UserError("no node is called '", pattern, "'; `yuba show PLAN --all` lists them");
  return pins;
}

// A pin of each tensor that has a dimension of this name, or one that it becomes.
std::vector<Pin> PinNamedDims(const Graph& graph, const Mesh& mesh, TensorDimNames seeds,
                              int dim_name, const AxisList& axes) {
  const NamedDims dim_names = PropagateDimNames(graph, std::move(seeds));
  std::vector<Pin> pins;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const std::vector<int64_t>& extents = graph.tensors[t].type.dims;
    Demands demands(extents.size());
    int place = -1;  // the outermost factor that has room, else the outermost
    for (size_t d = 0; d < demands.size(); ++d) {
      if (dim_names.tensors[t][d] != dim_name) continue;
      if (place < 0 || extents[place] < PartCount(mesh, axes)) place = static_cast<int>(d);
      if (extents[place] >= PartCount(mesh, axes)) break;
    }
    if (place < 0 || IsTransient(graph.tensors[t])) continue;
    demands[place].axes = axes;
    pins.push_back({false, static_cast<int>(t), std::move(demands), ""});
  }
  return pins;
}

absl::StatusOr<std::vector<Pin>> PinBatch(const Graph& graph, const Mesh& mesh,
                                          const AxisList& axes) {
  if (!graph.no_batch.empty()) return UserError(graph.no_batch);
  std::vector<Pin> pins = PinNamedDims(graph, mesh, BatchOfInputs(graph), 0, axes);
  if (!pins.empty()) return pins;
  return UserError("no input has a dimension that is the batch");
}

absl::Status NoDimension(absl::string_view name, std::vector<std::string> names) {
  if (std::find(names.begin(), names.end(), "batch") == names.end()) names.push_back("batch");
  std::sort(names.begin(), names.end());
  const char* const are = names.size() == 1 ? "is " : "are ";
  return UserError("no dimension is called '", name, "'; there ", are, absl::StrJoin(names, ", "),
                   "; for a tensor write ", name, "=[...], for a node ", name, "/INDEX=AXES");
}

absl::StatusOr<std::vector<Pin>> Parse(const Graph& graph, const Mesh& mesh,
                                       absl::string_view text) {
  const size_t equals = text.find('=');
  const absl::string_view name = Trim(text.substr(0, equals));
  const absl::string_view value =
      equals == absl::string_view::npos ? absl::string_view() : Trim(text.substr(equals + 1));
  if (name.empty() || value.empty()) {
    return UserError("expected NAME=[...] for tensors, NODE/INDEX=AXES for nodes, or ",
                     "DIMENSION=AXES, as in batch=AXES");
  }
  if (value.front() == '[') return PinTensors(graph, mesh, name, value);
  YUBA_ASSIGN_OR_RETURN(const AxisList axes, ParseAxes(mesh, value));
  if (axes.empty()) return UserError("'", value, "' names no axis of the mesh");
  DimNames dims = NamesOfDims(graph);
  const auto named = std::find(dims.names.begin(), dims.names.end(), name);
  if (named != dims.names.end() && !(name == "batch" && HasBatch(graph))) {
    const int dim_name = static_cast<int>(named - dims.names.begin());
    return PinNamedDims(graph, mesh, std::move(dims.dim_names), dim_name, axes);
  }
  if (name == "batch") return PinBatch(graph, mesh, axes);
  const size_t slash = name.rfind('/');
  if (slash == absl::string_view::npos) return NoDimension(name, std::move(dims.names));
  return PinNodes(graph, name.substr(0, slash), name.substr(slash + 1), axes);
}

}  // namespace

absl::StatusOr<std::vector<Pin>> ParsePin(const Graph& graph, const Mesh& mesh,
                                          absl::string_view text) {
  absl::StatusOr<std::vector<Pin>> pins = Parse(graph, mesh, text);
  if (!pins.ok()) return Annotate(pins.status(), absl::StrCat("--pin ", text));
  for (Pin& pin : *pins) pin.text = std::string(text);
  return pins;
}

}  // namespace yuba::search
