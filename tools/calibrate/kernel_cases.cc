#include "tools/calibrate/kernel_cases.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"
#include "opsemantics/elaborate/elaborate.h"
#include "opsemantics/language/library.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/sharding/work.h"

namespace yuba::tools {
namespace {

constexpr char kDescriptions[] = R"(
op product(x[m, k], w[k, n]) -> y[m, n]
  y[i, j] = sum(q: k) x[i, q] * w[q, j]
op convolution(x[b, c, h, w], f[o, c, u, v]; stride = 1, pad = 0) -> y[b, o, p, q]
  let p = (h + 2*pad - u)/stride + 1
  let q = (w + 2*pad - v)/stride + 1
  y[n, a, i: p, j: q] = sum(d: c, s: u, t: v)
    (x[n, d, i*stride + s - pad, j*stride + t - pad] else 0) * f[a, d, s, t]
op shift(x[m, n], b[n]) -> y[m, n]
  y[i, j] = max(x[i, j] + b[j], 0)
op gate(x[m, n], z[m, n]) -> y[m, n]
  y[i, j] = tanh(x[i, j]) * sig(z[i, j])
op normal(x[m, n], a[m], v[m]) -> y[m, n]
  y[i, j] = exp(x[i, j] - a[i]) / v[i]
op blend(x[m, n], z[m, n], w[m, n]) -> y[m, n]
  y[i, j] = x[i, j] * 0.9 + z[i, j] * 0.1 - sqrt(sq(w[i, j]) + 0.001)
op cube(x[m, n]) -> y[m, n]
  y[i, j] = x[i, j] + pow(x[i, j], 3) * 0.04
op bend(x[m, n]) -> y[m, n]
  y[i, j] = x[i, j] * (erf(x[i, j] * 0.7) + 1)
op ratio(x[m, n], z[m, n]) -> y[m, n]
  y[i, j] = x[i, j] / (sqrt(sq(z[i, j]) + 1) + 0.001)
op change(w[o, c, u, v], m[o, c, u, v], s[o, c, u, v]) -> y[o, c, u, v]
  y[a, d, i, j] = w[a, d, i, j] - 0.1 * m[a, d, i, j] / (sqrt(sq(s[a, d, i, j]) + 1) + 0.001)
op decay(w[o, c, u, v], g[o, c, u, v]) -> y[o, c, u, v]
  y[a, d, i, j] = w[a, d, i, j] * 0.9 + g[a, d, i, j] * 0.1
op update(w[m, n], g[m, n], s[m, n], r[], t[]) -> y[m, n]
  y[i, j] = if t[] == 0 then w[i, j] else w[i, j]
    - r[] / cast(1 - pow(0.9, cast(t[], f64)), f32) * g[i, j]
    / (sqrt(sq(s[i, j])) / cast(sqrt(1 - pow(0.99, cast(t[], f64))), f32) + 0.001)
op powers(x[m, n], a[m]) -> y[m]
  y[i] = sum(j: n) exp(x[i, j] - a[i])
op turned(x[m, k], w[n, k]) -> y[m, n]
  y[i, j] = sum(q: k) x[i, q] * w[j, q]
op dots(x[m, k], w[m, k]) -> y[m]
  y[i] = sum(q: k) x[i, q] * w[i, q]
op sums(x[k, m], w[k, m]) -> y[m]
  y[i] = sum(q: k) x[q, i] * w[q, i]
op scores(x[b, m, h, k], w[b, n, h, k]) -> y[b, h, m, n]
  y[e, a, i, j] = sum(q: k) x[e, i, a, q] * w[e, j, a, q]
op rows(x[m, n]) -> y[m]
  y[i] = sum(j: n) x[i, j]
op squares(x[m, n], a[m]) -> y[m]
  y[i] = sum(j: n) sq(x[i, j] - a[i])
op columns(x[m, n]) -> y[n]
  y[j] = sum(i: m) x[i, j]
op scale(x[b, c, h, w], s[c], t[c]) -> y[b, c, h, w]
  y[n, a, i, j] = max(x[n, a, i, j] * s[a] + t[a], 0)
op swap(x[b, s, h, d]) -> y[b, h, s, d]
  y[n, a, i, j] = x[n, i, a, j] * 0.125
op channels(x[b, c, h, w]) -> y[c]
  y[a] = sum(n: b, i: h, j: w) x[n, a, i, j]
op variance(x[b, c, h, w], m[c]) -> y[c]
  y[a] = sum(n: b, i: h, j: w) sq(x[n, a, i, j] - m[a])
op largest(x[m, n]) -> y[m]
  y[i] = max(j: n) x[i, j]
)";

struct Row {
  const char* description;
  KernelClass kernel_class;
  std::vector<std::vector<int64_t>> operands;
  Attributes attributes;
  ElementType type = ElementType::kF32;
};

std::vector<Row> Products() {
  std::vector<Row> rows;
  const auto add = [&](ElementType type, const std::vector<std::vector<int64_t>>& sizes) {
    for (const std::vector<int64_t>& size : sizes) {  // m, k, n
      rows.push_back(
          {"product", KernelClass::kProduct, {{size[0], size[1]}, {size[1], size[2]}}, {}, type});
    }
  };
  add(ElementType::kF32, {{64, 64, 64},
                          {128, 128, 128},
                          {256, 256, 256},
                          {512, 512, 512},
                          {1024, 1024, 1024},
                          {32, 256, 256},
                          {16, 1024, 1024},
                          {512, 768, 768},
                          {512, 768, 3072},
                          {2048, 512, 512},
                          {32, 2048, 1000},
                          {128, 4096, 128},
                          {256, 1024, 2048},
                          {4096, 64, 64},
                          {4096, 1024, 1024},
                          {4096, 4096, 4096}});
  // What parts of products become, and products of few rows.
  add(ElementType::kF32,
      {{64, 768, 96}, {64, 96, 768}, {8, 768, 3072}, {1, 1024, 1024}, {64, 3072, 96}});
  const std::vector<std::vector<int64_t>> turned_sizes = {
      {64, 2048, 1024}, {512, 1024, 256}, {8, 1024, 1024}, {256, 1024, 1024},
      {2048, 512, 512}, {64, 512, 1024},  {512, 256, 512}, {128, 256, 256}};
  for (const std::vector<int64_t>& size : turned_sizes) {  // m, k, n
    rows.push_back({"turned", KernelClass::kProduct, {{size[0], size[1]}, {size[2], size[1]}}, {}});
  }
  // A product for each row or column, or head.
  const std::vector<std::vector<int64_t>> batches = {{2048, 128}, {512, 256}, {4096, 64}};
  for (const std::vector<int64_t>& size : batches) {
    const std::vector<int64_t> turned = {size[1], size[0]};
    rows.push_back({"dots", KernelClass::kProduct, {size, size}, {}});
    rows.push_back({"sums", KernelClass::kProduct, {turned, turned}, {}});
  }
  const std::vector<std::vector<int64_t>> heads = {
      {4, 128, 4, 64}, {1, 128, 12, 64}, {8, 64, 4, 32}, {2, 256, 8, 64}};
  for (const std::vector<int64_t>& head : heads) {
    rows.push_back({"scores", KernelClass::kProduct, {head, head}, {}});
  }
  add(ElementType::kBF16, {{256, 256, 256},
                           {1024, 1024, 1024},
                           {512, 768, 3072},
                           {2048, 2048, 8192},
                           {8192, 8192, 8192}});
  return rows;
}

std::vector<Row> Convolutions() {
  std::vector<Row> rows;
  const auto add = [&](std::vector<int64_t> x, std::vector<int64_t> f, int64_t stride,
                       int64_t pad) {
    rows.push_back({"convolution",
                    KernelClass::kConvolution,
                    {std::move(x), std::move(f)},
                    {{"stride", stride}, {"pad", pad}}});
  };
  add({2, 64, 56, 56}, {64, 64, 3, 3}, 1, 1);
  add({2, 64, 56, 56}, {256, 64, 1, 1}, 1, 0);
  add({2, 256, 56, 56}, {64, 256, 1, 1}, 1, 0);
  add({2, 128, 28, 28}, {128, 128, 3, 3}, 1, 1);
  add({2, 256, 14, 14}, {256, 256, 3, 3}, 1, 1);
  add({2, 512, 7, 7}, {512, 512, 3, 3}, 1, 1);
  add({2, 128, 56, 56}, {128, 128, 3, 3}, 2, 1);
  add({2, 256, 56, 56}, {512, 256, 1, 1}, 2, 0);
  add({1, 3, 224, 224}, {64, 3, 7, 7}, 2, 3);
  add({8, 16, 32, 32}, {16, 16, 3, 3}, 1, 1);
  add({8, 64, 8, 8}, {64, 64, 3, 3}, 1, 1);
  // One image, and an eighth of its channels.
  add({1, 64, 56, 56}, {64, 64, 3, 3}, 1, 1);
  add({1, 64, 56, 56}, {8, 64, 3, 3}, 1, 1);
  add({1, 256, 56, 56}, {64, 256, 1, 1}, 1, 0);
  add({1, 128, 28, 28}, {16, 128, 3, 3}, 1, 1);
  add({1, 256, 14, 14}, {256, 256, 3, 3}, 1, 1);
  add({1, 256, 14, 14}, {32, 256, 3, 3}, 1, 1);
  add({1, 1024, 14, 14}, {32, 1024, 1, 1}, 1, 0);
  add({1, 512, 7, 7}, {512, 512, 3, 3}, 1, 1);
  add({1, 512, 7, 7}, {64, 512, 3, 3}, 1, 1);
  add({32, 64, 56, 56}, {64, 64, 3, 3}, 1, 1);
  add({32, 1024, 14, 14}, {256, 1024, 1, 1}, 1, 0);
  add({32, 512, 7, 7}, {512, 512, 3, 3}, 1, 1);
  return rows;
}

std::vector<Row> MapsAndReductions() {
  std::vector<Row> rows;
  const std::vector<std::vector<int64_t>> sizes = {
      {16, 64}, {128, 128}, {256, 768}, {1024, 512}, {512, 3072}};
  for (const std::vector<int64_t>& size : sizes) {
    const int64_t m = size[0], n = size[1];
    rows.push_back({"shift", KernelClass::kMap, {size, {n}}, {}});
    rows.push_back({"gate", KernelClass::kMap, {size, size}, {}});
    rows.push_back({"normal", KernelClass::kMap, {size, {m}, {m}}, {}});
    rows.push_back({"blend", KernelClass::kMap, {size, size, size}, {}});
    rows.push_back({"cube", KernelClass::kMap, {size}, {}});
    rows.push_back({"bend", KernelClass::kMap, {size}, {}});
    rows.push_back({"ratio", KernelClass::kMap, {size, size}, {}});
    rows.push_back({"update", KernelClass::kMap, {size, size, size, {}, {}}, {}});
    rows.push_back({"powers", KernelClass::kReduction, {size, {m}}, {}});
    rows.push_back({"rows", KernelClass::kReduction, {size}, {}});
    rows.push_back({"squares", KernelClass::kReduction, {size, {m}}, {}});
    rows.push_back({"columns", KernelClass::kReduction, {size}, {}});
    rows.push_back({"largest", KernelClass::kReduction, {size}, {}});
  }
  const std::vector<std::vector<int64_t>> images = {{1, 64, 112, 112}, {1, 64, 56, 56},
                                                    {1, 256, 14, 14},  {1, 2048, 7, 7},
                                                    {8, 128, 28, 28},  {4, 512, 7, 7}};
  for (const std::vector<int64_t>& image : images) {
    const std::vector<int64_t> c = {image[1]};
    rows.push_back({"scale", KernelClass::kMap, {image, c, c}, {}});
    rows.push_back({"channels", KernelClass::kReduction, {image}, {}});
    rows.push_back({"variance", KernelClass::kReduction, {image, c}, {}});
  }
  // Short runs, as along the windows of filters.
  const std::vector<std::vector<int64_t>> filters = {
      {64, 64, 3, 3}, {256, 256, 3, 3}, {512, 512, 3, 3}, {64, 3, 7, 7}, {128, 128, 7, 7}};
  for (const std::vector<int64_t>& filter : filters) {
    rows.push_back({"change", KernelClass::kMap, {filter, filter, filter}, {}});
    rows.push_back({"decay", KernelClass::kMap, {filter, filter}, {}});
  }
  rows.push_back({"swap", KernelClass::kMap, {{1, 64, 12, 64}}, {}});
  rows.push_back({"swap", KernelClass::kMap, {{4, 128, 12, 64}}, {}});
  rows.push_back({"swap", KernelClass::kMap, {{8, 512, 16, 64}}, {}});
  rows.push_back({"shift", KernelClass::kMap, {{8192, 4096}, {4096}}, {}});  // in no cache
  rows.push_back({"rows", KernelClass::kReduction, {{8192, 4096}}, {}});
  return rows;
}

Graph GraphOf(const Instance& instance) {
  Graph graph;
  for (const Slot& slot : instance.slots) {
    Tensor tensor;
    tensor.name = slot.name;
    tensor.kind = slot.role == SlotRole::kOperand ? TensorKind::kInput : TensorKind::kActivation;
    tensor.type.type = slot.type;
    tensor.dims = slot.dims;
    for (const std::vector<int64_t>& factors : slot.dims) {
      tensor.type.dims.insert(tensor.type.dims.end(), factors.begin(), factors.end());
    }
    const auto id = static_cast<TensorId>(graph.tensors.size());
    if (slot.role == SlotRole::kOperand) graph.inputs.push_back(id);
    if (slot.role == SlotRole::kOutput) graph.outputs.push_back(id);
    graph.tensors.push_back(std::move(tensor));
  }
  for (const SlotDefinition& part : instance.definitions) {
    Node node;
    node.name = graph.tensors[part.result].name;
    node.op = instance.op;
    node.definition = std::make_shared<const Definition>(part.definition);
    node.operands = part.operands;
    node.result = part.result;
    graph.nodes.push_back(std::move(node));
  }
  Link(graph);
  return graph;
}

std::string NameOf(const Row& row) {
  std::string name = row.description;
  if (row.type != ElementType::kF32) absl::StrAppend(&name, " ", Name(row.type));
  for (const std::vector<int64_t>& operand : row.operands) {
    absl::StrAppend(&name, " ", absl::StrJoin(operand, "x"));
  }
  return name;
}

double OperationsOf(const Graph& graph) {
  const Definition& definition = *graph.nodes[0].definition;
  return WorkOf(definition, WholeRanges(definition)).operations;
}

OperatorLibrary Descriptions() {
  OperatorLibrary library;
  const absl::Status added = library.Add("the kernels of a calibration", kDescriptions);
  YUBA_CHECK(added.ok()) << added.ToString();
  return library;
}

Graph GraphOf(const Row& row, const OperatorLibrary& library) {
  std::vector<absl::optional<Shape>> operands;
  for (const auto& dims : row.operands) operands.push_back(Shape{row.type, dims});
  const absl::StatusOr<Instance> instance =
      Elaborate(*library.Find(row.description), operands, row.attributes);
  YUBA_CHECK(instance.ok()) << instance.status().ToString();
  Graph graph = GraphOf(*instance);
  YUBA_CHECK(graph.nodes.size() == 1) << row.description << " is not one definition";
  return graph;
}

}  // namespace

