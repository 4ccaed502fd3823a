// NodeContext, the part that adds uses of descriptions: elaboration of an entry or a template, and
// folding of results that are known.
#include <algorithm>
#include <deque>
#include <set>

#include "compiler/import/file/read.h"
#include "compiler/import/random_numbers.h"
#include "compiler/import/translate/decided_values.h"
#include "compiler/import/translate/node.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/language/parser.h"
#include "opsemantics/regions/boxes.h"

namespace yuba::onnx {
namespace {

std::vector<int64_t> Flat(const OpTemplate::Groups& groups) {
  std::vector<int64_t> flat;
  for (const std::vector<int64_t>& group : groups)
    flat.insert(flat.end(), group.begin(), group.end());
  return flat;
}

std::vector<int64_t> Whole(const OpTemplate::Groups& groups) {
  std::vector<int64_t> whole;
  for (const std::vector<int64_t>& group : groups) {
    int64_t product = 1;
    for (const int64_t factor : group) product *= factor;
    whole.push_back(product);
  }
  return whole;
}

// How the template groups the flat dimensions of the slot into dimensions of the value; null where
// it does not group them, or where there is no template.
const OpTemplate::Groups* GroupsOf(const OpTemplate* op_template, const Slot& slot) {
  const bool operand = slot.role == SlotRole::kOperand, output = slot.role == SlotRole::kOutput;
  if (op_template == nullptr || (!operand && !output)) return nullptr;
  const auto& groups = operand ? op_template->operands : op_template->outputs;
  return slot.position < static_cast<int>(groups.size()) ? &groups[slot.position] : nullptr;
}

}  // namespace

std::vector<int> NodeContext::EntryOutputs(absl::string_view entry,
                                           const std::vector<int>& operands,
                                           const Attributes& attributes) {
  const OpDescription* op = library_.Find(entry);
  if (op == nullptr) {
    Fail("no description named '", entry, "' is known: write one in a .tdl file (--operators)");
    return std::vector<int>(8, -1);
  }
  return Emit(*op, operands, attributes, nullptr);
}

int NodeContext::Entry(absl::string_view entry, const std::vector<int>& operands,
                       const Attributes& attributes) {
  return EntryOutputs(entry, operands, attributes)[0];
}

int NodeContext::Write(const OpTemplate& op_template, const std::vector<int>& operands) {
  return WriteOutputs(op_template, operands)[0];
}

std::vector<int> NodeContext::WriteOutputs(const OpTemplate& op_template,
                                           const std::vector<int>& operands) {
  if (failed()) return std::vector<int>(std::max<size_t>(8, op_template.outputs.size()), -1);
  absl::StatusOr<std::vector<OpDescription>> parsed = ParseFile("import", op_template.text);
  YUBA_CHECK(parsed.ok() && parsed->size() == 1)
      << "a text of the importer: " << parsed.status() << "\n"
      << op_template.text;
  return Emit(parsed->front(), operands, {}, &op_template);
}

std::vector<int> NodeContext::Emit(const OpDescription& op, const std::vector<int>& operands,
                                   const Attributes& attributes, const OpTemplate* op_template) {
  const std::vector<int> none(std::max<size_t>(8, op.outputs.size()), -1);
  if (failed()) return none;
  std::vector<absl::optional<Shape>> shapes;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] < 0) {
      shapes.push_back(absl::nullopt);
      continue;
    }
    const OnnxValue& value = graph_.values[operands[i]];
    const bool grouped = op_template != nullptr && i < op_template->operands.size();
    YUBA_CHECK(!grouped || Whole(op_template->operands[i]) == value.dims) << op_template->text;
    shapes.push_back(Shape{value.type, grouped ? Flat(op_template->operands[i]) : value.dims});
  }
  // Optional operands may be left out at the end.
  while (shapes.size() < op.params.size() && op.params[shapes.size()].role == Param::kOptional)
    shapes.push_back(absl::nullopt);
  // Of a value that is two operands the gradient is the sum of both; derivation adds them up.
  bool distinct = true;
  std::set<int> seen;
  for (const int operand : operands) distinct &= operand < 0 || seen.insert(operand).second;
  absl::StatusOr<Instance> instance = Elaborate(
      op, shapes, attributes, graph_.trains && distinct ? Gradients::kWith : Gradients::kWithout);
  if (!instance.ok()) {
    Check(instance.status());
    return none;
  }
  for (const Slot& slot : instance->slots) {
    std::vector<int64_t> whole = Whole(slot.dims);
    const absl::StatusOr<int64_t> elements = ElementsOf(whole);
    if (!elements.ok()) Check(Annotate(elements.status(), "its " + slot.name));
  }
  if (failed()) return none;
  return AddUse(*std::move(instance), operands, op_template);
}

