#include "compiler/import/factors/build.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/refine.h"

namespace yuba::onnx {
namespace {

using DimFactors = std::vector<FactorList>;

// The factors of a slot's dimensions, and which flat dimensions of the definitions are dropped:
// those of extent 1 beside other factors.
struct SlotFactors {
  DimFactors dims;
  std::vector<bool> dropped;  // [flat dimension after refinement]
};

SlotFactors FactorsOfSlot(const Slot& slot, const std::vector<FactorList>& leaves) {
  SlotFactors result;
  size_t leaf = 0;
  for (const auto& dim : slot.dims) {
    FactorList factors;
    const size_t first = result.dropped.size();
    for (size_t f = 0; f < dim.size(); ++f, ++leaf) {
      const bool unit = dim[f] == 1;
      for (const int64_t factor : leaves[leaf]) {
        result.dropped.push_back(unit);
        if (!unit) factors.push_back(factor);
      }
    }
    if (factors.empty()) {  // all of them are 1: one stays
      factors.push_back(1);
      if (!dim.empty()) result.dropped[first] = false;
    }
    result.dims.push_back(std::move(factors));
  }
  return result;
}

std::vector<int64_t> Flat(const DimFactors& dims) {
  std::vector<int64_t> flat;
  for (const FactorList& factors : dims) flat.insert(flat.end(), factors.begin(), factors.end());
  return flat;
}

std::string Text(const DimFactors& dims) {
  return absl::StrCat("[",
                      absl::StrJoin(dims, ", ",
                                    [](std::string* out, const FactorList& f) {
                                      absl::StrAppend(out, f.size() == 1 ? "" : "(",
                                                      absl::StrJoin(f, " "),
                                                      f.size() == 1 ? "" : ")");
                                    }),
                      "]");
}

// Splits both dimensions where their factors from the left have multiplied to the same product:
// (32 32 3) and (16 8 8 3) become (32 32), 3 and (16 8 8), 3.
void CutWhereBothEnd(DimFactors* from, DimFactors* to) {
  DimFactors from_cut, to_cut;
  for (size_t d = 0; d < from->size(); ++d) {
    const FactorList &a = (*from)[d], &b = (*to)[d];
    size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
      FactorList left = {a[i++]}, right = {b[j++]};
      int64_t left_size = left[0], right_size = right[0];
      while (left_size != right_size) {
        YUBA_CHECK(left_size < right_size ? i < a.size() : j < b.size());
        if (left_size < right_size) {
          left.push_back(a[i]);
          left_size *= a[i++];
        } else {
          right.push_back(b[j]);
          right_size *= b[j++];
        }
      }
      from_cut.push_back(std::move(left));
      to_cut.push_back(std::move(right));
    }
  }
  *from = std::move(from_cut);
  *to = std::move(to_cut);
}

// y[(i j)] = pick(a: A, c: C where a*C + c == i*J + j) x[(a c)] wherever they differ.
Definition ReshapeDefinition(ElementType type, DimFactors from, DimFactors to) {
  CutWhereBothEnd(&from, &to);
  Definition definition;
  definition.name = "y";
  definition.operands = {TensorType{type, Flat(from)}};
  definition.result = TensorType{type, Flat(to)};
  definition.reducer = Reducer::kPick;
  auto read = std::make_shared<Expr>();
  read->kind = Expr::kRead;
  read->type = type;
  read->operand = 0;
  // Output indices first: all dimensions of `to`.
  std::vector<std::vector<int>> to_indices;
  for (const FactorList& factors : to) {
    to_indices.emplace_back();
    for (const int64_t factor : factors) {
      to_indices.back().push_back(factor == 1 ? -1 : static_cast<int>(definition.indices.size()));
      definition.left.push_back(factor == 1 ? ConstantAffine(0)
                                            : IndexAffine(to_indices.back().back()));
      if (factor != 1)
        definition.indices.push_back({absl::StrCat("i", definition.indices.size()), factor, false});
    }
  }
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] == to[d]) {
      for (const int index : to_indices[d])
        read->position.push_back(index < 0 ? ConstantAffine(0) : IndexAffine(index));
      continue;
    }
    Constraint same;
    same.equality = true;
    for (const int64_t factor : from[d]) {
      const int index = static_cast<int>(definition.indices.size());
      definition.indices.push_back({absl::StrCat("a", index), factor, true});
      read->position.push_back(IndexAffine(index));
    }
    int64_t stride = 1;
    const size_t end = read->position.size();
    for (size_t f = from[d].size(); f-- > 0; stride *= from[d][f])
      same.expression = same.expression + read->position[end - from[d].size() + f] * stride;
    stride = 1;
    for (size_t f = to[d].size(); f-- > 0; stride *= to[d][f]) {
      if (to_indices[d][f] >= 0)
        same.expression = same.expression - IndexAffine(to_indices[d][f]) * stride;
    }
    definition.where.push_back(std::move(same));
  }
  definition.body = read;
  return definition;
}

