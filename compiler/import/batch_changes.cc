#include "compiler/import/batch_changes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

std::string Text(const std::vector<int64_t>& dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ", "), "]");
}

std::string LabelOf(const Use& use) {
  return absl::StrCat("node '", use.from, "' (", use.instance.op, ")");
}

// The node that makes the value, for a message; a value that none makes has its name.
std::string MakerOf(const OnnxGraph& graph, int value) {
  for (const Use& use : graph.uses) {
    for (size_t s = 0; s < use.values.size(); ++s) {
      if (use.values[s] == value && use.instance.slots[s].role == SlotRole::kOutput)
        return LabelOf(use);
    }
  }
  return absl::StrCat("'", graph.values[value].name, "'");
}

// What outputs of the entry that translation is at need.
struct Needed {
  std::map<std::string, std::vector<const Use*>> uses;  // by the nodes from which they came
  std::set<int> values;                                 // numbers
};

Needed FindNeeded(const OnnxGraph& graph) {
  Needed needed;
  needed.values.insert(graph.outputs.begin(), graph.outputs.end());
  for (auto use = graph.uses.rbegin(); use != graph.uses.rend(); ++use) {
    const std::vector<Slot>& slots = use->instance.slots;
    bool makes = false;
    for (size_t s = 0; s < slots.size(); ++s)
      makes |= slots[s].role == SlotRole::kOutput && needed.values.count(use->values[s]) > 0;
    if (use->entry != graph.entry || !makes) continue;
    std::vector<const Use*>& uses = needed.uses[use->from];
    uses.insert(uses.begin(), &*use);
    needed.values.insert(use->values.begin(), use->values.end());
  }
  return needed;
}

// What a definition computes with besides its operands.
struct Numbers {
  std::vector<const Affine*> places;
  std::vector<const Expr*> literals;
};

Numbers NumbersOf(const Definition& definition) {
  Numbers numbers;
  const auto walk = [&](const ExprPtr& body) {
    Walk(body, [&](const Expr& expr) {
      if (expr.kind == Expr::kLiteral) numbers.literals.push_back(&expr);
      if (expr.kind == Expr::kIndex) numbers.places.push_back(&expr.affine);
      for (const Affine& place : expr.position) numbers.places.push_back(&place);
    });
  };
  walk(definition.body);
  for (const Affine& place : definition.left) numbers.places.push_back(&place);
  for (const Constraint& where : definition.where) numbers.places.push_back(&where.expression);
  for (const DataCondition& where : definition.data_where) {
    numbers.places.push_back(&where.index);
    walk(where.value);
  }
  return numbers;
}

// Whether two definitions of one form have the same literals and, along indices of equal extents,
// read the same elements. Of definitions of two forms nothing is said.
bool SameNumbers(const Definition& a, const Definition& b) {
  const Numbers in_a = NumbersOf(a), in_b = NumbersOf(b);
  if (a.indices.size() != b.indices.size() || in_a.places.size() != in_b.places.size() ||
      in_a.literals.size() != in_b.literals.size())
    return true;
  if (!(a.opaque == b.opaque)) return false;
  const auto same_literal = [](const Expr* x, const Expr* y) {
    return x->integer == y->integer && (x->number == y->number || x->number != x->number);
  };
  const auto changes = [&](const Affine& place) {
    return std::any_of(place.terms.begin(), place.terms.end(), [&](const auto& term) {
      return a.indices[term.first].extent != b.indices[term.first].extent;
    });
  };
  const auto same_place = [&](const Affine* x, const Affine* y) {
    return *x == *y || changes(*x) || changes(*y);
  };
  return std::equal(in_a.literals.begin(), in_a.literals.end(), in_b.literals.begin(),
                    same_literal) &&
         std::equal(in_a.places.begin(), in_a.places.end(), in_b.places.begin(), same_place);
}

// Whether two values are not known to be different constants.
bool SameConstant(const OnnxValue& a, const OnnxValue& b) {
  const bool made = HasInitialValue(a.kind) && a.kind == b.kind && !a.stored && !b.stored &&
                    a.initial.kind == b.initial.kind && a.initial.data != nullptr &&
                    b.initial.data != nullptr;
  const bool comparable = a.dims == b.dims || a.initial.kind == compiler::InitialValue::kFill;
  return !made || !comparable || *a.initial.data == *b.initial.data;
}

absl::Status ComputesOther(const Use& use, const std::string& with) {
  return UserError(LabelOf(use), " computes with how many examples there are", with,
                   ", and a part has others than the step");
}

