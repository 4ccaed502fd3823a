// FreeBuffers of convolution.h.
#include <numeric>

#include "runtime/host/convolution.h"

namespace yuba::runtime {
namespace {

class Finder {
 public:
  Finder(const LoadedProgram& program, const OneDnn& library)
      : program_(program),
        library_(library),
        free_(program.message().buffers_size(), true),
        writers_(free_.size(), 0),
        readers_(free_.size(), 0),
        format_(free_.size(), nullptr) {}

  BufferFormats Run(const std::map<int, const ConvolutionKernel*>& kernels) {
    ExcludePorts();
    for (int i = 0; i < program_.instructions().size(); ++i) {
      const program::Instruction& instruction = program_.instructions()[i];
      if (instruction.has_exchange()) {
        free_[instruction.exchange().source()] = false;
        free_[instruction.exchange().destination()] = false;
        continue;
      }
      const auto convolution = kernels.find(i);
      if (convolution == kernels.end()) {
        Exclude(instruction.kernel().operands());
        Exclude(instruction.kernel().results());
        continue;
      }
      calls_.push_back({convolution->second, convolution->second->Touches()});
    }
    for (const Call& call : calls_) Look(call.touches);
    for (size_t b = 0; b < free_.size(); ++b)
      free_[b] = free_[b] && writers_[b] == 1 && readers_[b] > 0;
    BufferFormats formats;
    formats.blocked = Blocked();
    formats.free = std::move(free_);
    return formats;
  }

 private:
  struct Call {
    const ConvolutionKernel* kernel;
    std::vector<ConvolutionKernel::Touch> touches;
  };

  void ExcludePorts() {
    const program::Program& message = program_.message();
    for (int b = 0; b < message.buffers_size(); ++b) {
      if (message.buffers(b).initialized()) free_[b] = false;
    }
    for (const program::Port& port : message.inputs()) free_[port.buffer()] = false;
    for (const program::Port& port : message.outputs()) free_[port.buffer()] = false;
    for (const program::Initializer& value : message.parameters())
      free_[value.port().buffer()] = false;
  }

  template <typename Accesses>
  void Exclude(const Accesses& accesses) {
    for (const program::Access& access : accesses) free_[access.buffer()] = false;
  }

  void Look(const std::vector<ConvolutionKernel::Touch>& touches) {
    for (const ConvolutionKernel::Touch& touch : touches) {
      const dnnl_memory_desc_t*& format = format_[touch.buffer];
      if (format == nullptr) format = &touch.plain;
      const bool same = library_.memory_desc_equal(format, &touch.plain) != 0;
      if (!touch.whole || !same) free_[touch.buffer] = false;
      ++(touch.writes ? writers_ : readers_)[touch.buffer];
    }
  }

  int GroupOf(int buffer) {
    while (group_[buffer] != buffer) buffer = group_[buffer] = group_[group_[buffer]];
    return buffer;
  }

  // Free buffers that one call touches are one group, which is blocked or not.
  std::vector<bool> Blocked() {
    group_.resize(free_.size());
    std::iota(group_.begin(), group_.end(), 0);
    const auto each = [&](const Call& call, const auto& visit) {
      for (const ConvolutionKernel::Touch& touch : call.touches) {
        if (free_[touch.buffer]) visit(touch);
      }
    };
    for (const Call& call : calls_) {
      int first = -1;
      each(call, [&](const ConvolutionKernel::Touch& touch) {
        if (first < 0) first = touch.buffer;
        group_[GroupOf(touch.buffer)] = GroupOf(first);
      });
    }
    std::vector<bool> residual(free_.size()), taken(free_.size(), true);  // [group]
    for (const Call& call : calls_) {
      bool takes = true, asked = false;
      each(call, [&](const ConvolutionKernel::Touch& touch) {
        if (!asked) takes = call.kernel->TakesBlocks();
        asked = true;
        const int group = GroupOf(touch.buffer);
        taken[group] = taken[group] && takes;
        residual[group] = residual[group] || touch.residual;
      });
    }
    std::vector<bool> blocked(free_.size());
    for (size_t b = 0; b < free_.size(); ++b) {
      const int group = GroupOf(static_cast<int>(b));
      blocked[b] = free_[b] && residual[group] && taken[group];
    }
    return blocked;
  }

  const LoadedProgram& program_;
  const OneDnn& library_;
  std::vector<bool> free_;                         // [buffer]
  std::vector<int> writers_, readers_;             // [buffer]
  std::vector<const dnnl_memory_desc_t*> format_;  // [buffer], of `calls_`
  std::vector<Call> calls_;
  std::vector<int> group_;  // [buffer]: another buffer of its group, or itself
};

}  // namespace

BufferFormats FreeBuffers(const LoadedProgram& program, const OneDnn& library,
                          const std::map<int, const ConvolutionKernel*>& kernels) {
  return Finder(program, library).Run(kernels);
}

}  // namespace yuba::runtime