class Builder {
 public:
  Builder(const OnnxGraph& graph, const Factors& factors, compiler::Model& model)
      : graph_(graph), factors_(factors), model_(model), tensor_of_(graph.values.size(), -1) {}

  std::vector<TensorId> Build() {
    model_.graph.entries = graph_.entries;
    model_.graph.no_batch = graph_.no_batch;
    for (const OnnxValue& value : graph_.values) names_.insert(value.name);
    for (const int input : graph_.inputs) model_.graph.inputs.push_back(TensorOf(input));
    for (size_t u = 0; u < graph_.uses.size(); ++u) AddUse(static_cast<int>(u));
    for (const int output : graph_.outputs) model_.graph.outputs.push_back(TensorOf(output));
    for (const std::pair<int, std::vector<TensorId>>& use : with_gradients_)
      AddGradientRule(graph_.uses[use.first].instance.slots, use.second);
    Link(model_.graph);
    CheckGraph(model_.graph);
    return tensor_of_;
  }

 private:
  std::string UniqueName(const std::string& base) {
    std::string name = base;
    for (int i = 2; !names_.insert(name).second; ++i) name = absl::StrCat(base, "#", i);
    return name;
  }

  TensorId AddTensor(const std::string& name, TensorKind kind, ElementType type,
                     const DimFactors& dims) {
    Tensor tensor;
    tensor.name = name;
    tensor.kind = kind;
    tensor.type = TensorType{type, Flat(dims)};
    tensor.dims = dims;
    model_.graph.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(model_.graph.tensors.size()) - 1;
  }

  // Of a value that the file does not name. States without a name are streams of random numbers.
  std::string BaseName(TensorKind kind) const {
    if (kind == TensorKind::kActivation) return base_;
    return kind == TensorKind::kState ? base_ + "/stream" : "constant";
  }

  TensorId TensorOf(int id) {
    if (tensor_of_[id] >= 0) return tensor_of_[id];
    const OnnxValue& value = graph_.values[id];
    const std::string name = value.name.empty() ? UniqueName(BaseName(value.kind)) : value.name;
    tensor_of_[id] = AddTensor(name, value.kind, value.type, factors_.values[id]);
    model_.graph.tensors[tensor_of_[id]].dim_names = value.dim_names;
    model_.graph.tensors[tensor_of_[id]].batch_dim = value.batch_dim;
    if (HasInitialValue(value.kind)) model_.values[tensor_of_[id]] = value.initial;
    return tensor_of_[id];
  }

  void AddNode(Definition definition, std::vector<TensorId> operands, TensorId result,
               const std::string& op, const std::string& from) {
    Node node;
    node.name = model_.graph.tensors[result].name;
    node.op = op;
    node.from = from;
    node.instance = instance_;
    node.entry = entry_;
    node.operands = std::move(operands);
    node.result = result;
    NormalizeOperands(node.operands, definition);
    node.definition = std::make_shared<const Definition>(std::move(definition));
    model_.graph.nodes.push_back(std::move(node));
  }

  // The value in other factors: a tensor that a reshape computes, one for all readers of an entry
  // that want it.
  TensorId Reshaped(int value, const DimFactors& dims) {
    auto [found, inserted] = reshapes_.emplace(std::make_tuple(entry_, value, dims), -1);
    if (!inserted) return found->second;
    const TensorId from = TensorOf(value);
    const Tensor tensor = model_.graph.tensors[from];
    found->second = AddTensor(UniqueName(tensor.name + "/reshape"), TensorKind::kActivation,
                              tensor.type.type, dims);
    AddReshape(from, found->second);
    return found->second;
  }

  void AddReshape(TensorId from, TensorId to) {
    const Tensor& a = model_.graph.tensors[from];
    const Tensor& b = model_.graph.tensors[to];
    model_.notes.push_back(absl::StrCat("reshape of ", a.name, ": ", Text(a.dims), " as ",
                                        Text(b.dims), " (", from_, ")"));
    AddNode(ReshapeDefinition(a.type.type, a.dims, b.dims), {from}, to, "reshape", from_);
  }

