// The flags of a model as a plan keeps them: its options. PlanOptions and TakeOptions are in
// command.h.
#ifndef YUBA_TOOLS_PLAN_OPTIONS_H_
#define YUBA_TOOLS_PLAN_OPTIONS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "tools/command.h"

namespace yuba::tools {

// What decides what a training step computes, by the names of the flags, which is more than what
// the graph shows to people.
std::map<std::string, std::string> SettingsOf(const ModelFlags& flags);

// The flag, one that takes NAME=VALUE, of an option of a plan, or empty: "dim" of "dim.batch".
std::string NamedFlag(const std::string& option);

// Whether the option decides which graph is planned.
bool ShapesGraph(const std::string& option);

// `status`, and as a likely cause the flags of this command line that the plan was made without.
absl::Status ExplainOptions(const absl::Status& status, const ModelFlags& given,
                            const search::PlanNotes& notes);

// Whether the bound inputs have the values that the plan was made with, wherever they were read:
// `bound` has their hashes.
absl::Status CheckBound(const std::map<std::string, std::string>& bound,
                        const search::PlanNotes& notes);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PLAN_OPTIONS_H_
