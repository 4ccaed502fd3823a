#include "compiler/kernels/argument_layout.h"

#include <algorithm>
#include <map>

#include "opsemantics/base/check.h"

namespace yuba::kernels {

ArgumentLayout::ArgumentLayout(const NamedKernel& kernel) {
  std::map<int, int> read, written;  // number -> rank
  const NamedKernel& whole = kernel.whole != nullptr ? *kernel.whole : kernel;
  for (const KernelDefinition& each : whole.definitions) {
    for (const int index : each.indices) indices = std::max(indices, index + 1);
    const auto add = [&](const KernelTensor& tensor, const TensorType& type) {
      if (tensor.kind == KernelTensor::kInternal) return;
      const int rank = static_cast<int>(type.dims.size());
      (tensor.kind == KernelTensor::kOperand ? read : written)[tensor.number] = rank;
    };
    for (size_t o = 0; o < each.operands.size(); ++o)
      add(each.operands[o], each.definition->operands[o]);
    add(each.computes, each.definition->result);
  }
  operands = static_cast<int>(read.size());
  for (const auto& [number, rank] : read) ranks.push_back(rank);
  for (const auto& [number, rank] : written) ranks.push_back(rank);
}

int ArgumentLayout::NumberOf(const KernelTensor& tensor) const {
  YUBA_CHECK(tensor.kind != KernelTensor::kInternal) << tensor.number;
  return tensor.kind == KernelTensor::kOperand ? tensor.number : operands + tensor.number;
}

int ArgumentLayout::BoxArgument(const KernelTensor& tensor) const {
  int slot = 2 * indices;
  for (int i = 0; i < NumberOf(tensor); ++i) slot += 2 * ranks[i];
  return slot;
}

}  // namespace yuba::kernels
