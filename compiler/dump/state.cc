#include "compiler/dump/state.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/dump/enum_words.h"
#include "compiler/dump/graph_text.h"
#include "compiler/dump/model_text.h"
#include "compiler/dump/program_text.h"
#include "opsemantics/base/files.h"
#include "search/file/plan_file.h"

namespace yuba::compiler {

std::string StateText(const Compilation& compilation) {
  // Taken apart, so that a new member does not compile until somebody says whether it is shown.
  const auto& [request, model, updated, plan, layouts, search_seconds, program, file_bytes,
               stop_replay] = compilation;
  const bool planned = !plan.tensors.empty() && plan.tensors.size() == model.graph.tensors.size();
  std::string text = ModelText(model);
  for (const auto& [state, next] : updated) {
    absl::StrAppend(&text, "  updated ", Quoted(state), " by ", Quoted(next), "\n");
  }
  absl::StrAppend(&text, GraphText(model.graph, planned ? &plan : nullptr));
  if (planned) {
    absl::StrAppend(&text, "plan ", search::WritePlan(model.graph, plan, search::PlanNotes()));
  }
  for (const auto& [tensor, layout] : layouts) {
    absl::StrAppend(&text, "layout ", Quoted(model.graph.tensors[tensor].name), " [",
                    absl::StrJoin(layout.order, ", "), "] of [", absl::StrJoin(layout.shape, ", "),
                    "]\n");
  }
  if (program.buffers_size() > 0) {
    absl::StrAppend(&text, "program\n", ProgramText(program));
  }
  return text;
}

absl::Status WriteState(const Compilation& compilation, const std::string& path) {
  return WriteFile(path, StateText(compilation));
}

}  // namespace yuba::compiler