namespace {

bool HasDim(const std::vector<int64_t>& dims, int64_t length) {
  return std::count(dims.begin(), dims.end(), length) > 0;
}

// What a value that is `full` with so many rows, and `fewer` with one less, is with none, where it
// grows by as much with each.
TensorValue Extrapolated(const TensorValue& full, const TensorValue& fewer, int64_t rows) {
  TensorValue none = full;
  for (size_t i = 0; i < none.elements.size(); ++i) {
    Scalar& element = none.elements[i];
    const Scalar& other = fewer.elements[i];
    if (IsFloat(full.type.type)) {
      element.number -= static_cast<double>(rows) * (element.number - other.number);
    } else {
      element.integer -= rows * (element.integer - other.integer);
    }
  }
  return none;
}

bool SameElements(const TensorValue& a, const TensorValue& b) {
  return std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
                    [](const Scalar& x, const Scalar& y) { return x.integer == y.integer; });
}

}  // namespace

bool NodeContext::ReadsCache(const std::vector<int>& operands) const {
  return std::any_of(operands.begin(), operands.end(),
                     [&](int operand) { return ValueOf(operand).in_cache; });
}

std::vector<int> NodeContext::AddUse(Instance instance, const std::vector<int>& operands,
                                     const OpTemplate* op_template) {
  for (Slot& slot : instance.slots) {
    const OpTemplate::Groups* groups = GroupsOf(op_template, slot);
    if (groups == nullptr) continue;
    std::vector<int64_t> flat;
    for (const std::vector<int64_t>& dim : slot.dims)
      flat.insert(flat.end(), dim.begin(), dim.end());
    YUBA_CHECK(flat == Flat(*groups)) << op_template->text;
    slot.dims = *groups;
  }
  std::vector<int> outputs;
  if (fold_ && Fold(instance, operands, outputs)) return outputs;
  std::vector<int> data;
  for (const int operand : operands) data.push_back(DataOf(operand));
  if (failed()) return std::vector<int>(8, -1);
  Use use;
  use.from = label_;
  use.entry = graph_.entry;
  if (op_template != nullptr) use.tie_class = op_template->tie_class;
  for (const Slot& slot : instance.slots) {
    if (slot.role == SlotRole::kInternal || IsGradient(slot)) {
      use.values.push_back(-1);
    } else if (slot.role == SlotRole::kOperand) {
      use.values.push_back(data[slot.position]);
    } else if (slot.role != SlotRole::kOutput) {
      use.values.push_back(RandomScalar(slot.role, graph_));
    } else {
      OnnxValue value;
      value.type = slot.type;
      value.dims = Whole(slot.dims);
      value.in_cache = ReadsCache(operands) && HasDim(value.dims, graph_.caches[0].length);
      use.values.push_back(static_cast<int>(graph_.values.size()));
      if (slot.position >= static_cast<int>(outputs.size())) outputs.resize(slot.position + 1, -1);
      outputs[slot.position] = use.values.back();
      graph_.values.push_back(std::move(value));
    }
  }
  use.instance = std::move(instance);
  graph_.uses.push_back(std::move(use));
  return outputs;
}

