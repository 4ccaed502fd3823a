// The flags of a model as a plan keeps them: its options (FlagForm says how). A command that is
// given a plan takes them from there.
#ifndef YUBA_TOOLS_FLAGS_PLAN_OPTIONS_H_
#define YUBA_TOOLS_FLAGS_PLAN_OPTIONS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "search/file/plan_file.h"
#include "tools/flags/model_flags.h"

namespace yuba::tools {

// What was given, as the plan file keeps it: {"dim.batch": "8"}.
std::map<std::string, std::string> PlanOptions(const ModelFlags& flags);

// The user's error where the plan has an option that plans do not have, or a switch that is not
// "true": what was asked for decides which model is meant, so that nothing is passed over.
absl::Status CheckOptions(const search::PlanNotes& notes);

// Fills in the flags that `partition` was given when it made the plan. What is bound may be given
// here too, as the file may lie elsewhere (CheckBound). Plans that were made when flags had other
// names are read as what they meant.
absl::Status TakeOptions(const search::PlanNotes& notes, ModelFlags& flags);

// What decides what a training step computes (ModelFlag::computes), which is more than what the
// graph shows to people, by flag: {"train", "adamw:decay=0.1"}, {"loss", "mse"}, {"freeze",
// "emb=0,3"}.
std::map<std::string, std::string> SettingsOf(const ModelFlags& flags);

// `status` of reading the model, with the names of the plan's fields in the place of flags, which
// nobody gave here: they are the plan's. "--dim n=0: ..." becomes "p.json: options.dim.n=0: ...".
absl::Status NameOptions(const absl::Status& status, const ModelFlags& given,
                         const std::string& plan_file, const search::PlanNotes& notes);

// Whether the bound inputs have the values that the plan was made with, wherever they were read:
// `bound` has their hashes.
absl::Status CheckBound(const std::map<std::string, std::string>& bound,
                        const search::PlanNotes& notes);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_PLAN_OPTIONS_H_
