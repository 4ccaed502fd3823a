#include "runtime/model/on_chip.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "opsemantics/base/box.h"
#include "runtime/program/tables.h"
#include "runtime/program/work.h"

namespace yuba::runtime {
namespace {

class Finder {
 public:
  explicit Finder(const LoadedProgram& program)
      : program_(program), may_(program.message().buffers_size(), true), on_chip_(may_.size()) {
    const program::Program& message = program.message();
    for (size_t b = 0; b < may_.size(); ++b) {
      if (message.buffers(static_cast<int>(b)).initialized()) may_[b] = false;
    }
    for (const program::Port& port : message.inputs()) may_[port.buffer()] = false;
    for (const program::Port& port : message.outputs()) may_[port.buffer()] = false;
    for (const program::Initializer& value : message.parameters())
      may_[value.port().buffer()] = false;
    for (const program::Instruction& instruction : program.instructions()) {
      if (!instruction.has_exchange()) continue;
      may_[instruction.exchange().source()] = false;
      may_[instruction.exchange().destination()] = false;
    }
  }

  // Kernels come in the order in which they run, so that scores are known before their readers.
  std::vector<bool> Run() {
    for (const program::Instruction& instruction : program_.instructions()) {
      if (instruction.has_kernel()) Visit(instruction.kernel());
    }
    return std::move(on_chip_);
  }

 private:
  void Visit(const program::Kernel& kernel) {
    const program::Function& function = program_.message().functions(kernel.function());
    const bool product =
        program::KernelClassOf(program_.message(), kernel) == KernelClass::kProduct;
    const bool scores = product && function.has_library() && function.library().batch_size() > 0 &&
                        !kernel.results().empty() &&
                        ElementsOf(kernel.results(0)) > ElementsOfOperands(kernel);
    const int64_t least = product ? 0 : LargestOnChip(kernel);
    for (const program::Access& result : kernel.results()) {
      const bool map_of_scores = least > 0 && ElementsOf(result) >= least;
      on_chip_[result.buffer()] = may_[result.buffer()] && (scores || map_of_scores);
    }
  }

  // On the first device: parts differ by one element at most.
  int64_t ElementsOf(const program::Access& access) const {
    return Volume(program::BoxOn(program_.mesh(), access.box(), 0));
  }

  int64_t ElementsOfOperands(const program::Kernel& kernel) const {
    int64_t elements = 0;
    for (const program::Access& operand : kernel.operands()) elements += ElementsOf(operand);
    return elements;
  }

  // Elements of the largest operand that is on the chip; 0: none is.
  int64_t LargestOnChip(const program::Kernel& kernel) const {
    int64_t largest = 0;
    for (const program::Access& operand : kernel.operands()) {
      if (on_chip_[operand.buffer()]) largest = std::max(largest, ElementsOf(operand));
    }
    return largest;
  }

  const LoadedProgram& program_;
  std::vector<bool> may_;      // [buffer]
  std::vector<bool> on_chip_;  // [buffer]
};

}  // namespace

std::vector<bool> OnChip(const LoadedProgram& program) { return Finder(program).Run(); }

}  // namespace yuba::runtime
