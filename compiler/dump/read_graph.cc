#include <algorithm>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/dump/definition_attr.h"
#include "compiler/dump/module.h"
#include "compiler/dump/sharding_attr.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

template <typename T>
absl::StatusOr<T> InfoField(mlir::DictionaryAttr info, const char* name) {
  const auto value = info.getAs<T>(name);
  if (!value) return UserError("yuba.graph: '", name, "' is missing or of another kind");
  return value;
}

class GraphReader {
 public:
  GraphReader(GraphOp op, Model& model, search::Plan& plan)
      : op_(op), model_(model), graph_(model.graph), plan_(plan) {}

  absl::Status Read() {
    graph_ = Graph();
    plan_ = search::Plan();
    plan_.mesh = MeshFrom(op_.getMeshAttr());
    int tensors = 0;
    op_.walk([&](mlir::Operation* op) { tensors += op->getNumResults() == 1; });
    graph_.tensors.resize(tensors);
    plan_.tensors.resize(tensors);
    bool output = false;
    for (mlir::Operation& op : op_.getBody().front()) {
      if (auto tensor = llvm::dyn_cast<TensorOp>(op))
        YUBA_RETURN_IF_ERROR(ReadTensor(tensor));
      else if (auto node = llvm::dyn_cast<DefinitionOp>(op))
        YUBA_RETURN_IF_ERROR(ReadNode(node));
      else if (!llvm::isa<OutputOp>(op))
        return UserError("yuba.graph: an operation that it has not");
      else if (output)
        return UserError("yuba.graph: a second yuba.output");
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
      const std::string why = WhyNoAccumulation(graph_, node);
      if (!why.empty()) return UserError("yuba.graph: ", why);
    }
    CheckGraph(graph_);
    if (!op_.getMesh()) plan_ = search::Plan();
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<TensorId> IdOf(mlir::Value value) const {
    const auto known = ids_.find(value);
    if (known == ids_.end()) return UserError("yuba.graph: a value from elsewhere");
    return known->second;
  }

  absl::Status AddTensor(mlir::Value value, llvm::StringRef name, int64_t id, TensorKind kind,
                         ShardingAttr sharding) {
    if (id < 0 || id >= static_cast<int64_t>(graph_.tensors.size()) || !used_.insert(id).second) {
      return UserError("yuba.graph: tensor ", View(name), " has id ", id,
                       "; ids must be 0, 1, 2, ... in any order");
    }
    Tensor& tensor = graph_.tensors[id];
    tensor.name = name.str();
    tensor.kind = kind;
    YUBA_ASSIGN_OR_RETURN(tensor.type, TypeFrom(llvm::cast<mlir::ShapedType>(value.getType())));
    tensor.dims = DimsOf(sharding);
    YUBA_ASSIGN_OR_RETURN(plan_.tensors[id], ShardingFrom(plan_.mesh, sharding));
    ids_[value] = static_cast<TensorId>(id);
    return absl::OkStatus();
  }

  absl::Status ReadTensor(TensorOp op) {
    return AddTensor(op.getResult(), op.getName(), op.getId(), op.getKind().getValue(),
                     op.getSharding());
  }

  absl::Status ReadNode(DefinitionOp op) {
    Node node;
    node.name = op.getName().str();
    node.op = op.getOp().str();
    node.from = op.getFrom().str();
    node.instance = static_cast<int>(op.getInstance());
    YUBA_ASSIGN_OR_RETURN(Definition definition, DefinitionOf(op));
    if (op.getCopy() && !IsIdentity(definition)) {
      return UserError("yuba.graph: ", node.name, " is marked as a copy, but computes something");
    }
    for (mlir::Value value : op.getOperands()) {
      YUBA_ASSIGN_OR_RETURN(const TensorId id, IdOf(value));
      if (std::count(node.operands.begin(), node.operands.end(), id) > 0) {
        return UserError("yuba.graph: ", node.name, " names ", graph_.tensors[id].name,
                         " twice; an operand is named once, however often it is read");
      }
      node.operands.push_back(id);
    }
    TensorKind kind = TensorKind::kActivation;
    if (op.getCopy()) kind = TensorKind::kCopy;
    if (definition.partial) kind = TensorKind::kPartial;
    YUBA_RETURN_IF_ERROR(
        AddTensor(op.getResult(), op.getName(), op.getId(), kind, op.getSharding()));
    node.result = static_cast<TensorId>(op.getId());
    if (const PartitionAttr attr = op.getPartitionAttr()) {
      YUBA_ASSIGN_OR_RETURN(plan_.nodes.emplace_back(),
                            PartitionFrom(plan_.mesh, definition.indices, attr));
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
    YUBA_ASSIGN_OR_RETURN(const auto nodes, InfoField<mlir::IntegerAttr>(info, "file_nodes"));
    model_.file_nodes = static_cast<int>(nodes.getInt());
    YUBA_ASSIGN_OR_RETURN(const auto opset, InfoField<mlir::IntegerAttr>(info, "opset"));
    model_.opset = opset.getInt();
    YUBA_ASSIGN_OR_RETURN(const auto flops, InfoField<mlir::IntegerAttr>(info, "flops"));
    model_.flops = flops.getInt();
    YUBA_ASSIGN_OR_RETURN(const auto hash, InfoField<mlir::StringAttr>(info, "hash"));
    model_.graph_hash = hash.str();
    YUBA_ASSIGN_OR_RETURN(model_.notes, Texts(info, "notes"));
    YUBA_ASSIGN_OR_RETURN(model_.file_inputs, Texts(info, "file_inputs"));
    YUBA_ASSIGN_OR_RETURN(const auto inputs, InfoField<mlir::DenseI32ArrayAttr>(info, "inputs"));
    for (int32_t id : inputs.asArrayRef()) {
      if (id < 0 || id >= static_cast<int32_t>(graph_.tensors.size()) ||
          graph_.tensors[id].kind != TensorKind::kInput) {
        return UserError("yuba.graph: input ", id, " is no input");
      }
      graph_.inputs.push_back(id);
    }
    YUBA_RETURN_IF_ERROR(ReadDimNames(info));
    return op_.getMesh() ? ReadPlanInfo(info) : absl::OkStatus();
  }

  absl::Status ReadDimNames(mlir::DictionaryAttr info) {
    const auto named = info.getAs<mlir::DictionaryAttr>("dim_names");
    if (!named) return absl::OkStatus();
    for (const mlir::NamedAttribute& field : named) {
      const std::string number = field.getName().str();
      size_t id = 0;
      if (!absl::SimpleAtoi(number, &id) || id >= graph_.tensors.size()) {
        return UserError("yuba.graph: dim_names speaks of tensor ", number, ", which is none");
      }
      Tensor& tensor = graph_.tensors[id];
      YUBA_ASSIGN_OR_RETURN(tensor.dim_names, Texts(named, number.c_str()));
      if (tensor.dim_names.size() != tensor.dims.size()) {
        return UserError("yuba.graph: dim_names has ", tensor.dim_names.size(), " for the ",
                         tensor.dims.size(), " dimensions of ", tensor.name);
      }
    }
    return absl::OkStatus();
  }

  template <typename Enum>
  static absl::StatusOr<Enum> ReadWord(mlir::StringAttr word) {
    const absl::optional<Enum> value = search::FromWord<Enum>(View(word.getValue()));
    if (value.has_value()) return *value;
    return UserError("yuba.graph: '", View(word.getValue()), "' where ", search::OneOf<Enum>(),
                     " is expected");
  }

  absl::Status ReadPlanInfo(mlir::DictionaryAttr info) {
    YUBA_ASSIGN_OR_RETURN(const auto search, InfoField<mlir::StringAttr>(info, "search"));
    plan_.search = search.str();
    if (const auto replayed = info.getAs<mlir::BoolAttr>("replayed")) {
      plan_.replayed = replayed.getValue();
    }
    if (const auto stopped = info.getAs<mlir::StringAttr>("stopped")) plan_.stopped = stopped.str();
    YUBA_ASSIGN_OR_RETURN(const auto nesting, InfoField<mlir::StringAttr>(info, "nesting"));
    YUBA_ASSIGN_OR_RETURN(plan_.space.nesting, ReadWord<search::Nesting>(nesting));
    YUBA_ASSIGN_OR_RETURN(const auto factors, InfoField<mlir::BoolAttr>(info, "factors"));
    plan_.space.factors = factors.getValue();
    YUBA_ASSIGN_OR_RETURN(const auto copies, InfoField<mlir::IntegerAttr>(info, "copies"));
    graph_.copies = plan_.space.copies = static_cast<int>(copies.getInt());
    YUBA_ASSIGN_OR_RETURN(const auto replicate, InfoField<mlir::StringAttr>(info, "replicate"));
    YUBA_ASSIGN_OR_RETURN(plan_.space.replicate, ReadWord<search::Replicate>(replicate));
    YUBA_ASSIGN_OR_RETURN(const auto accumulators, InfoField<mlir::BoolAttr>(info, "accumulators"));
    plan_.space.accumulators = accumulators.getValue();
    YUBA_ASSIGN_OR_RETURN(const auto partials, InfoField<mlir::BoolAttr>(info, "partials"));
    plan_.space.partials = partials.getValue();
    YUBA_ASSIGN_OR_RETURN(const auto memory, InfoField<mlir::IntegerAttr>(info, "memory"));
    plan_.space.memory = memory.getInt();
    YUBA_ASSIGN_OR_RETURN(const auto cost, InfoField<mlir::DenseI64ArrayAttr>(info, "cost"));
    if (cost.size() != 4) return UserError("yuba.graph: the cost has four kinds");
    plan_.cost = {cost[0], cost[1], cost[2], cost[3]};
    YUBA_ASSIGN_OR_RETURN(const auto bound, InfoField<mlir::IntegerAttr>(info, "lower_bound"));
    plan_.lower_bound = bound.getInt();
    YUBA_ASSIGN_OR_RETURN(const auto proof, InfoField<mlir::StringAttr>(info, "proof"));
    YUBA_ASSIGN_OR_RETURN(plan_.proof.kind, ReadWord<search::ProofKind>(proof));
    YUBA_ASSIGN_OR_RETURN(const auto order,
                          InfoField<mlir::DenseI32ArrayAttr>(info, "proof_order"));
    plan_.proof.order.assign(order.asArrayRef().begin(), order.asArrayRef().end());
    YUBA_ASSIGN_OR_RETURN(const auto plain, InfoField<mlir::IntegerAttr>(info, "proof_plain"));
    plan_.proof.plain = static_cast<int>(plain.getInt());
    YUBA_ASSIGN_OR_RETURN(const auto sweep,
                          InfoField<mlir::DenseI32ArrayAttr>(info, "proof_sweep"));
    plan_.proof.sweep.assign(sweep.asArrayRef().begin(), sweep.asArrayRef().end());
    YUBA_ASSIGN_OR_RETURN(const auto prices,
                          InfoField<mlir::DenseI64ArrayAttr>(info, "proof_prices"));
    YUBA_RETURN_IF_ERROR(ReadPrices(prices.asArrayRef()));
    YUBA_ASSIGN_OR_RETURN(const auto messages,
                          InfoField<mlir::DenseI64ArrayAttr>(info, "proof_messages"));
    return ReadMessages(messages.asArrayRef());
  }

  absl::Status ReadPrices(llvm::ArrayRef<int64_t> numbers) {
    if (numbers.size() % 2 != 0) return UserError("yuba.graph: proof_prices has no pairs");
    plan_.proof.prices.clear();
    for (size_t i = 0; i < numbers.size(); i += 2) {
      plan_.proof.prices.push_back({numbers[i], numbers[i + 1]});
    }
    return absl::OkStatus();
  }

  absl::Status ReadMessages(llvm::ArrayRef<int64_t> numbers) {
    plan_.proof.messages.clear();
    for (size_t at = 0; at < numbers.size();) {
      const int64_t left = static_cast<int64_t>(numbers.size() - at) - 3;
      if (left < 0 || numbers[at + 2] < 0 || numbers[at + 2] > left) {
        return UserError("yuba.graph: proof_messages ends within a message");
      }
      search::DualMessage message;
      message.tensor = static_cast<TensorId>(numbers[at]);
      message.node = static_cast<NodeId>(numbers[at + 1]);
      const llvm::ArrayRef<int64_t> values = numbers.slice(at + 3, numbers[at + 2]);
      message.values.assign(values.begin(), values.end());
      plan_.proof.messages.push_back(std::move(message));
      at += 3 + values.size();
    }
    return absl::OkStatus();
  }

  GraphOp op_;
  Model& model_;
  Graph& graph_;
  search::Plan& plan_;
  llvm::DenseMap<mlir::Value, TensorId> ids_;
  std::set<int64_t> used_;
};

}  // namespace

absl::Status ReadGraph(GraphOp op, Model& model, search::Plan& plan) {
  return GraphReader(op, model, plan).Read();
}

}  // namespace yuba::compiler