  void AddUse(int u) {
    const Use& use = graph_.uses[u];
    instance_ = u;
    entry_ = use.entry;
    from_ = use.from;
    NameAfter(use);
    std::vector<SlotFactors> slots;
    std::vector<TensorId> tensors;
    std::vector<std::pair<TensorId, int>> reshaped;  // a result in other factors, and its value
    for (size_t s = 0; s < use.instance.slots.size(); ++s) {
      const Slot& slot = use.instance.slots[s];
      slots.push_back(FactorsOfSlot(slot, factors_.leaves[u][s]));
      const DimFactors& dims = slots.back().dims;
      const int value = use.values[s];
      if (slot.role == SlotRole::kOutputGradient) {
        tensors.push_back(AddTensor(UniqueName(absl::StrCat(base_, "/", slot.name)),
                                    TensorKind::kInput, slot.type, dims));
      } else if (value < 0) {
        tensors.push_back(AddTensor(UniqueName(absl::StrCat(base_, "/", slot.name)),
                                    TensorKind::kActivation, slot.type, dims));
      } else if (dims == factors_.values[value]) {
        tensors.push_back(TensorOf(value));
      } else if (slot.role == SlotRole::kOperand) {
        tensors.push_back(Reshaped(value, dims));
      } else {
        tensors.push_back(AddTensor(UniqueName(absl::StrCat(base_, "/", slot.name)),
                                    TensorKind::kActivation, slot.type, dims));
        reshaped.push_back({tensors.back(), value});
      }
    }
    for (const SlotDefinition& step : use.instance.definitions)
      AddStep(use, u, step, slots, tensors);
    for (const auto& [tensor, value] : reshaped) AddReshape(tensor, TensorOf(value));
    const std::vector<Slot>& all = use.instance.slots;
    const auto is_gradient = [](const Slot& slot) { return IsGradient(slot); };
    if (std::any_of(all.begin(), all.end(), is_gradient)) with_gradients_.push_back({u, tensors});
  }

  // `tensors` are those of the slots.
  void AddGradientRule(const std::vector<Slot>& slots, const std::vector<TensorId>& tensors) {
    Graph& graph = model_.graph;
    compiler::GradientRule rule;
    rule.first_input = static_cast<int>(graph.inputs.size());
    rule.first_output = static_cast<int>(graph.outputs.size());
    const auto add = [](TensorId tensor, std::vector<TensorId>& list) {
      list.push_back(tensor);
      return static_cast<int>(list.size()) - 1;
    };
    std::map<std::pair<SlotRole, int>, int> gradient;  // by role and position
    for (size_t s = 0; s < slots.size(); ++s) {
      if (!IsGradient(slots[s])) continue;
      const bool given = slots[s].role == SlotRole::kOutputGradient;
      gradient[{slots[s].role, slots[s].position}] =
          add(tensors[s], given ? graph.inputs : graph.outputs);
    }
    for (size_t s = 0; s < slots.size(); ++s) {
      const bool operand = slots[s].role == SlotRole::kOperand;
      if (!operand && slots[s].role != SlotRole::kOutput) continue;
      const SlotRole of = operand ? SlotRole::kOperandGradient : SlotRole::kOutputGradient;
      const auto found = gradient.find({of, slots[s].position});
      const int position = found == gradient.end() ? -1 : found->second;
      const compiler::GradientRule::Pair pair = {add(tensors[s], graph.outputs), position};
      if (operand) rule.operands.push_back(pair);
      if (!operand && position >= 0) rule.outputs.push_back(pair);
    }
    model_.gradient_rules.push_back(std::move(rule));
  }

  // Internal tensors are named after the first output.
  void NameAfter(const Use& use) {
    base_ = use.instance.op;
    for (size_t s = 0; s < use.values.size(); ++s) {
      if (use.instance.slots[s].role != SlotRole::kOutput) continue;
      const std::string& name = graph_.values[use.values[s]].name;
      base_ = name.empty() ? use.from + "/" + use.instance.op : name;
      return;
    }
  }

  void AddStep(const Use& use, int u, const SlotDefinition& step,
               const std::vector<SlotFactors>& slots, const std::vector<TensorId>& tensors) {
    Refinement refinement;
    std::vector<std::vector<bool>> drop;
    std::vector<TensorId> operands;
    for (const int slot : step.operands) {
      refinement.operands.push_back(factors_.leaves[u][slot]);
      drop.push_back(slots[slot].dropped);
      operands.push_back(tensors[slot]);
    }
    refinement.result = factors_.leaves[u][step.result];
    drop.push_back(slots[step.result].dropped);
    Definition definition = Refine(step.definition, refinement);
    DropUnitDims(definition, drop);
    AddNode(std::move(definition), std::move(operands), tensors[step.result], use.instance.op,
            use.from);
  }

  const OnnxGraph& graph_;
  const Factors& factors_;
  compiler::Model& model_;
  std::vector<TensorId> tensor_of_;
  std::set<std::string> names_;
  std::map<std::tuple<int, int, DimFactors>, TensorId> reshapes_;  // by entry, value and factors
  std::vector<std::pair<int, std::vector<TensorId>>> with_gradients_;  // a use, and [slot]
  std::string base_, from_;
  int instance_ = 0, entry_ = 0;
};

}  // namespace

std::vector<TensorId> BuildGraph(const OnnxGraph& graph, const Factors& factors,
                                 compiler::Model& model) {
  return Builder(graph, factors, model).Build();
}

}  // namespace yuba::onnx
