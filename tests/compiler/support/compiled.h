// Programs with kernels, for runs on virtual devices.
#ifndef YUBA_TESTS_COMPILER_SUPPORT_COMPILED_H_
#define YUBA_TESTS_COMPILER_SUPPORT_COMPILED_H_

#include "compiler/model.h"
#include "compiler/spmd/spmd.h"
#include "opsemantics/oracle/scalar.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

// The program of the model under the plan, for the host, with offsets, marked collectives and code;
// contractions and convolutions are library calls where `library` says so. `layouts` as in
// MakeSpmdProgram.
program::Program CompiledProgram(const Model& model, const search::Plan& plan,
                                 Arithmetic arithmetic, bool library, Joins joins = Joins::kAll,
                                 const Layouts& layouts = {});

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_SUPPORT_COMPILED_H_
