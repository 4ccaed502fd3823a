// FreeBuffers of convolution.h.
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

  std::vector<bool> Run(const std::map<int, const ConvolutionKernel*>& kernels) {
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
      touches_.push_back(convolution->second->Touches());
    }
    for (const auto& touches : touches_) Look(touches);
    for (size_t b = 0; b < free_.size(); ++b)
      free_[b] = free_[b] && writers_[b] == 1 && readers_[b] > 0;
    return std::move(free_);
  }

 private:
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

  const LoadedProgram& program_;
  const OneDnn& library_;
  std::vector<bool> free_;                                      // [buffer]
  std::vector<int> writers_, readers_;                          // [buffer]
  std::vector<const dnnl_memory_desc_t*> format_;               // [buffer], of `touches_`
  std::vector<std::vector<ConvolutionKernel::Touch>> touches_;  // [convolution]
};

}  // namespace

std::vector<bool> FreeBuffers(const LoadedProgram& program, const OneDnn& library,
                              const std::map<int, const ConvolutionKernel*>& kernels) {
  return Finder(program, library).Run(kernels);
}

}  // namespace yuba::runtime
