#include "compiler/dump/graph_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/dump/enum_words.h"
#include "opsemantics/sharding/mesh_text.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::compiler {
namespace {

std::string TensorText(TensorId id) { return absl::StrCat("%", id); }

// As in model_text.cc: each structure is taken apart into all of its members.
class GraphWriter {
 public:
  GraphWriter(const Graph& graph, const search::Plan* plan) : graph_(graph), plan_(plan) {
    if (plan != nullptr) mesh_ = plan->mesh;
  }

  std::string Text() const {
    const auto& [entries, tensors, nodes, inputs, outputs, no_batch, copies] = graph_;
    std::string text = "graph";
    if (plan_ != nullptr) absl::StrAppend(&text, " mesh ", MeshText(mesh_));
    absl::StrAppend(&text, copies ? " with copies\n" : "\n");
    for (const auto& [name, times] : entries) {
      absl::StrAppend(&text, "  entry ", Quoted(name), " times ", times, "\n");
    }
    for (size_t t = 0; t < tensors.size(); ++t) {
      absl::StrAppend(&text, "  ", TensorLine(static_cast<TensorId>(t)), "\n");
    }
    for (size_t n = 0; n < nodes.size(); ++n) {
      absl::StrAppend(&text, "  ", NodeLine(static_cast<NodeId>(n)), "\n    ",
                      DefinitionLine(*nodes[n].definition), "\n");
    }
    absl::StrAppend(&text, "  inputs ", ListText(inputs, TensorText), "\n  outputs ",
                    ListText(outputs, TensorText), "\n");
    if (!no_batch.empty()) absl::StrAppend(&text, "  no batch: ", Quoted(no_batch), "\n");
    return text;
  }

 private:
  // `%0 input "x" f32 [12/ba, 48] names ["rows", "columns"] batch 0 read by 1, 2`
  std::string TensorLine(TensorId id) const {
    const auto& [name, kind, type, dims, output, producer, producers, consumers, dim_names,
                 batch_dim, next_name, cache_rows] = graph_.tensors[id];
    search::Choice whole(std::vector<AxisList>(type.dims.size()));
    const Sharding& sharding = plan_ != nullptr ? plan_->tensors[id] : whole;
    std::string line = absl::StrCat("%", id, " ", Name(kind), " ", Quoted(name), " ",
                                    Name(type.type), " ", ToString(sharding, dims, mesh_));
    const bool named = std::any_of(dim_names.begin(), dim_names.end(),
                                   [](const std::string& dim) { return !dim.empty(); });
    if (named) absl::StrAppend(&line, " names ", ListText(dim_names, Quoted));
    if (batch_dim >= 0) absl::StrAppend(&line, " batch ", batch_dim);
    if (!next_name.empty()) absl::StrAppend(&line, " next ", Quoted(next_name));
    if (cache_rows > 0) absl::StrAppend(&line, " counts ", cache_rows, " rows");
    if (output) absl::StrAppend(&line, " output");
    if (producer >= 0) absl::StrAppend(&line, " computed by ", absl::StrJoin(producers, ", "));
    if (!consumers.empty()) absl::StrAppend(&line, " read by ", absl::StrJoin(consumers, ", "));
    return line;
  }

  // `node 0 "y" = linear(%0, %1) -> %2 by s/ab from "/fc/MatMul" use 3 entry 0`
  std::string NodeLine(NodeId id) const {
    const auto& [name, op, from, instance, entry, definition, operands, result] = graph_.nodes[id];
    std::string line = absl::StrCat(
        "node ", id, " ", Quoted(name), " = ", op, "(",
        absl::StrJoin(operands, ", ",
                      [](std::string* out, TensorId t) { out->append(TensorText(t)); }),
        ") -> %", result);
    for (size_t i = 0; plan_ != nullptr && i < definition->indices.size(); ++i) {
      const AxisList& axes = plan_->nodes[id].axes[i];
      if (axes.empty()) continue;
      absl::StrAppend(&line, " by ", definition->indices[i].name, "/", AxesText(mesh_, axes));
    }
    absl::StrAppend(&line, " from ", Quoted(from), " use ", instance, " entry ", entry);
    return line;
  }

  // The definition in the language's spelling, and what that does not say.
  static std::string DefinitionLine(const Definition& definition) {
    const auto& [name, indices, operands, result, left, reducer, where, data_where, body, opaque,
                 nograd, partial, partial_operands] = definition;
    std::string line = ToString(definition);
    std::vector<std::string> literals;
    Walk(definition, [&literals](const Expr& expr) {
      if (expr.kind == Expr::kLiteral) literals.emplace_back(Name(expr.type));
    });
    if (!literals.empty()) absl::StrAppend(&line, "; literals ", absl::StrJoin(literals, " "));
    for (const DataCondition& condition : data_where) {
      if (condition.table == nullptr) continue;
      absl::StrAppend(&line, "; table over [", absl::StrJoin(condition.table->indices, ", "),
                      "] of [", absl::StrJoin(condition.table->extents, ", "), "]");
    }
    if (opaque.flops > 0) absl::StrAppend(&line, "; flops ", opaque.flops);
    if (partial) absl::StrAppend(&line, "; stays in partials");
    if (!partial_operands.empty()) {
      absl::StrAppend(&line, "; reads partials [", absl::StrJoin(partial_operands, ", "), "]");
    }
    return line;
  }

  const Graph& graph_;
  const search::Plan* plan_;
  Mesh mesh_;
};

}  // namespace

std::string GraphText(const Graph& graph, const search::Plan* plan) {
  return GraphWriter(graph, plan).Text();
}

}  // namespace yuba::compiler
