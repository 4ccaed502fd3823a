// A graph and its plan as a yuba.graph: WriteGraph of module.h.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/dump/definition_attr.h"
#include "compiler/dump/module.h"
#include "compiler/dump/plan_info.h"
#include "compiler/dump/sharding_attr.h"

namespace yuba::compiler {
namespace {

class GraphWriter {
 public:
  GraphWriter(mlir::OpBuilder& builder, const Model& model, const search::Plan* plan)
      : builder_(builder), model_(model), graph_(model.graph), plan_(plan) {
    if (plan != nullptr) mesh_ = plan->mesh;
  }

  void Write() {
    auto op = builder_.create<GraphOp>(
        builder_.getUnknownLoc(),
        plan_ != nullptr ? AttrOf(builder_.getContext(), mesh_) : MeshAttr(), Info());
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&op.getBody().emplaceBlock());
    values_.resize(graph_.tensors.size());
    computed_.resize(graph_.tensors.size());
    for (TensorId id = 0; id < static_cast<TensorId>(graph_.tensors.size()); ++id) {
      const Tensor& tensor = graph_.tensors[id];
      if (!IsStored(tensor.kind)) continue;
      values_[id] = builder_.create<TensorOp>(At(tensor.name), Type(id), Text(tensor.name),
                                              KindAttr::get(builder_.getContext(), tensor.kind),
                                              Placed(id), Number(id));
    }
    const std::vector<mlir::Value> stored = values_;
    for (int entry = 0; entry < static_cast<int>(graph_.entries.size()); ++entry) {
      const Entry& of = graph_.entries[entry];
      if (!(graph_.entries == Graph().entries)) {
        builder_.create<EntryOp>(builder_.getUnknownLoc(), Text(of.name), Number(of.times));
      }
      values_ = stored;  // of a carried tensor the value with which the entry begins
      const Interval nodes = NodesOf(graph_, entry);
      for (int64_t n = nodes.begin; n < nodes.end; ++n) WriteNode(static_cast<NodeId>(n));
      for (size_t id = 0; id < values_.size(); ++id) {
        if (values_[id] && !(values_[id] == stored[id])) computed_[id] = values_[id];
      }
    }
    for (size_t id = 0; id < values_.size(); ++id) {
      if (computed_[id]) values_[id] = computed_[id];
    }
    llvm::SmallVector<mlir::Value> outputs;
    for (TensorId id : graph_.outputs) outputs.push_back(values_[id]);
    builder_.create<OutputOp>(builder_.getUnknownLoc(), outputs);
  }

 private:
  mlir::StringAttr Text(const std::string& text) { return builder_.getStringAttr(text); }
  mlir::IntegerAttr Number(int64_t number) { return builder_.getI64IntegerAttr(number); }
  mlir::Location At(const std::string& name) {
    return mlir::NameLoc::get(builder_.getStringAttr(name));
  }
  mlir::Type Type(TensorId id) { return TypeOf(builder_.getContext(), graph_.tensors[id].type); }

  ShardingAttr Placed(TensorId id) {
    search::Choice whole;
    whole.axes.resize(graph_.tensors[id].type.dims.size());
    return AttrOf(builder_.getContext(), mesh_, plan_ != nullptr ? plan_->tensors[id] : whole,
                  graph_.tensors[id].dims);
  }

  void WriteNode(NodeId id) {
    const Node& node = graph_.nodes[id];
    const Definition& definition = *node.definition;
    llvm::SmallVector<mlir::Value> operands;
    for (TensorId operand : node.operands) operands.push_back(values_[operand]);
    PartitionAttr partition;
    if (plan_ != nullptr)
      partition = AttrOf(builder_.getContext(), mesh_, definition.indices, plan_->nodes[id]);
    values_[node.result] = builder_.create<DefinitionOp>(
        At(node.from), Type(node.result), Text(node.op), operands, Text(node.name), Text(node.from),
        Number(node.instance), Number(node.result), Placed(node.result), partition,
        Text(ToString(definition)), AttrOf(builder_.getContext(), definition),
        IsCopy(graph_, node) ? builder_.getUnitAttr() : mlir::UnitAttr());
  }

  mlir::ArrayAttr Texts(const std::vector<std::string>& texts) {
    llvm::SmallVector<mlir::Attribute> attrs;
    for (const std::string& text : texts) attrs.push_back(Text(text));
    return builder_.getArrayAttr(attrs);
  }

