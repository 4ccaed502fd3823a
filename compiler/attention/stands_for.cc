#include "compiler/attention/stands_for.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "compiler/calls/kernel_parts.h"
#include "runtime/program/enums.h"

namespace yuba::compiler {
namespace {

class Adder {
 public:
  Adder(const Graph& graph, program::Program& program)
      : graph_(graph), program_(program), parts_(graph, program) {}

  void Add(const Attention& attention) {
    const absl::optional<Part> forward = parts_.Gather(attention.forward);
    if (!forward.has_value()) return;
    absl::optional<Part> backward = Part{};
    if (attention.HasBackward()) backward = parts_.Gather(attention.backward);
    if (!backward.has_value() || !AreSound(attention, *forward, *backward)) return;
    program::Attention message = MessageOf(attention);
    message.set_forward_begin(forward->begin);
    message.set_forward_end(forward->end);
    message.set_backward_begin(backward->begin);
    message.set_backward_end(backward->end);
    if (!MarkSubstitutes(*forward, *backward)) return;
    if (attention.HasBackward()) message.set_row_sums(AddRowSums(attention));
    *program_.add_attention() = std::move(message);
  }

 private:
  // Whether the contractions begin their kernels, and those whose results others read are all of
  // them.
  bool AreSound(const Attention& attention, const Part& forward, const Part& backward) const {
    for (int step = 0; step < program::kAttentionSteps; ++step) {
      const NodeId node = attention.products[step].node;
      if (node < 0) continue;
      const bool may_go_on = step == program::kScores || step == program::kWeightGradients;
      const program::Kernel& kernel = parts_.KernelAt(node);
      if (kernel.node(0) != graph_.nodes[node].name || (!may_go_on && kernel.node_size() > 1))
        return false;
    }
    return backward.begin == backward.end || forward.end <= backward.begin;
  }

  // The buffers that only these kernels use, unless each device reads of one what it writes there.
  bool MarkSubstitutes(const Part& forward, const Part& backward) {
    std::map<int, const program::Box*> boxes;  // by buffer
    bool equal = true;
    const auto within = [](const Part& part, int i) { return part.begin <= i && i < part.end; };
    const std::set<int> others = UsedOutside(forward, backward);
    for (int i = 0; i < program_.instructions_size(); ++i) {
      if (!within(forward, i) && !within(backward, i)) continue;
      const auto visit = [&](const program::Access& access) {
        if (others.count(access.buffer()) != 0) return;
        const auto [known, is_new] = boxes.emplace(access.buffer(), &access.box());
        equal &= is_new || known->second->SerializeAsString() == access.box().SerializeAsString();
      };
      for (const auto& operand : program_.instructions(i).kernel().operands()) visit(operand);
      for (const auto& result : program_.instructions(i).kernel().results()) visit(result);
    }
    if (!equal) return false;
    for (const auto& [buffer, box] : boxes) program_.mutable_buffers(buffer)->set_substitute(true);
    return true;
  }

  std::set<int> UsedOutside(const Part& forward, const Part& backward) const {
    std::set<int> used;
    for (int i = 0; i < program_.instructions_size(); ++i) {
      if ((forward.begin <= i && i < forward.end) || (backward.begin <= i && i < backward.end))
        continue;
      const Uses uses = UsesOf(program_.instructions(i));
      used.insert(uses.reads.begin(), uses.reads.end());
      used.insert(uses.writes.begin(), uses.writes.end());
    }
    for (int b = 0; b < program_.buffers_size(); ++b) {
      if (program_.buffers(b).initialized()) used.insert(b);
    }
    for (const program::Port& port : program_.outputs()) used.insert(port.buffer());
    return used;
  }

  // The index of the kernel of the scores that runs along one of their dimensions.
  int IndexOf(const Attention& attention, int dim) const {
    const NodeId scores = attention.NodeOf(program::kScores);
    const int index = graph_.nodes[scores].definition->left[dim].BareIndex();
    return program_.functions(parts_.KernelAt(scores).function()).definitions(0).indices(index);
  }

