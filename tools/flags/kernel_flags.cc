#include "tools/flags/kernel_flags.h"

#include <CLI/CLI.hpp>

namespace yuba::tools {

void AddKernelFlags(CLI::App* command, KernelFlags& flags, const std::string& group) {
  command
      ->add_flag("--no-library", flags.no_library,
                 "generate code for contractions and convolutions too")
      ->group(group);
  command
      ->add_flag("--tf32", flags.tf32,
                 "libraries of GPUs may round operands of f32 to 10 bits of mantissa")
      ->group(group);
  command
      ->add_option("--layouts", flags.layouts,
                   "in which order the dimensions of tensors lie in memory: channels-last, "
                   "channels innermost round convolutions; auto: for GPUs, round those of bf16, "
                   "f16 and TF32")
      ->check(CLI::IsMember(kernels::MemoryOrderNames()))
      ->group(group);
  command
      ->add_option("--joint-calls", flags.joint_calls,
                   "which products of GPUs are one library call with a bias's gradient, or with "
                   "GELU or its gradient: all, none; auto: of bf16 and f16, with a bias's gradient")
      ->check(CLI::IsMember(kernels::JointCallsNames()))
      ->group(group);
  command
      ->add_flag("--no-overlap", flags.no_overlap,
                 "exchanges of GPUs run one after the other with the kernels, not beside them")
      ->group(group);
}

kernels::KernelChoice ChoiceOf(const KernelFlags& flags) {
  kernels::KernelChoice choice;
  choice.library = !flags.no_library;
  choice.tf32 = flags.tf32;
  choice.order = kernels::MemoryOrderOf(flags.layouts);
  choice.joint_calls = kernels::JointCallsOf(flags.joint_calls);
  choice.overlap = !flags.no_overlap;
  return choice;
}

}  // namespace yuba::tools
