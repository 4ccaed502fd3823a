// One compilation: what was asked for, and what the phases have made of it so far. Each phase of
// phases.h reads and extends one Compilation; which members are filled tells how far it has come.
// Plain data that owns what it holds, except where the request points outside (the operator
// library, the search's callbacks), which must outlive it.
#ifndef YUBA_COMPILER_COMPILATION_H_
#define YUBA_COMPILER_COMPILATION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/import/options.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/layout/layouts.h"
#include "compiler/model.h"
#include "compiler/search_model.h"
#include "compiler/train/updates.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/program_file.h"
#include "search/check/stop.h"
#include "search/file/plan_file.h"
#include "search/plan/plan.h"
#include "search/search.h"

namespace yuba::compiler {

struct CompileRequest {
  std::string model_file;  // a path
  onnx::ImportOptions import;
  std::map<std::string, std::string> training;  // becomes Model::training
  search::SearchOptions search;
  StepOfPlan step_of;                     // as in SearchModel; may be empty
  absl::optional<search::PlanFile> plan;  // a plan from a file: it is attached, nothing is searched
  search::PlanNotes expected;             // what that plan file must agree with
  kernels::KernelChoice kernels;          // kernels.target.arithmetic is the whole program's
  std::string version;                    // of the tool, recorded in the program
  std::string output_file;                // where `emit` writes the program; empty: nowhere
  runtime::FileValues file_values = runtime::FileValues::kCopy;  // what `emit` does with weights
};

struct Compilation {
  CompileRequest request;
  Model model;  // from import on; once there is a plan, its graph has the plan's copies
  std::vector<UpdatedState> updated;  // from train on: what carry is to carry
  search::Plan plan;                  // from search or attach on; before, plan.tensors is empty
  // From layouts on: of the graph's tensors those that are not row-major to their users. Their
  // dimensions, in graph and plan, are in the order of memory then.
  Layouts layouts;
  // What the search took, where one ran; without the replay of its bound.
  double search_seconds = 0;
  program::Program program;  // from spmd on; before, it has no buffers
  int64_t file_bytes = 0;    // that emit wrote
  // When the replay of the plan's bound is to give up, so that it is written unchecked: set by the
  // search, from its time limit.
  search::Stop stop_replay;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_COMPILATION_H_
