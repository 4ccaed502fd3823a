// One compilation: what was asked for, and what the phases have made of it so far.
#ifndef YUBA_COMPILER_COMPILATION_H_
#define YUBA_COMPILER_COMPILATION_H_

#include <string>

#include "absl/types/optional.h"
#include "compiler/import/onnx.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/model.h"
#include "runtime/program/program.pb.h"
#include "search/file/plan_file.h"
#include "search/plan/plan.h"
#include "search/search.h"

namespace yuba::compiler {

struct CompileRequest {
  std::string model_file;
  onnx::ImportOptions import;
  search::SearchOptions search;
  bool flat_too = false;  // also without factors; the cheaper plan, and its model, stay
  absl::optional<search::PlanFile> plan;  // where there is one already; nothing is searched then
  search::PlanNotes expected;             // what that file must agree with
  kernels::KernelChoice kernels;          // kernels.target.arithmetic is the whole program's
  std::string version;                    // of the tool, for the program
  std::string output_file;                // the program; empty: it is not written
};

struct Compilation {
  CompileRequest request;
  Model model;        // from import on; its graph has the plan's copies where there is a plan
  search::Plan plan;  // from search or attach on
  program::Program program;  // from spmd on
  // When the replay of the plan's bound is to give up, so that it is written unchecked: set by the
  // search, from its time limit.
  search::Stop stop_replay;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_COMPILATION_H_