  // Tensor number -> the names of its dimensions, for tensors that have any.
  mlir::DictionaryAttr DimNames() {
    llvm::SmallVector<mlir::NamedAttribute> fields;
    for (size_t id = 0; id < graph_.tensors.size(); ++id) {
      const std::vector<std::string>& names = graph_.tensors[id].dim_names;
      const bool nameless = std::all_of(names.begin(), names.end(),
                                        [](const std::string& name) { return name.empty(); });
      if (!nameless) fields.push_back(builder_.getNamedAttr(absl::StrCat(id), Texts(names)));
    }
    return builder_.getDictionaryAttr(fields);
  }

  // Tensor number -> the name of its next value, for carried tensors.
  mlir::DictionaryAttr NextNames() {
    llvm::SmallVector<mlir::NamedAttribute> fields;
    for (size_t id = 0; id < graph_.tensors.size(); ++id) {
      const Tensor& tensor = graph_.tensors[id];
      if (!IsCarried(tensor)) continue;
      fields.push_back(builder_.getNamedAttr(absl::StrCat(id), Text(tensor.next_name)));
    }
    return builder_.getDictionaryAttr(fields);
  }

  // Tensor number -> how many rows the caches have whose rows the tensor counts.
  mlir::DictionaryAttr CacheRows() {
    llvm::SmallVector<mlir::NamedAttribute> fields;
    for (size_t id = 0; id < graph_.tensors.size(); ++id) {
      const int64_t rows = graph_.tensors[id].cache_rows;
      if (rows > 0) fields.push_back(builder_.getNamedAttr(absl::StrCat(id), Number(rows)));
    }
    return builder_.getDictionaryAttr(fields);
  }

  // Tensor number -> which dimension of an input, or of a copy of one, counts examples.
  mlir::DictionaryAttr BatchDims() {
    llvm::SmallVector<mlir::NamedAttribute> fields;
    for (size_t id = 0; id < graph_.tensors.size(); ++id) {
      const int dim = graph_.tensors[id].batch_dim;
      if (dim >= 0) fields.push_back(builder_.getNamedAttr(absl::StrCat(id), Number(dim)));
    }
    return builder_.getDictionaryAttr(fields);
  }

  // Of each cluster how many indices it shares, its entry, then the tensors that it computes.
  mlir::ArrayAttr Clusters() {
    llvm::SmallVector<mlir::Attribute> clusters;
    for (const Cluster& cluster : model_.clusters) {
      std::vector<int32_t> numbers = {cluster.shared, cluster.entry};
      numbers.insert(numbers.end(), cluster.results.begin(), cluster.results.end());
      clusters.push_back(builder_.getDenseI32ArrayAttr(numbers));
    }
    return builder_.getArrayAttr(clusters);
  }

  mlir::DictionaryAttr Info() {
    llvm::SmallVector<mlir::NamedAttribute> fields;
    const auto add = [&](const char* name, mlir::Attribute value) {
      fields.push_back(builder_.getNamedAttr(name, value));
    };
    add("file", Text(model_.file));
    add("file_inputs", Texts(model_.file_inputs));
    if (!model_.file_outputs.empty()) add("file_outputs", Texts(model_.file_outputs));
    add("file_nodes", Number(model_.file_nodes));
    add("opset", Number(model_.opset));
    add("flops", Number(model_.flops));
    add("hash", Text(model_.graph_hash));
    add("notes", Texts(model_.notes));
    add("inputs", builder_.getDenseI32ArrayAttr(graph_.inputs));
    if (const mlir::DictionaryAttr named = DimNames(); !named.empty()) add("dim_names", named);
    if (const mlir::DictionaryAttr batch = BatchDims(); !batch.empty()) add("batch_dims", batch);
    if (!graph_.no_batch.empty()) add("no_batch", Text(graph_.no_batch));
    if (const mlir::DictionaryAttr next = NextNames(); !next.empty()) add("next_names", next);
    if (const mlir::DictionaryAttr rows = CacheRows(); !rows.empty()) add("cache_rows", rows);
    if (!model_.clusters.empty()) add("clusters", Clusters());
    if (plan_ != nullptr) AddPlanInfo(*plan_, builder_, fields);
    return builder_.getDictionaryAttr(fields);
  }

  mlir::OpBuilder& builder_;
  const Model& model_;
  const Graph& graph_;
  const search::Plan* plan_;
  Mesh mesh_;
  std::vector<mlir::Value> values_;    // [tensor]: in the entry that is written
  std::vector<mlir::Value> computed_;  // [tensor]: what the last entry has made of it
};

}  // namespace

void WriteGraph(mlir::OpBuilder& builder, const Model& model, const search::Plan* plan) {
  GraphWriter(builder, model, plan).Write();
}

}  // namespace yuba::compiler
