// The dictionary of a plan is read: ReadPlanInfo of plan_info.h.
#include <climits>
#include <limits>

#include "compiler/dump/plan_info.h"

namespace yuba::compiler {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

template <typename Enum>
absl::StatusOr<Enum> ReadWord(mlir::StringAttr word) {
  const absl::optional<Enum> value = search::FromWord<Enum>(View(word.getValue()));
  if (value.has_value()) return *value;
  return UserError("'", View(word.getValue()), "' where ", search::OneOf<Enum>(), " is expected");
}

// Times ascend, and are three for each node.
absl::Status ReadPrices(llvm::ArrayRef<int64_t> numbers, int64_t nodes, search::Proof& proof) {
  if (numbers.size() % 2 != 0) return UserError("'proof_prices' has no pairs");
  proof.prices.clear();
  for (size_t i = 0; i < numbers.size(); i += 2) {
    const int64_t last = proof.prices.empty() ? -1 : proof.prices.back().time;
    if (numbers[i] <= last || numbers[i] >= 3 * nodes) {
      return UserError("'proof_prices' has the time ", numbers[i], ", expected one after ", last,
                       " and before ", 3 * nodes, ", which is three for each node");
    }
    if (numbers[i + 1] < 0) return UserError("'proof_prices' has the price ", numbers[i + 1]);
    proof.prices.push_back({numbers[i], numbers[i + 1]});
  }
  return absl::OkStatus();
}

bool IsId(int64_t number) { return number >= 0 && number <= INT_MAX; }

absl::Status ReadMessages(llvm::ArrayRef<int64_t> numbers, search::Proof& proof) {
  proof.messages.clear();
  for (size_t at = 0; at < numbers.size();) {
    const int64_t left = static_cast<int64_t>(numbers.size() - at) - 3;
    if (left < 0 || numbers[at + 2] < 0 || numbers[at + 2] > left) {
      return UserError("'proof_messages' ends within a message");
    }
    if (!IsId(numbers[at]) || !IsId(numbers[at + 1])) {
      return UserError("'proof_messages' has a message of tensor ", numbers[at], " and node ",
                       numbers[at + 1], ": there are none below 0 or above ", INT_MAX);
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

absl::StatusOr<bool> InfoFlag(mlir::DictionaryAttr info, const char* name) {
  YUBA_ASSIGN_OR_RETURN(const auto flag, InfoField<mlir::BoolAttr>(info, name));
  return flag.getValue();
}

absl::Status ReadStopped(mlir::DictionaryAttr info, search::Plan& plan) {
  if (!info.contains("stopped")) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(const auto stopped, InfoField<mlir::StringAttr>(info, "stopped"));
  plan.stopped = stopped.str();
  if (plan.stopped == search::kTimeLimit || plan.stopped == search::kInterrupt) {
    return absl::OkStatus();
  }
  return UserError("'stopped' is \"", plan.stopped, "\", expected \"", search::kTimeLimit,
                   "\" or \"", search::kInterrupt, "\"");
}

// Takes `count` numbers from `most` on down to 0 off the front of what is left.
absl::StatusOr<std::vector<int64_t>> TakeNumbers(llvm::ArrayRef<int64_t>& left, size_t count,
                                                 int64_t most) {
  if (left.size() < count) return UserError("'pins' ends within a pin");
  const llvm::ArrayRef<int64_t> taken = left.take_front(count);
  for (const int64_t number : taken) {
    if (number < 0 || number > most) {
      return UserError("'pins' has ", number, " where numbers from 0 to ", most, " are expected");
    }
  }
  left = left.drop_front(count);
  return std::vector<int64_t>(taken.begin(), taken.end());
}

absl::Status ReadPins(mlir::DictionaryAttr info, size_t axes, search::Space& space) {
  if (info.contains("pin_texts")) {
    YUBA_ASSIGN_OR_RETURN(const auto texts, InfoField<mlir::ArrayAttr>(info, "pin_texts"));
    for (const mlir::Attribute attr : texts) {
      const auto text = llvm::dyn_cast<mlir::StringAttr>(attr);
      if (!text) return UserError("'pin_texts' has something that is no text");
      space.pin_texts.push_back(text.str());
    }
  }
  if (!info.contains("pins")) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(const auto pins, InfoField<mlir::DenseI64ArrayAttr>(info, "pins"));
  llvm::ArrayRef<int64_t> left = pins.asArrayRef();
  const auto most_axis = static_cast<int64_t>(axes) - 1;
  while (!left.empty()) {
    YUBA_ASSIGN_OR_RETURN(const auto pin, TakeNumbers(left, 2, INT_MAX));
    search::PinnedElement pinned{static_cast<int>(pin[0]), {}};
    for (int64_t extent = 0; extent < pin[1]; ++extent) {
      YUBA_ASSIGN_OR_RETURN(const auto others, TakeNumbers(left, 1, 1));
      YUBA_ASSIGN_OR_RETURN(const auto count, TakeNumbers(left, 1, most_axis + 1));
      YUBA_ASSIGN_OR_RETURN(const auto cut, TakeNumbers(left, count[0], most_axis));
      pinned.demands.push_back({AxisList(cut.begin(), cut.end()), others[0] == 1});
    }
    space.pins.push_back(std::move(pinned));
  }
  return absl::OkStatus();
}

absl::Status ReadUnpinned(mlir::DictionaryAttr info, search::Plan& plan) {
  if (!info.contains("without_pins")) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(const auto pair, InfoField<mlir::DenseI64ArrayAttr>(info, "without_pins"));
  if (pair.size() != 2) return UserError("'without_pins' is no pair");
  plan.unpinned = search::Unpinned{pair[0], pair[1]};
  return absl::OkStatus();
}

absl::Status ReadSpace(mlir::DictionaryAttr info, search::Space& space) {
  YUBA_ASSIGN_OR_RETURN(const auto nesting, InfoField<mlir::StringAttr>(info, "nesting"));
  YUBA_ASSIGN_OR_RETURN(space.nesting, ReadWord<search::Nesting>(nesting));
  YUBA_ASSIGN_OR_RETURN(space.factors, InfoFlag(info, "factors"));
  YUBA_ASSIGN_OR_RETURN(space.copies, InfoFlag(info, "copies"));
  YUBA_ASSIGN_OR_RETURN(const auto replicate, InfoField<mlir::StringAttr>(info, "replicate"));
  YUBA_ASSIGN_OR_RETURN(space.replicate, ReadWord<search::Replicate>(replicate));
  YUBA_ASSIGN_OR_RETURN(space.accumulators, InfoFlag(info, "accumulators"));
  YUBA_ASSIGN_OR_RETURN(space.partials, InfoFlag(info, "partials"));
  YUBA_ASSIGN_OR_RETURN(space.memory, InfoNumber<int64_t>(info, "memory", 0, kMost));
  return absl::OkStatus();
}

absl::Status ReadCost(mlir::DictionaryAttr info, search::Plan& plan) {
  YUBA_ASSIGN_OR_RETURN(const auto cost, InfoField<mlir::DenseI64ArrayAttr>(info, "cost"));
  if (cost.size() != 4) return UserError("'cost' has four kinds");
  constexpr int64_t most = kMost / 4;  // the sum must fit
  for (const int64_t bytes : cost.asArrayRef()) {
    if (bytes < 0 || bytes > most) {
      return UserError("'cost' has ", bytes, ", expected integers from 0 to ", most);
    }
  }
  plan.cost = {cost[0], cost[1], cost[2], cost[3]};
  YUBA_ASSIGN_OR_RETURN(plan.lower_bound,
                        InfoNumber<int64_t>(info, "lower_bound", 0, plan.cost.bytes()));
  YUBA_ASSIGN_OR_RETURN(plan.asked_bound,
                        InfoNumber<int64_t>(info, "asked_bound", 0, plan.lower_bound));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> Elements(mlir::DictionaryAttr info, const char* name) {
  YUBA_ASSIGN_OR_RETURN(const auto list, InfoField<mlir::DenseI32ArrayAttr>(info, name));
  for (const int32_t element : list.asArrayRef()) {
    if (element < 0) return UserError("'", name, "' has ", element, ", expected numbers from 0");
  }
  return std::vector<int>(list.asArrayRef().begin(), list.asArrayRef().end());
}

absl::Status ReadProof(mlir::DictionaryAttr info, int64_t nodes, search::Proof& result) {
  YUBA_ASSIGN_OR_RETURN(const auto proof, InfoField<mlir::StringAttr>(info, "proof"));
  YUBA_ASSIGN_OR_RETURN(result.kind, ReadWord<search::ProofKind>(proof));
  YUBA_ASSIGN_OR_RETURN(result.order, Elements(info, "proof_order"));
  YUBA_ASSIGN_OR_RETURN(result.plain, InfoNumber<int>(info, "proof_plain", 0, INT_MAX));
  YUBA_ASSIGN_OR_RETURN(result.sweep, Elements(info, "proof_sweep"));
  YUBA_ASSIGN_OR_RETURN(const auto prices,
                        InfoField<mlir::DenseI64ArrayAttr>(info, "proof_prices"));
  YUBA_RETURN_IF_ERROR(ReadPrices(prices.asArrayRef(), nodes, result));
  YUBA_ASSIGN_OR_RETURN(const auto messages,
                        InfoField<mlir::DenseI64ArrayAttr>(info, "proof_messages"));
  return ReadMessages(messages.asArrayRef(), result);
}

}  // namespace

absl::Status ReadPlanInfo(mlir::DictionaryAttr info, search::Plan& plan) {
  YUBA_ASSIGN_OR_RETURN(const auto search, InfoField<mlir::StringAttr>(info, "search"));
  plan.search = search.str();
  YUBA_ASSIGN_OR_RETURN(plan.replayed, InfoFlag(info, "replayed"));
  YUBA_RETURN_IF_ERROR(ReadStopped(info, plan));
  YUBA_RETURN_IF_ERROR(ReadSpace(info, plan.space));
  YUBA_RETURN_IF_ERROR(ReadPins(info, plan.mesh.axes.size(), plan.space));
  YUBA_RETURN_IF_ERROR(ReadUnpinned(info, plan));
  YUBA_RETURN_IF_ERROR(ReadCost(info, plan));
  return ReadProof(info, static_cast<int64_t>(plan.nodes.size()), plan.proof);
}

}  // namespace yuba::compiler
