// The dictionary of a plan is written: AddPlanInfo of plan_info.h.
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

std::vector<int64_t> Pins(const search::Space& space) {
  std::vector<int64_t> numbers;
  for (const search::PinnedElement& pin : space.pins) {
    numbers.insert(numbers.end(), {pin.element, static_cast<int64_t>(pin.demands.size())});
    for (const search::Demand& demand : pin.demands) {
      numbers.insert(numbers.end(), {demand.others, static_cast<int64_t>(demand.axes.size())});
      numbers.insert(numbers.end(), demand.axes.begin(), demand.axes.end());
    }
  }
  return numbers;
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
  add("copies", builder.getBoolAttr(plan.space.copies));
  add("replicate", builder.getStringAttr(search::WordOf(plan.space.replicate)));
  add("accumulators", builder.getBoolAttr(plan.space.accumulators));
  add("partials", builder.getBoolAttr(plan.space.partials));
  add("memory", builder.getI64IntegerAttr(plan.space.memory));
  if (!plan.space.pins.empty()) add("pins", builder.getDenseI64ArrayAttr(Pins(plan.space)));
  if (!plan.space.pin_texts.empty()) {
    llvm::SmallVector<llvm::StringRef> texts(plan.space.pin_texts.begin(),
                                             plan.space.pin_texts.end());
    add("pin_texts", builder.getStrArrayAttr(texts));
  }
  if (plan.unpinned.has_value()) {
    add("without_pins",
        builder.getDenseI64ArrayAttr({plan.unpinned->bytes, plan.unpinned->lower_bound}));
  }
  add("cost", builder.getDenseI64ArrayAttr(
                  {plan.cost.weight, plan.cost.activation, plan.cost.partial, plan.cost.halo}));
  add("lower_bound", builder.getI64IntegerAttr(plan.lower_bound));
  add("asked_bound", builder.getI64IntegerAttr(plan.asked_bound));
  add("proof", builder.getStringAttr(search::WordOf(plan.proof.kind)));
  add("proof_order", builder.getDenseI32ArrayAttr(plan.proof.order));
  add("proof_plain", builder.getI64IntegerAttr(plan.proof.plain));
  add("proof_sweep", builder.getDenseI32ArrayAttr(plan.proof.sweep));
  add("proof_prices", builder.getDenseI64ArrayAttr(Prices(plan.proof)));
  add("proof_messages", builder.getDenseI64ArrayAttr(Messages(plan.proof)));
}

}  // namespace yuba::compiler