// Computes the outputs now, by the interpreter, and adds them as constants, where every operand is
// known and the outputs are small. False where not.
bool NodeContext::Fold(const Instance& instance, const std::vector<int>& operands,
                       std::vector<int>& outputs) {
  bool grows = false;
  for (const int operand : operands) {
    if (operand >= 0 && !IsKnown(operand)) return false;
    grows |= operand >= 0 && (GrowsWithCache(operand) || ValueOf(operand).sizes_only);
  }
  for (const Slot& slot : instance.slots) {
    if (slot.role == SlotRole::kStream) return false;  // other numbers in each step
    const bool may_have_batch = IsFloat(slot.type) && slot.dims.size() > 1;
    if (graph_.finds_batch && slot.role == SlotRole::kOutput && may_have_batch) return false;
    int64_t elements = 1;
    for (const int64_t dim : Whole(slot.dims)) elements *= dim;
    if (slot.role != SlotRole::kOperand && elements > kFoldedElements) return false;
  }
  if (PointsOf(instance) > kFoldedPoints) return false;
  if (grows) return FoldGrowing(instance, operands, outputs);
  std::vector<const TensorValue*> known;
  for (const int operand : operands) known.push_back(ValueOf(operand).known.get());
  for (auto& [position, value] : Evaluate(instance, known)) {
    if (position >= static_cast<int>(outputs.size())) outputs.resize(position + 1, -1);
    outputs[position] = Constant(std::move(value));
  }
  return true;
}

// Fold, where some operand is known for full caches only. The result grows by as much with each
// row; where it does otherwise (a comparison, a quotient) nothing is folded, so that it is computed
// from the count.
bool NodeContext::FoldGrowing(const Instance& instance, const std::vector<int>& operands,
                              std::vector<int>& outputs) {
  std::vector<const TensorValue*> full, fewer, none;
  std::deque<TensorValue> made;
  bool sizes_only = false;
  const int64_t rows = graph_.caches[0].length - graph_.new_rows;
  for (const int operand : operands) {
    const OnnxValue& value = ValueOf(operand);
    sizes_only |= value.sizes_only;
    full.push_back(value.known.get());
    fewer.push_back(GrowsWithCache(operand) ? value.one_row_fewer.get() : full.back());
    none.push_back(full.back());
    if (!GrowsWithCache(operand)) continue;
    made.push_back(Extrapolated(*full.back(), *fewer.back(), rows));
    none.back() = &made.back();
  }
  auto results = Evaluate(instance, full), one_fewer = Evaluate(instance, fewer);
  const auto without = Evaluate(instance, none);
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorValue expected = Extrapolated(results[i].second, one_fewer[i].second, rows);
    if (!SameElements(expected, without[i].second)) return false;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const int position = results[i].first;
    if (position >= static_cast<int>(outputs.size())) outputs.resize(position + 1, -1);
    outputs[position] = Constant(std::move(results[i].second), std::move(one_fewer[i].second));
    graph_.values[outputs[position]].sizes_only = sizes_only;
  }
  return true;
}

int NodeContext::DataOf(int value) {
  if (value < 0 || failed()) return value;
  if (ValueOf(value).sizes_only) {
    Fail("it computes with the size of what was computed from a cache of --cache, in which rows ",
         "that hold nothing count too");
    return value;
  }
  for (const CacheSlot& cache : graph_.caches) {
    if (cache.past == value) {
      Fail("it reads a cache of --cache otherwise than to put rows behind it");
      return value;
    }
  }
  if (!GrowsWithCache(value)) return value;
  const TensorValue full = *ValueOf(value).known, fewer = *ValueOf(value).one_row_fewer;
  const int64_t rows = graph_.caches[0].length - graph_.new_rows;
  const TensorValue none = Extrapolated(full, fewer, rows);
  TensorValue growth = full;
  const bool numbers = IsFloat(full.type.type);
  for (size_t i = 0; i < growth.elements.size(); ++i) {
    if (numbers) growth.elements[i].number -= fewer.elements[i].number;
    if (!numbers) growth.elements[i].integer -= fewer.elements[i].integer;
  }
  const int count = Cast(graph_.rows_used, full.type.type);
  return Entry("add", {Constant(none), Entry("mul", {Constant(growth), count})});
}

}  // namespace yuba::onnx
