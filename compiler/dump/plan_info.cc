#include "compiler/dump/plan_info.h"

namespace yuba::compiler {
namespace {

std::vector<int64_t> Prices(const search::Proof& proof) {  // time, price, ...
  std::vector<int64_t> numbers;
  for (const search::MemoryPrice& price : proof.prices) {
    numbers.insert(numbers.end(), {price.time, price.price});
  }
  return numbers;
}

std::vector<int64_t> Messages(const search::Proof& proof) {  // tensor, node, count, values, ...
  std::vector<int64_t> numbers;
  for (const search::DualMessage& message : proof.messages) {
    numbers.insert(numbers.end(),
                   {message.tensor, message.node, static_cast<int64_t>(message.values.size())});
    numbers.insert(numbers.end(), message.values.begin(), message.values.end());
  }
  return numbers;
}

template <typename Enum>
absl::StatusOr<Enum> ReadWord(mlir::StringAttr word) {
  const absl::optional<Enum> value = search::FromWord<Enum>(View(word.getValue()));
  if (value.has_value()) return *value;
  return UserError("yuba.graph: '", View(word.getValue()), "' where ", search::OneOf<Enum>(),
                   " is expected");
}

absl::Status ReadPrices(llvm::ArrayRef<int64_t> numbers, search::Proof& proof) {
  if (numbers.size() % 2 != 0) return UserError("yuba.graph: proof_prices has no pairs");
  proof.prices.clear();
  for (size_t i = 0; i < numbers.size(); i += 2) {
    proof.prices.push_back({numbers[i], numbers[i + 1]});
  }
  return absl::OkStatus();
}

absl::Status ReadMessages(llvm::ArrayRef<int64_t> numbers, search::Proof& proof) {
  proof.messages.clear();
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
    proof.messages.push_back(std::move(message));
    at += 3 + values.size();
  }
  return absl::OkStatus();
}

}  // namespace

void AddPlanInfo(const search::Plan& plan, mlir::Builder& builder,
                 llvm::SmallVectorImpl<mlir::NamedAttribute>& fields) {
  const auto add = [&](const char* name, mlir::Attribute value) {
    fields.push_back(builder.getNamedAttr(name, value));
  };
  add("search", builder.getStringAttr(plan.search));
  add("replayed", builder.getBoolAttr(plan.replayed));
  if (!plan.stopped.empty()) add("stopped", builder.getStringAttr(plan.stopped));
  add("nesting", builder.getStringAttr(search::WordOf(plan.space.nesting)));
  add("factors", builder.getBoolAttr(plan.space.factors));
  add("copies", builder.getI64IntegerAttr(plan.space.copies));
  add("replicate", builder.getStringAttr(search::WordOf(plan.space.replicate)));
  add("accumulators", builder.getBoolAttr(plan.space.accumulators));
  add("partials", builder.getBoolAttr(plan.space.partials));
  add("memory", builder.getI64IntegerAttr(plan.space.memory));
  add("cost", builder.getDenseI64ArrayAttr(
                  {plan.cost.weight, plan.cost.activation, plan.cost.partial, plan.cost.halo}));
  add("lower_bound", builder.getI64IntegerAttr(plan.lower_bound));
  add("proof", builder.getStringAttr(search::WordOf(plan.proof.kind)));
  add("proof_order", builder.getDenseI32ArrayAttr(plan.proof.order));
  add("proof_plain", builder.getI64IntegerAttr(plan.proof.plain));
  add("proof_sweep", builder.getDenseI32ArrayAttr(plan.proof.sweep));
  add("proof_prices", builder.getDenseI64ArrayAttr(Prices(plan.proof)));
  add("proof_messages", builder.getDenseI64ArrayAttr(Messages(plan.proof)));
}

absl::Status ReadPlanInfo(mlir::DictionaryAttr info, search::Plan& plan) {
  YUBA_ASSIGN_OR_RETURN(const auto search, InfoField<mlir::StringAttr>(info, "search"));
  plan.search = search.str();
  if (const auto replayed = info.getAs<mlir::BoolAttr>("replayed")) {
    plan.replayed = replayed.getValue();
  }
  if (const auto stopped = info.getAs<mlir::StringAttr>("stopped")) plan.stopped = stopped.str();
  YUBA_ASSIGN_OR_RETURN(const auto nesting, InfoField<mlir::StringAttr>(info, "nesting"));
  YUBA_ASSIGN_OR_RETURN(plan.space.nesting, ReadWord<search::Nesting>(nesting));
  YUBA_ASSIGN_OR_RETURN(const auto factors, InfoField<mlir::BoolAttr>(info, "factors"));
  plan.space.factors = factors.getValue();
  YUBA_ASSIGN_OR_RETURN(const auto copies, InfoField<mlir::IntegerAttr>(info, "copies"));
  plan.space.copies = static_cast<int>(copies.getInt());
  YUBA_ASSIGN_OR_RETURN(const auto replicate, InfoField<mlir::StringAttr>(info, "replicate"));
  YUBA_ASSIGN_OR_RETURN(plan.space.replicate, ReadWord<search::Replicate>(replicate));
  YUBA_ASSIGN_OR_RETURN(const auto accumulators, InfoField<mlir::BoolAttr>(info, "accumulators"));
  plan.space.accumulators = accumulators.getValue();
  YUBA_ASSIGN_OR_RETURN(const auto partials, InfoField<mlir::BoolAttr>(info, "partials"));
  plan.space.partials = partials.getValue();
  YUBA_ASSIGN_OR_RETURN(const auto memory, InfoField<mlir::IntegerAttr>(info, "memory"));
  plan.space.memory = memory.getInt();
  YUBA_ASSIGN_OR_RETURN(const auto cost, InfoField<mlir::DenseI64ArrayAttr>(info, "cost"));
  if (cost.size() != 4) return UserError("yuba.graph: the cost has four kinds");
  plan.cost = {cost[0], cost[1], cost[2], cost[3]};
  YUBA_ASSIGN_OR_RETURN(const auto bound, InfoField<mlir::IntegerAttr>(info, "lower_bound"));
  plan.lower_bound = bound.getInt();
  YUBA_ASSIGN_OR_RETURN(const auto proof, InfoField<mlir::StringAttr>(info, "proof"));
  YUBA_ASSIGN_OR_RETURN(plan.proof.kind, ReadWord<search::ProofKind>(proof));
  YUBA_ASSIGN_OR_RETURN(const auto order, InfoField<mlir::DenseI32ArrayAttr>(info, "proof_order"));
  plan.proof.order.assign(order.asArrayRef().begin(), order.asArrayRef().end());
  YUBA_ASSIGN_OR_RETURN(const auto plain, InfoField<mlir::IntegerAttr>(info, "proof_plain"));
  plan.proof.plain = static_cast<int>(plain.getInt());
  YUBA_ASSIGN_OR_RETURN(const auto sweep, InfoField<mlir::DenseI32ArrayAttr>(info, "proof_sweep"));
  plan.proof.sweep.assign(sweep.asArrayRef().begin(), sweep.asArrayRef().end());
  YUBA_ASSIGN_OR_RETURN(const auto prices,
                        InfoField<mlir::DenseI64ArrayAttr>(info, "proof_prices"));
  YUBA_RETURN_IF_ERROR(ReadPrices(prices.asArrayRef(), plan.proof));
  YUBA_ASSIGN_OR_RETURN(const auto messages,
                        InfoField<mlir::DenseI64ArrayAttr>(info, "proof_messages"));
  return ReadMessages(messages.asArrayRef(), plan.proof);
}

}  // namespace yuba::compiler
