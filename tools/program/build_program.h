// From model and plan to a program that runs, in one call: the compiler's phases after the plan.
// For all commands that print, run or write a program, and the tests.
#ifndef YUBA_TOOLS_PROGRAM_BUILD_PROGRAM_H_
#define YUBA_TOOLS_PROGRAM_BUILD_PROGRAM_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/model.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/program_file.h"
#include "search/plan/plan.h"

namespace yuba::tools {

// The program of `plan`, which is attached to the model's graph, with its arena, its code and its
// initial values. Takes seconds for large models, most of it in LLVM. With `verify` each phase's
// result is proved (compiler/phases.h); a proof that fails is Internal.
absl::StatusOr<program::Program> BuildProgram(const compiler::Model& model,
                                              const search::Plan& plan,
                                              const kernels::KernelChoice& choice, bool verify);

// The same, and the program's file as the phase `emit` writes it. Fails as WriteFile does
// (opsemantics/base/files.h). `values` says what becomes of weights that are in files.
struct WrittenProgram {
  program::Program program;
  int64_t file_bytes = 0;
};
absl::StatusOr<WrittenProgram> WriteProgram(const compiler::Model& model, const search::Plan& plan,
                                            const kernels::KernelChoice& choice, bool verify,
                                            runtime::FileValues values, const std::string& file);

// The same without code: what is there after the phase `memory`. Of `choice` only target.arithmetic
// is used.
absl::StatusOr<program::Program> BuildWithoutKernels(const compiler::Model& model,
                                                     const search::Plan& plan,
                                                     const kernels::KernelChoice& choice,
                                                     bool verify);

// The plan for one device, in which nothing is cut: what partitioned runs are compared with.
search::Plan WholePlan(const Graph& graph);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PROGRAM_BUILD_PROGRAM_H_
