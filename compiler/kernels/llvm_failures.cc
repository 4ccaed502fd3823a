#include "compiler/kernels/llvm_failures.h"

#include <unistd.h>

#include <cstdio>

#include "llvm/Support/ErrorHandling.h"

namespace yuba::kernels {
namespace {

constexpr int kFailed = 3;  // the exit code of all commands

void OnLackOfMemory() {
  std::fputs("yuba: out of memory while kernels were generated\n", stderr);
  _exit(kFailed);
}

// Of malloc, which LLVM calls too; also within lld, which runs later and without an LlvmFailures.
void OnLackOfMemoryInLlvm(void* /*data*/, const char* /*reason*/, bool /*crash*/) {
  if (const std::new_handler handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

void OnFault(void* /*data*/, const char* reason, bool /*crash*/) {
  std::fprintf(stderr, "yuba: internal fault: LLVM: %s\n", reason);
  _exit(kFailed);
}

}  // namespace

LlvmFailures::LlvmFailures() : before_(std::set_new_handler(OnLackOfMemory)) {
  static const bool installed = [] {
    llvm::install_bad_alloc_error_handler(OnLackOfMemoryInLlvm);
    llvm::install_fatal_error_handler(OnFault);
    return true;
  }();
  (void)installed;
}

LlvmFailures::~LlvmFailures() { std::set_new_handler(before_); }

}  // namespace yuba::kernels
