#include "compiler/dump/state.h"

#include "absl/strings/str_cat.h"
#include "compiler/dump/graph_text.h"
#include "compiler/dump/model_text.h"
#include "compiler/dump/program_text.h"
#include "opsemantics/base/files.h"
#include "search/file/plan_file.h"

namespace yuba::compiler {

std::string StateText(const Compilation& compilation) {
  const Model& model = compilation.model;
  const search::Plan& plan = compilation.plan;
  const bool planned = !plan.tensors.empty() && plan.tensors.size() == model.graph.tensors.size();
  std::string text = ModelText(model);
  absl::StrAppend(&text, GraphText(model.graph, planned ? &plan : nullptr));
  if (planned) {
    absl::StrAppend(&text, "plan ", search::WritePlan(model.graph, plan, search::PlanNotes()));
  }
  if (compilation.program.buffers_size() > 0) {
    absl::StrAppend(&text, "program\n", ProgramText(compilation.program));
  }
  return text;
}

absl::Status WriteState(const Compilation& compilation, const std::string& path) {
  return WriteFile(path, StateText(compilation));
}

}  // namespace yuba::compiler
