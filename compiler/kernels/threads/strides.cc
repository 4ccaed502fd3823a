#include "compiler/kernels/threads/strides.h"

#include <algorithm>
#include <functional>
#include <map>

namespace yuba::kernels {
namespace {

constexpr int kHashBytes = 8;

KnownArgument Known(const KnownArguments& known, int slot) {
  return known.empty() ? KnownArgument{slot, 0} : known[slot];
}

absl::optional<int64_t> Constant(const KnownArgument& known) {
  if (known.base >= 0) return absl::nullopt;
  return known.offset;
}

// Bounded by the box of the result's dimension at `box` where that is known to be as far.
void BoundBy(const KnownArguments& known, int box, KnownRange& range) {
  const KnownArgument origin = Known(known, box);
  const absl::optional<int64_t> size = Constant(Known(known, box + 1));
  if (!range.begin || !range.extent || !size || range.begin->base != origin.base) {
    range = {};
    return;
  }
  const int64_t begin = std::max(range.begin->offset, origin.offset);
  const int64_t end = std::min(range.begin->offset + *range.extent, origin.offset + *size);
  range.begin->offset = begin;
  range.extent = std::max<int64_t>(end - begin, 0);
}

std::vector<KnownRange> RangesOf(const NamedKernel& kernel, const ArgumentLayout& layout,
                                 const KernelDefinition& place) {
  const Definition& definition = *place.definition;
  std::vector<KnownRange> ranges;
  for (const int index : place.indices) {
    const KnownArgument begin = Known(kernel.known, BeginArgument(index));
    const KnownArgument end = Known(kernel.known, EndArgument(index));
    ranges.push_back({begin, absl::nullopt});
    if (begin.base == end.base)
      ranges.back().extent = std::max<int64_t>(end.offset - begin.offset, 0);
    // Its end is itself, so nothing but its base can be known of it.
    if (kernel.known.empty()) ranges.back() = {};
  }
  if (place.computes.kind == KernelTensor::kInternal) return ranges;
  int box = layout.BoxArgument(place.computes);
  for (const Affine& left : definition.left) {
    const int index = left.BareIndex();
    if (index >= kernel.shared) BoundBy(kernel.known, box, ranges[index]);
    box += 2;
  }
  return ranges;
}

std::vector<Affine> Substituted(std::vector<Affine> position, const LoopPlan& plan) {
  for (Affine& at : position) at = Substitute(at, plan.solved);
  return position;
}

// Collects which indices are named, and whether terms are branches.
class Names {
 public:
  // `inside` is whether a read lies in its buffer in any case.
  Names(const NamedKernel& kernel, const Definition& definition, const LoopPlan& plan,
        const std::function<bool(const Expr&)>& inside, DefinitionStrides& strides)
      : checks_(kernel.checks_indices),
        definition_(definition),
        plan_(plan),
        inside_(inside),
        strides_(strides) {}

  void Find() {
    for (const Bound& bound : plan_.bounds) Add(bound.expression);
    for (const DataCondition& condition : definition_.data_where) Add(condition.index);
    Walk(definition_, [this](const Expr& expr) { Look(expr); });
    if (!IsArgReducer(definition_.reducer)) return;
    for (size_t i = 0; i < definition_.indices.size(); ++i)
      if (definition_.indices[i].reduction) strides_.named.insert(static_cast<int>(i));
  }

 private:
  void Add(const Affine& affine) {
    for (const auto& [index, coefficient] : Substitute(affine, plan_.solved).terms)
      strides_.named.insert(index);
  }

  // Whether a side of a select may be read only where it is taken.
  bool Guards(const Expr& select) const {
    bool guards = false;
    for (const size_t side : {1, 2}) {
      Walk(select.args[side], [&](const Expr& term) {
        guards |= term.kind == Expr::kRead && (!term.args.empty() || !inside_(term));
      });
    }
    return guards;
  }

  void Look(const Expr& expr) {
    if (expr.kind == Expr::kIndex) Add(expr.affine);
    const bool inside = expr.args.empty() || std::find(plan_.inside.begin(), plan_.inside.end(),
                                                       &expr) != plan_.inside.end();
    if (expr.kind == Expr::kRead && !inside) {
      strides_.branches = true;
      for (const Affine& at : expr.position) Add(at);
    }
    if (expr.kind != Expr::kCall) return;
    strides_.branches |=
        expr.function == Function::kSelect && NamesIndex(*expr.args[0]) && Guards(expr);
    if (!checks_ || (expr.function != Function::kWrap && expr.function != Function::kLabel)) return;
    // Where such a term is at fault, its place is told (IndexRecord).
    for (const ExprPtr& arg : expr.args) {
      Walk(arg, [this](const Expr& term) {
        for (const Affine& at : term.position) Add(at);
      });
    }
  }

