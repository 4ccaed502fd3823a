#include "compiler/import/entries.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "compiler/simplify/invariants.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

// Names are those of files and of flags: they stand before a colon in others.
absl::Status CheckEntries(const std::vector<EntryOptions>& entries) {
  std::set<std::string> names;
  for (const EntryOptions& entry : entries) {
    const bool plain = !entry.name.empty() &&
                       std::all_of(entry.name.begin(), entry.name.end(), [](unsigned char c) {
                         return absl::ascii_isalnum(c) || c == '_' || c == '-';
                       });
    if (!plain) {
      return UserError("--entry ", entry.name, ": an entry's name has letters, digits, _ and -");
    }
    if (entry.name == compiler::kInitEntry) {
      return UserError("--entry init: that entry computes what never changes; --init makes it");
    }
    if (!names.insert(entry.name).second) {
      return UserError("--entry ", entry.name, " is given twice");
    }
    YUBA_CHECK(entry.times >= 1);
  }
  return absl::OkStatus();
}

// What is read of the file as entries; none where a step is all there is.
std::vector<EntryOptions> EntriesOfTraining(const TrainOptions& train) {
  const int64_t steps = std::max<int64_t>(train.eval_every, 1);
  std::vector<EntryOptions> entries;
  if (train.eval_every > 0) entries.push_back({kEvalEntry, {}, 1});
  if (train.micro_batches > 1) {
    entries.push_back({kMicroEntry, {}, steps * train.micro_batches});
  } else if (!entries.empty()) {
    entries.push_back({kTrainEntry, {}, steps});
  }
  return entries;
}

}  // namespace

absl::StatusOr<std::vector<EntryOptions>> EntriesOf(const ImportOptions& options) {
  YUBA_RETURN_IF_ERROR(CheckEntries(options.entries));
  if (!options.train.has_value()) return options.entries;
  if (!options.entries.empty()) {
    return UserError("--train and --entry: a training step is the one entry of its program; ",
                     "leave out --entry");
  }
  return EntriesOfTraining(*options.train);
}

absl::Status NameInEntries(OnnxGraph& graph) {
  std::set<std::string> common;
  for (const OnnxValue& value : graph.values) {
    if (value.entry == OnnxValue::kCommon) common.insert(value.name);
  }
  for (OnnxValue& value : graph.values) {
    if (value.name.empty() || value.entry == OnnxValue::kCommon) continue;
    value.name = NameInEntry(graph.entries, value.entry, value.name);
    if (common.count(value.name) == 0) continue;
    return UserError("the model has a value '", value.name, "', which is what a value of the ",
                     "entry ", graph.entries[value.entry].name, " is called: rename it");
  }
  return absl::OkStatus();
}

}  // namespace yuba::onnx
