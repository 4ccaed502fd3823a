// A graph and its plan from a yuba.graph: ReadGraph of module.h. What stands there was
// perhaps changed by hand, so everything is checked.
#include <algorithm>
#include <climits>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/dump/definition_attr.h"
#include "compiler/dump/module.h"
#include "compiler/dump/plan_info.h"
#include "compiler/dump/sharding_attr.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

class GraphReader {
 public:
  GraphReader(GraphOp op, Model& model, search::Plan& plan)
      : op_(op), model_(model), graph_(model.graph), plan_(plan) {}

  absl::Status Read() {
    graph_ = Graph();
    plan_ = search::Plan();
    plan_.mesh = MeshFrom(op_.getMeshAttr());
    YUBA_RETURN_IF_ERROR(CheckMesh());
    if (op_.getBody().empty()) return UserError("it has no body");
    std::set<int64_t> ids;  // a carried tensor has one for its value before and its next one
    op_.walk([&](TensorOp op) { ids.insert(op.getId()); });
    op_.walk([&](DefinitionOp op) { ids.insert(op.getId()); });
    const size_t tensors = ids.size();
    graph_.tensors.resize(tensors);
    plan_.tensors.resize(tensors);
    bool output = false;
    for (mlir::Operation& op : op_.getBody().front()) {
      if (auto tensor = llvm::dyn_cast<TensorOp>(op))
        YUBA_RETURN_IF_ERROR(ReadTensor(tensor));
      else if (auto node = llvm::dyn_cast<DefinitionOp>(op))
        YUBA_RETURN_IF_ERROR(ReadNode(node));
      else if (auto entry = llvm::dyn_cast<EntryOp>(op))
        YUBA_RETURN_IF_ERROR(ReadEntry(entry));
      else if (!llvm::isa<OutputOp>(op))
        return UserError("it holds an operation that graphs do not have");
      else if (output)
        return UserError("it has a second yuba.output");
      else
        output = true;
      if (auto outputs = llvm::dyn_cast<OutputOp>(op)) {
        for (mlir::Value value : outputs.getOperands()) {
          YUBA_ASSIGN_OR_RETURN(const TensorId id, IdOf(value));
          graph_.outputs.push_back(id);
        }
      }
    }
    YUBA_RETURN_IF_ERROR(ReadInfo());
    Link(graph_);
    for (const Node& node : graph_.nodes) {
      const std::string why = WhyPartialsIllegal(graph_, node);
      if (!why.empty()) return UserError(why);
    }
    CheckGraph(graph_);
    YUBA_RETURN_IF_ERROR(ReadClusters(op_.getInfo()));
    if (!op_.getMesh()) plan_ = search::Plan();
    return absl::OkStatus();
  }