// Of two uses of the same node with the same description.
absl::Status CheckSame(const OnnxGraph& whole, const Use& use, const OnnxGraph& part,
                       const Use& other) {
  for (size_t s = 0; s < use.values.size(); ++s) {
    if (use.instance.slots[s].role != SlotRole::kOperand) continue;
    const int a = use.values[s], b = other.values[s];
    if (a < 0 || b < 0 || SameConstant(whole.values[a], part.values[b])) continue;
    const std::string& name = whole.values[a].name;
    return ComputesOther(use, name.empty() ? "" : absl::StrCat(", which is '", name, "'"));
  }
  for (size_t d = 0; d < use.instance.definitions.size(); ++d) {
    if (!SameNumbers(use.instance.definitions[d].definition,
                     other.instance.definitions[d].definition))
      return ComputesOther(use, "");
  }
  return absl::OkStatus();
}

bool SameForm(const Use* a, const Use* b) {
  return a->instance.op == b->instance.op && a->instance.slots.size() == b->instance.slots.size() &&
         a->instance.definitions.size() == b->instance.definitions.size();
}

// That the same nodes ran, those inside of others too: all of them have names.
absl::Status CheckSameNodes(const OnnxGraph& whole, const OnnxGraph& part) {
  for (const auto& [graph, other] :
       {std::make_pair(&whole, &part), std::make_pair(&part, &whole)}) {
    for (const auto& [name, v] : graph->by_name) {
      if (other->by_name.count(name) > 0) continue;
      return UserError("how many examples there are decides whether '", name,
                       "' is computed, and a part has others than the step");
    }
  }
  return absl::OkStatus();
}

// That what has no batch has the same size in both.
absl::Status CheckOtherSizes(const OnnxGraph& whole, const std::set<int>& in_whole,
                             const OnnxGraph& part, const std::set<int>& in_part) {
  int first = -1;
  for (const auto& [name, v] : part.by_name) {
    const int other = whole.by_name.at(name);
    const bool needed = in_whole.count(other) > 0 && in_part.count(v) > 0;
    if (!needed || part.at_batch.count(name) > 0 || whole.values[other].dims == part.values[v].dims)
      continue;
    if (first < 0 || v < first) first = v;
  }
  if (first < 0) return absl::OkStatus();
  return UserError(MakerOf(part, first), " makes '", part.values[first].name, "', ",
                   Text(part.values[first].dims), " in a part, with a size that is made of how ",
                   "many examples there are");
}

}  // namespace

absl::Status CheckSizesAtBatch(const OnnxGraph& graph) {
  int first = -1;
  std::vector<int64_t> expected;
  for (const auto& [name, value] : graph.at_batch) {
    const auto found = graph.by_name.find(name);
    if (found == graph.by_name.end() || graph.values[found->second].dims == value.dims) continue;
    if (first >= 0 && found->second >= first) continue;
    first = found->second;
    expected = value.dims;
  }
  if (first < 0) return absl::OkStatus();
  return UserError(MakerOf(graph, first), " makes '", graph.values[first].name, "' of ",
                   Text(graph.values[first].dims), ", where it would be of ", Text(expected),
                   " if only the batch changed: a number of examples is written into the node or ",
                   "computed, so that --batch or --micro-batches cannot change it");
}

absl::Status CheckSameAtBatch(const OnnxGraph& whole, const OnnxGraph& part) {
  YUBA_RETURN_IF_ERROR(CheckSameNodes(whole, part));
  const Needed in_whole = FindNeeded(whole), in_part = FindNeeded(part);
  YUBA_RETURN_IF_ERROR(CheckOtherSizes(whole, in_whole.values, part, in_part.values));
  for (const auto& [node, uses] : in_whole.uses) {
    const auto found = in_part.uses.find(node);
    if (found == in_part.uses.end()) continue;
    const std::vector<const Use*>& other = found->second;
    const bool mixes = std::any_of(uses.begin(), uses.end(),
                                   [](const Use* use) { return use->mixes != Use::Mixes::kNo; });
    // With a part of one example fewer things are to be done, and large constants are not folded.
    const bool same_form = uses.size() == other.size() &&
                           std::equal(uses.begin(), uses.end(), other.begin(), SameForm);
    for (size_t u = 0; u < uses.size() && same_form && !mixes; ++u)
      YUBA_RETURN_IF_ERROR(CheckSame(whole, *uses[u], part, *other[u]));
  }
  return absl::OkStatus();
}

}  // namespace yuba::onnx