  // The contraction is the first definition of its kernel.
  program::AttentionProduct MessageOf(const Attention& attention,
                                      const AttentionProduct& product) const {
    program::AttentionProduct message;
    message.set_instruction(parts_.KernelOf(product.node));
    const program::Kernel& kernel = parts_.KernelAt(product.node);
    const auto& definition = program_.functions(kernel.function()).definitions(0);
    const std::vector<TensorId>& operands = graph_.nodes[product.node].operands;
    const auto factor = std::find(operands.begin(), operands.end(), product.factor);
    message.set_factor(definition.operands(static_cast<int>(factor - operands.begin())).operand());
    message.mutable_indices()->Resize(kernel.indices_size(), -1);
    for (size_t i = 0; i < product.dims.size(); ++i) {
      if (product.dims[i] < 0) continue;
      message.set_indices(definition.indices(static_cast<int>(i)),
                          IndexOf(attention, product.dims[i]));
    }
    return message;
  }

  program::Attention MessageOf(const Attention& attention) const {
    program::Attention message;
    for (const AttentionProduct& product : attention.products) {
      if (product.node >= 0) *message.add_products() = MessageOf(attention, product);
    }
    message.set_scale(attention.scale);
    const AttentionMask& mask = attention.mask;
    if (mask.causal) {
      message.set_causal(true);
      message.set_query_index(IndexOf(attention, mask.query_dim));
      message.set_key_index(IndexOf(attention, mask.key_dim));
      message.set_offset(mask.offset);
      message.set_hidden(mask.hidden);
    }
    if (mask.bias < 0) return message;
    message.set_has_bias(true);
    message.set_bias(BufferOf(attention.forward, mask.bias));
    for (const int dim : mask.bias_dims)
      message.add_bias_indices(dim < 0 ? -1 : IndexOf(attention, dim));
    return message;
  }

  // The buffer from which the kernel of one of these nodes reads the tensor or a copy of it.
  int BufferOf(const std::vector<NodeId>& nodes, TensorId tensor) const {
    for (const NodeId node : nodes) {
      const std::vector<TensorId>& operands = graph_.nodes[node].operands;
      const auto found = std::find_if(operands.begin(), operands.end(), [&](TensorId operand) {
        return SourceOf(graph_, operand) == tensor;
      });
      if (found == operands.end()) continue;
      const program::Kernel& kernel = parts_.KernelAt(node);
      const auto& names = kernel.node();
      const auto definition = static_cast<int>(
          std::find(names.begin(), names.end(), graph_.nodes[node].name) - names.begin());
      const int operand = static_cast<int>(found - operands.begin());
      const program::Function& function = program_.functions(kernel.function());
      return kernel.operands(function.definitions(definition).operands(operand).operand()).buffer();
    }
    return -1;
  }

  // A buffer for what the first call leaves for the second, of which each device has its queries.
  int AddRowSums(const Attention& attention) {
    const NodeId node = attention.NodeOf(program::kScores);
    const Definition& definition = *graph_.nodes[node].definition;
    const program::Kernel& scores = parts_.KernelAt(node);
    program::Buffer& buffer = *program_.add_buffers();
    buffer.set_name(
        absl::StrCat("row_sums(", graph_.nodes[attention.NodeOf(program::kValues)].name, ")"));
    buffer.set_type(ToProto(ElementType::kF32));
    const std::vector<int>& keys = attention.key_dims;
    for (int d = 0; d < static_cast<int>(definition.left.size()); ++d) {
      const int index = definition.left[d].BareIndex();
      if (index < 0 || std::find(keys.begin(), keys.end(), d) != keys.end()) continue;
      buffer.add_dims(definition.indices[index].extent);
      *buffer.mutable_box()->add_dims() = scores.indices(IndexOf(attention, d));
    }
    return program_.buffers_size() - 1;
  }

  const Graph& graph_;
  program::Program& program_;
  KernelParts parts_;
};

}  // namespace

void AddAttention(const Graph& graph, const std::vector<Attention>& attention,
                  program::Program& program) {
  Adder adder(graph, program);
  for (const Attention& each : attention) adder.Add(each);
}

}  // namespace yuba::compiler
