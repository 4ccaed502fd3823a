// What `partition` prints of the model, the search and the pins. plan_report.h has what it prints
// of the plan itself.
#ifndef YUBA_TOOLS_REPORT_SEARCH_REPORT_H_
#define YUBA_TOOLS_REPORT_SEARCH_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/model.h"
#include "search/plan/plan.h"
#include "search/search.h"

namespace yuba::tools {

// "138.7 kFLOP a step": of the whole model; "in all" where it has several entries, each as often as
// it runs. A step of training in parts has all of these.
std::string WorkText(const compiler::Model& model);
// In how many parts a step of training takes its examples (--micro-batches). Tensors of the graph
// are of one part.
int64_t PartsOf(const Graph& graph);
// The dimensions of an input in all parts of a step: [16, 64] where the graph's is [4, 64], in 4
// parts.
std::vector<int64_t> DimsInStep(const Graph& graph, const Tensor& input);
// One line: the file, its nodes, parameters and inputs, with the examples of a whole step.
std::string ModelText(const compiler::Model& model);

// The import's notes, a line each; of those that differ in numbers alone, as of equal layers, the
// first and how many there are like it.
std::string NotesText(const std::vector<std::string>& notes);

// What was searched, in how many seconds, and how far from optimal the plan can be. `by_level` is
// the bytes that the search level by level moves, where that was run for comparison; `fewer` counts
// the tensors in fewer parts than their dimensions allow; `asked` is the search asked for, which
// may have taken a baseline's plan.
std::string SearchText(const search::Plan& plan, const std::string& asked,
                       absl::optional<int64_t> by_level, int64_t fewer, double seconds);

// "a 12.1 MB, b 20.3 MB, c 40.2 MB": what each level of the recursion adds.
std::string LevelsText(const Graph& graph, const search::Plan& plan);

// What each pin costs, one line a pin, and what all cost together, as far as it is known. `span`:
// SpanText (plan_report.h).
std::string PinsText(const search::Plan& plan, const std::vector<search::PinPrice>& prices,
                     const char* span);

// "axes  plan 465.2 MB  bound 460.1 MB  gap 1.10 %": for a ProgressLine.
std::string ProgressText(const search::SearchProgress& progress);

// A line on what an engine of the search added:
//   engine eliminate    plan 465.2 MB (-0.30 %)   bound 465.2 MB (+1.90 %)   0.40 s
std::string EngineText(const search::EngineReport& report);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_SEARCH_REPORT_H_