 private:
  absl::Status CheckMesh() const {
    if (plan_.mesh.devices() > kMostPlannedDevices) {
      return UserError("plans are for at most ", kMostPlannedDevices, " devices");
    }
    for (const MeshAxis& axis : plan_.mesh.axes) {
      if (MeshOf(axis.size).axes.size() == 1) continue;
      return UserError("its mesh axis ", axis.name, " has size ", axis.size,
                       ", which is no prime: plans have an axis for each prime factor");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<TensorId> IdOf(mlir::Value value) const {
    const auto known = ids_.find(value);
    if (known == ids_.end()) return UserError("it uses a value from elsewhere");
    return known->second;
  }

  absl::Status AddTensor(mlir::Value value, llvm::StringRef name, int64_t id, TensorKind kind,
                         ShardingAttr sharding) {
    if (id < 0 || id >= static_cast<int64_t>(graph_.tensors.size()) || !used_.insert(id).second) {
      return UserError("tensor ", View(name), " has id ", id,
                       "; ids must be 0, 1, 2, ... in any order");
    }
    Tensor& tensor = graph_.tensors[id];
    tensor.name = name.str();
    tensor.kind = kind;
    YUBA_ASSIGN_OR_RETURN(tensor.type, TypeFrom(llvm::cast<mlir::ShapedType>(value.getType())));
    tensor.dims = DimsOf(sharding);
    YUBA_ASSIGN_OR_RETURN(Sharding stored, ShardingFrom(plan_.mesh, sharding));
    plan_.tensors[id] = search::Choice(std::move(stored));
    ids_[value] = static_cast<TensorId>(id);
    return absl::OkStatus();
  }

  // Of a carried tensor the node computes the next value, which differs in nothing but its
  // elements.
  absl::Status AddNextValue(DefinitionOp op) {
    const auto id = static_cast<TensorId>(op.getId());
    const Tensor& tensor = graph_.tensors[id];
    const auto may_change = [](TensorKind kind) {
      return kind == TensorKind::kParameter || kind == TensorKind::kState;
    };
    YUBA_ASSIGN_OR_RETURN(const TensorType type,
                          TypeFrom(llvm::cast<mlir::ShapedType>(op.getResult().getType())));
    YUBA_ASSIGN_OR_RETURN(const Sharding sharding, ShardingFrom(plan_.mesh, op.getSharding()));
    carried_.insert(id);
    if (!may_change(tensor.kind) || !written_.insert(id).second || !(type == tensor.type) ||
        sharding != plan_.tensors[id] || DimsOf(op.getSharding()) != tensor.dims) {
      return UserError(View(op.getName()), " is no next value of ", tensor.name,
                       ": a weight or state has one, of its own type and sharding");
    }
    ids_[op.getResult()] = id;
    next_values_.push_back(op.getResult());
    before_.insert(values_[id]);
    return absl::OkStatus();
  }

  absl::Status ReadTensor(TensorOp op) {
    values_[op.getId()] = op.getResult();
    return AddTensor(op.getResult(), op.getName(), op.getId(), op.getKind().getValue(),
                     op.getSharding());
  }

  // What the entries before it have computed is no value in it.
  absl::Status ReadEntry(EntryOp op) {
    if (!named_entries_) graph_.entries.clear();
    named_entries_ = true;
    const bool taken = std::any_of(graph_.entries.begin(), graph_.entries.end(),
                                   [&](const Entry& e) { return e.name == View(op.getName()); });
    if (taken || op.getName().empty() || op.getTimes() < 1) {
      return UserError("entry \"", View(op.getName()), "\" has a name that is empty or taken, or ",
                       "does not run once");
    }
    if (graph_.entries.empty() && !graph_.nodes.empty()) {
      return UserError("", graph_.nodes[0].name, " is in no entry");
    }
    graph_.entries.push_back({op.getName().str(), static_cast<int64_t>(op.getTimes())});
    for (const auto& [value, id] : ids_) {
      if (!IsStored(graph_.tensors[id].kind)) elsewhere_.insert(value);
    }
    for (const mlir::Value value : next_values_) elsewhere_.insert(value);
    before_.clear();
    written_.clear();
    return absl::OkStatus();
  }

  absl::Status ReadNode(DefinitionOp op) {
    Node node;
    node.entry = static_cast<int>(graph_.entries.size()) - 1;
    node.name = op.getName().str();
    node.op = op.getOp().str();
    node.from = op.getFrom().str();
    node.instance = static_cast<int>(op.getInstance());
    YUBA_ASSIGN_OR_RETURN(Definition definition, DefinitionOf(op));
    if (op.getCopy() && !IsIdentity(definition)) {
      return UserError("", node.name, " is marked as a copy, but computes something");
    }
    for (mlir::Value value : op.getOperands()) {
      YUBA_ASSIGN_OR_RETURN(const TensorId id, IdOf(value));
      if (elsewhere_.count(value) > 0) {
        return UserError("", node.name, " reads what another entry has computed, of ",
                         graph_.tensors[id].name);
      }
      if (before_.count(value) > 0) {
        return UserError("", node.name, " reads the value that ", graph_.tensors[id].name,
                         " had before its next one was computed");
      }
      if (std::count(node.operands.begin(), node.operands.end(), id) > 0) {
        return UserError("", node.name, " names ", graph_.tensors[id].name,
                         " twice; an operand is named once, however often it is read");
      }
      node.operands.push_back(id);
    }
    TensorKind kind = TensorKind::kActivation;
    if (op.getCopy()) kind = TensorKind::kCopy;
    if (definition.partial) kind = TensorKind::kPartial;
    const bool next = values_.count(op.getId()) > 0;
    YUBA_RETURN_IF_ERROR(
        next ? AddNextValue(op)
             : AddTensor(op.getResult(), op.getName(), op.getId(), kind, op.getSharding()));
    node.result = static_cast<TensorId>(op.getId());
    if (const PartitionAttr attr = op.getPartitionAttr()) {
      YUBA_ASSIGN_OR_RETURN(Partition partition,
                            PartitionFrom(plan_.mesh, definition.indices, attr));
      plan_.nodes.emplace_back(std::move(partition));
    }
    node.definition = std::make_shared<const Definition>(std::move(definition));
    graph_.nodes.push_back(std::move(node));
    return absl::OkStatus();
  }

  static absl::StatusOr<std::vector<std::string>> Texts(const mlir::DictionaryAttr& info,
                                                        const char* name) {
    YUBA_ASSIGN_OR_RETURN(const auto attrs, InfoField<mlir::ArrayAttr>(info, name));
    std::vector<std::string> texts;
    for (mlir::Attribute attr : attrs) {
      if (auto text = llvm::dyn_cast<mlir::StringAttr>(attr)) texts.push_back(text.str());
    }
    return texts;
  }

  absl::Status ReadInfo() {
    const mlir::DictionaryAttr info = op_.getInfo();
    YUBA_ASSIGN_OR_RETURN(const auto file, InfoField<mlir::StringAttr>(info, "file"));
    model_.file = file.str();
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    YUBA_ASSIGN_OR_RETURN(model_.file_nodes, InfoNumber<int>(info, "file_nodes", 0, INT_MAX));
    YUBA_ASSIGN_OR_RETURN(model_.opset, InfoNumber<int64_t>(info, "opset", 0, most));
    YUBA_ASSIGN_OR_RETURN(model_.flops, InfoNumber<int64_t>(info, "flops", 0, most));
    YUBA_ASSIGN_OR_RETURN(const auto hash, InfoField<mlir::StringAttr>(info, "hash"));
    model_.graph_hash = hash.str();
    YUBA_ASSIGN_OR_RETURN(model_.notes, Texts(info, "notes"));
    YUBA_ASSIGN_OR_RETURN(model_.file_inputs, Texts(info, "file_inputs"));
    if (info.get("file_outputs")) {
      YUBA_ASSIGN_OR_RETURN(model_.file_outputs, Texts(info, "file_outputs"));
    }
    YUBA_ASSIGN_OR_RETURN(const auto inputs, InfoField<mlir::DenseI32ArrayAttr>(info, "inputs"));
    for (int32_t id : inputs.asArrayRef()) {
      if (id < 0 || id >= static_cast<int32_t>(graph_.tensors.size()) ||
          graph_.tensors[id].kind != TensorKind::kInput) {
        return UserError("input ", id, " is no input");
      }
      graph_.inputs.push_back(id);
    }
    YUBA_RETURN_IF_ERROR(ReadDimNames(info));
    YUBA_RETURN_IF_ERROR(ReadBatchDims(info));
    YUBA_RETURN_IF_ERROR(ReadNextNames(info));
    YUBA_RETURN_IF_ERROR(ReadCacheRows(info));
    if (!op_.getMesh()) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(ReadPlanInfo(info, plan_));
    graph_.copies = plan_.space.copies;
    return absl::OkStatus();
  }

  absl::Status ReadDimNames(mlir::DictionaryAttr info) {
    const auto named = info.getAs<mlir::DictionaryAttr>("dim_names");
    if (!named) return absl::OkStatus();
    for (const mlir::NamedAttribute& field : named) {
      const std::string number = field.getName().str();
      size_t id = 0;
      if (!absl::SimpleAtoi(number, &id) || id >= graph_.tensors.size()) {
        return UserError("dim_names speaks of tensor ", number, ", which is none");
      }
      Tensor& tensor = graph_.tensors[id];
      YUBA_ASSIGN_OR_RETURN(tensor.dim_names, Texts(named, number.c_str()));
      if (tensor.dim_names.size() != tensor.dims.size()) {
        return UserError("dim_names has ", tensor.dim_names.size(), " for the ", tensor.dims.size(),
                         " dimensions of ", tensor.name);
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadBatchDims(mlir::DictionaryAttr info) {
    if (const auto why = info.getAs<mlir::StringAttr>("no_batch")) graph_.no_batch = why.str();
    const auto dims = info.getAs<mlir::DictionaryAttr>("batch_dims");
    if (!dims) return absl::OkStatus();
    for (const mlir::NamedAttribute& field : dims) {
      const std::string number = field.getName().str();
      const auto dim = llvm::dyn_cast<mlir::IntegerAttr>(field.getValue());
      size_t id = 0;
      if (!absl::SimpleAtoi(number, &id) || id >= graph_.tensors.size()) {
        return UserError("batch_dims speaks of tensor ", number, ", which is none");
      }
      Tensor& tensor = graph_.tensors[id];
      if (!dim || dim.getInt() < 0 || dim.getInt() >= static_cast<int64_t>(tensor.dims.size())) {
        return UserError("batch_dims names no dimension of ", tensor.name);
      }
      tensor.batch_dim = static_cast<int>(dim.getInt());
    }
    return absl::OkStatus();
  }

  absl::Status ReadNextNames(mlir::DictionaryAttr info) {
    const auto names = info.getAs<mlir::DictionaryAttr>("next_names");
    for (const TensorId id : carried_) {
      const auto name =
          names ? names.getAs<mlir::StringAttr>(absl::StrCat(id)) : mlir::StringAttr();
      if (!name) return UserError("next_names has none for ", graph_.tensors[id].name);
      graph_.tensors[id].next_name = name.str();
    }
    return absl::OkStatus();
  }

  absl::Status ReadCacheRows(mlir::DictionaryAttr info) {
    const auto counted = info.getAs<mlir::DictionaryAttr>("cache_rows");
    if (!counted) return absl::OkStatus();
    for (const mlir::NamedAttribute& field : counted) {
      const std::string number = field.getName().str();
      const auto rows = llvm::dyn_cast<mlir::IntegerAttr>(field.getValue());
      size_t id = 0;
      if (!absl::SimpleAtoi(number, &id) || id >= graph_.tensors.size() || !rows) {
        return UserError("cache_rows needs the number of a tensor and rows, not ", number);
      }
      Tensor& tensor = graph_.tensors[id];
      if (tensor.kind != TensorKind::kState || tensor.type.type != ElementType::kI64 ||
          !tensor.type.dims.empty() || rows.getInt() < 1) {
        return UserError("cache_rows needs states of one i64 and at least one row, not ",
                         tensor.name, " and ", rows.getInt());
      }
      tensor.cache_rows = rows.getInt();
    }
    return absl::OkStatus();
  }

  // Whether the nodes can share a kernel is for CheckClusters to say.
  absl::Status ReadClusters(mlir::DictionaryAttr info) {
    model_.clusters.clear();
    if (!info.contains("clusters")) return absl::OkStatus();
    YUBA_ASSIGN_OR_RETURN(const auto clusters, InfoField<mlir::ArrayAttr>(info, "clusters"));
    std::set<std::pair<int, TensorId>> clustered;
    for (mlir::Attribute attr : clusters) {
      const auto numbers = llvm::dyn_cast<mlir::DenseI32ArrayAttr>(attr);
      if (!numbers || numbers.size() < 4) {
        return UserError(
            "a cluster needs how many indices it shares, its entry and at least two tensors");
      }
      Cluster& cluster = model_.clusters.emplace_back();
      cluster.shared = numbers[0];
      cluster.entry = numbers[1];
      for (const TensorId id : numbers.asArrayRef().drop_front(2)) {
        if (id < 0 || id >= static_cast<TensorId>(graph_.tensors.size()) ||
            ProducerIn(graph_, id, cluster.entry) < 0 ||
            !clustered.emplace(cluster.entry, id).second) {
          return UserError("a cluster of tensor ", id,
                           ", which no node computes or which is in two");
        }
        cluster.results.push_back(id);
      }
    }
    return absl::OkStatus();
  }

  GraphOp op_;
  Model& model_;
  Graph& graph_;
  search::Plan& plan_;
  llvm::DenseMap<mlir::Value, TensorId> ids_;
  std::set<int64_t> used_;
  std::map<int64_t, mlir::Value> values_;  // id of a stored tensor -> its value before the step
  std::set<TensorId> carried_;
  bool named_entries_ = false;
  // Of the entry that is read:
  std::set<TensorId> written_;          // carried tensors whose next value is there
  llvm::DenseSet<mlir::Value> before_;  // the values that these had before
  std::vector<mlir::Value> next_values_;
  llvm::DenseSet<mlir::Value> elsewhere_;  // what earlier entries have computed
};

}  // namespace

absl::Status ReadGraph(GraphOp op, Model& model, search::Plan& plan) {
  return GraphReader(op, model, plan).Read();
}

}  // namespace yuba::compiler