  const bool checks_;
  const Definition& definition_;
  const LoopPlan& plan_;
  const std::function<bool(const Expr&)> inside_;
  DefinitionStrides& strides_;
};

// Whether an index affine stays inside of a buffer's dimension, whose (origin, extent) is at `box`.
bool StaysInside(const Affine& at, const std::vector<KnownRange>& ranges,
                 const KnownArguments& known, int box) {
  const KnownArgument origin = Known(known, box);
  const absl::optional<int64_t> size = Constant(Known(known, box + 1));
  if (!size) return false;
  if (at.IsConstant()) {
    return origin.base < 0 && at.constant >= origin.offset && at.constant < origin.offset + *size;
  }
  // One index, a step of which is one element: its range and the buffer's lie side by side.
  if (at.terms.size() != 1 || at.terms[0].second != 1) return false;
  const KnownRange& range = ranges[at.terms[0].first];
  if (!range.begin || !range.extent || range.begin->base != origin.base) return false;
  const int64_t begin = range.begin->offset + at.constant;
  return begin >= origin.offset && begin + *range.extent <= origin.offset + *size;
}

}  // namespace

Strides StridesAt(const std::vector<Affine>& position, const TensorType& tensor, int box,
                  const std::vector<KnownRange>& ranges, const KnownArguments& known) {
  Strides access;
  access.steps.assign(ranges.size(), 0);
  std::map<int, int64_t> start;  // base -> coefficient; of -1 the constant
  bool start_known = true;
  absl::optional<int64_t> stride = 1;
  for (int d = static_cast<int>(position.size()) - 1; d >= 0; --d) {
    if (tensor.dims[d] == 1) continue;  // as KernelBuilder::AddAccess has it
    const auto add = [&](const KnownArgument& value, int64_t coefficient) {
      if (!stride) return;
      if (value.base >= 0) start[value.base] += coefficient * *stride;
      start[-1] += coefficient * *stride * value.offset;
    };
    start_known &= stride.has_value();
    add({-1, position[d].constant}, 1);
    add(Known(known, box + 2 * d), -1);
    for (const auto& [index, coefficient] : position[d].terms) {
      absl::optional<int64_t>& step = access.steps[index];
      step = step && stride ? absl::make_optional(*step + coefficient * *stride) : absl::nullopt;
      start_known &= ranges[index].begin.has_value();
      if (ranges[index].begin) add(*ranges[index].begin, coefficient);
    }
    const absl::optional<int64_t> size = Constant(Known(known, box + 2 * d + 1));
    stride = stride && size ? absl::make_optional(*stride * *size) : absl::nullopt;
  }
  access.inside = true;
  for (size_t d = 0; d < position.size(); ++d) {
    access.inside &= StaysInside(position[d], ranges, known, box + 2 * static_cast<int>(d));
  }
  for (const auto& [base, coefficient] : start) start_known &= base < 0 || coefficient == 0;
  if (start_known) access.start = start[-1];
  return access;
}

int64_t FirstMultiple(const Strides& access, const std::vector<TakenTurns>& taken, int64_t most) {
  if (!access.start) return 1;
  int64_t multiple = most;
  const auto divide = [&](int64_t number) {
    while (number % multiple != 0) multiple /= 2;
  };
  divide(*access.start);
  std::vector<int64_t> lanes(access.steps.size(), 1);
  std::vector<bool> moves(access.steps.size(), true);
  for (const TakenTurns& turns : taken) {
    // Of loops that are one the innermost says how far a turn moves, if there are several.
    for (const int index : turns.loop.indices) moves[index] = false;
    const int last = turns.loop.indices.back();
    moves[last] = turns.loop.extent != turns.lanes;
    lanes[last] = turns.lanes;
  }
  for (size_t index = 0; index < access.steps.size(); ++index) {
    if (!moves[index]) continue;
    if (!access.steps[index]) return 1;
    divide(*access.steps[index] * lanes[index]);
  }
  return multiple;
}

bool SliceIsElement(const NamedKernel& kernel, int number) {
  const std::vector<Index>& indices = kernel.definitions[number].definition->indices;
  return kernel.shared > 0 && std::count_if(indices.begin(), indices.end(), [](const Index& index) {
                                return !index.reduction;
                              }) == kernel.shared;
}

int WriterOf(const NamedKernel& kernel, int reader, const KernelTensor& tensor) {
  for (int d = reader - 1; d >= 0; --d)
    if (kernel.definitions[d].computes == tensor) return d;
  return -1;
}

DefinitionStrides StridesOf(const NamedKernel& kernel, const ArgumentLayout& layout, int number,
                            const LoopPlan& plan, bool hash) {
  const KernelDefinition& place = kernel.definitions[number];
  const Definition& definition = *place.definition;
  DefinitionStrides strides;
  strides.ranges = RangesOf(kernel, layout, place);
  const auto add = [&](const std::vector<Affine>& position, const TensorType& type,
                       const KernelTensor& tensor, bool written) {
    Strides access = StridesAt(Substituted(position, plan), type, layout.BoxArgument(tensor),
                               strides.ranges, kernel.known);
    access.bytes = hash && IsFloat(type.type) ? kHashBytes : static_cast<int>(ByteSize(type.type));
    access.written = written;
    access.elements = ElementCount(type);
    strides.accesses.push_back(std::move(access));
    return strides.accesses.back().inside;
  };
  std::map<const Expr*, bool> inside;
  Walk(definition, [&](const Expr& expr) {
    if (expr.kind != Expr::kRead) return;
    const KernelTensor& tensor = place.operands[expr.operand];
    const int writer = WriterOf(kernel, number, tensor);
    if (writer >= 0 && SliceIsElement(kernel, writer)) return;
    inside[&expr] = add(expr.position, definition.operands[expr.operand], tensor, false);
  });
  if (place.computes.kind != KernelTensor::kInternal)
    add(definition.left, definition.result, place.computes, true);
  const auto is_inside = [&](const Expr& read) {
    const auto found = inside.find(&read);
    return found == inside.end() || found->second;  // what is handed on in a register is
  };
  Names(kernel, definition, plan, is_inside, strides).Find();
  return strides;
}

}  // namespace yuba::kernels