Graph ProductBefore() {
  return GraphOf({"product", KernelClass::kProduct, {{64, 256}, {256, 256}}, {}}, Descriptions());
}

Graph Joined(const Graph& before, const Graph& graph) {
  Graph joined = before;
  for (Tensor& tensor : joined.tensors) tensor.name += " before";
  for (Node& node : joined.nodes) node.name += " before";
  const auto first = static_cast<TensorId>(joined.tensors.size());
  joined.tensors.insert(joined.tensors.end(), graph.tensors.begin(), graph.tensors.end());
  for (const TensorId input : graph.inputs) joined.inputs.push_back(first + input);
  for (const TensorId output : graph.outputs) joined.outputs.push_back(first + output);
  for (Node node : graph.nodes) {
    for (TensorId& operand : node.operands) operand += first;
    node.result += first;
    joined.nodes.push_back(std::move(node));
  }
  Link(joined);
  return joined;
}

std::vector<KernelCase> KernelCases(double most_operations) {
  const OperatorLibrary library = Descriptions();
  std::vector<KernelCase> cases;
  for (const std::vector<Row>& rows : {Products(), Convolutions(), MapsAndReductions()}) {
    for (const Row& row : rows) {
      Graph graph = GraphOf(row, library);
      if (OperationsOf(graph) > most_operations) continue;
      cases.push_back({NameOf(row), row.kernel_class, std::move(graph)});
    }
  }
  return cases;
}

}  // namespace yuba::tools
