// What one generated function computes: the definitions of a function of a program
// (runtime/program/program.proto), and which tensor of the kernel each operand and result is.
//
// Example: m[i] = 0.9*m[i] + g[i] and w[i] = w[i] - 0.1*m[i] in one function with the operands m, g
// and w and the results m and w. The second definition reads operand 2 and result 0. Operand 0 is
// overwritten by result 0, operand 2 by result 1.
#ifndef YUBA_COMPILER_KERNELS_NAMED_KERNEL_H_
#define YUBA_COMPILER_KERNELS_NAMED_KERNEL_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "opsemantics/definition/definition.h"
#include "runtime/program/tables.h"

namespace yuba::kernels {

struct KernelTensor {
  enum Kind { kOperand, kResult, kInternal };
  Kind kind = kOperand;
  int number = 0;  // among the kernel's operands, results or internal tensors
  friend bool operator==(const KernelTensor& a, const KernelTensor& b) {
    return a.kind == b.kind && a.number == b.number;
  }
};

struct KernelDefinition {
  const Definition* definition = nullptr;  // not owned; must outlive the kernel
  std::vector<int> indices;                // [index]: its position among the kernel's indices
  std::vector<KernelTensor> operands;      // [operand]
  KernelTensor computes;                   // a result or an internal tensor
};

// What is known of an argument of a kernel (runtime/program/kernel_abi.h) in all launches: it is
// argument[base] + offset, or `offset` where base is -1.
struct KnownArgument {
  int base = -1;
  int64_t offset = 0;
  friend bool operator==(const KnownArgument& a, const KnownArgument& b) {
    return a.base == b.base && a.offset == b.offset;
  }
};
// [slot]. What nothing is known of is itself, {slot, 0}; no base is known by another one.
using KnownArguments = std::vector<KnownArgument>;

struct NamedKernel {
  std::string symbol;                         // a C identifier, unique among the kernels
  std::vector<KernelDefinition> definitions;  // at least one
  // Two or more, where the definitions have nothing to do with each other: each is a kernel of its
  // own (SectionOf) with the arguments of this one. Empty: all definitions belong together.
  std::vector<program::Section> sections;
  // The leading indices of every definition, which are the kernel's: loops over them are outside of
  // all others, and inside of them the definitions are computed one after the other. 0 for one
  // definition.
  int shared = 0;
  // [operand]: the result that lies in the same buffer, or -1. An empty list: none does.
  std::vector<int> overwritten_by;
  // Whether indices outside of their extents are noted (runtime/program/kernel_abi.h).
  bool checks_indices = false;
  // Calls differ in which operands lie where results do, so nothing may be assumed.
  bool may_alias = false;
  // Empty: nothing is known. GPUs' code is made for what is known.
  KnownArguments known = {};
  // Of a section: the kernel whose arguments it has; not owned. Null: it has its own.
  const NamedKernel* whole = nullptr;
};

// The definitions of one section of `kernel`, which must outlive it.
inline NamedKernel SectionOf(const NamedKernel& kernel, size_t number) {
  const program::Section& section = kernel.sections[number];
  NamedKernel part = kernel;
  part.symbol += "_s" + std::to_string(number);
  part.definitions.assign(kernel.definitions.begin() + section.begin,
                          kernel.definitions.begin() + section.end);
  part.sections.clear();
  part.shared = section.shared;
  part.whole = &kernel;
  return part;
}

// The kernel of one definition, which must outlive it; its operands are the kernel's, in order.
inline NamedKernel Alone(std::string symbol, const Definition& definition) {
  KernelDefinition only;
  only.definition = &definition;
  for (size_t i = 0; i < definition.indices.size(); ++i)
    only.indices.push_back(static_cast<int>(i));
  for (size_t o = 0; o < definition.operands.size(); ++o)
    only.operands.push_back({KernelTensor::kOperand, static_cast<int>(o)});
  only.computes = {KernelTensor::kResult, 0};
  NamedKernel kernel;
  kernel.symbol = std::move(symbol);
  kernel.definitions.push_back(std::move(only));
  return kernel;
}

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_NAMED_KERNEL_H_
