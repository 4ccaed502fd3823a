#include "compiler/import/parameters/embedding_calls.h"

#include <fnmatch.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

constexpr char kEmbedding[] = "aten.embedding.";  // (weight, indices, padding_idx, by frequency)
constexpr size_t kWeight = 0, kPadding = 2, kByFrequency = 3;

}  // namespace

absl::StatusOr<std::vector<std::string>> NotesOfEmbeddings(const ::onnx::GraphProto& graph,
                                                           const ExportRecord& record,
                                                           const TrainOptions& options) {
  std::vector<std::string> notes;
  for (const ::onnx::NodeProto& node : graph.node()) {
    const absl::optional<CallRecord> call = ReadNodeRecord(node).call;
    if (!call.has_value() || !absl::StartsWith(call->target, kEmbedding)) continue;
    const std::vector<std::string>& texts = call->texts;
    if (call->arguments.empty() || call->arguments[kWeight].size() != 1) continue;
    const auto table = record.parameters.find(call->arguments[kWeight][0]);
    if (table == record.parameters.end()) continue;
    const std::string& name = table->second;
    const bool frozen = std::any_of(
        options.freeze.begin(), options.freeze.end(),
        [&](const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
    if (frozen) continue;
    if (texts.size() > kByFrequency && texts[kByFrequency] == "True") {
      return UserError("node ", node.name(), ": the gradient of ", name,
                       " is divided by how often a row occurs (scale_grad_by_freq), which is not ",
                       "done here; export without it, or leave ", name, " as it is (--freeze ",
                       name, ")");
    }
    int64_t row = -1;
    if (texts.size() <= kPadding || !absl::SimpleAtoi(texts[kPadding], &row) || row < 0) continue;
    const auto rows = options.freeze_rows.find(name);
    const bool given = rows != options.freeze_rows.end() &&
                       std::count(rows->second.begin(), rows->second.end(), row) > 0;
    std::string note = absl::StrCat("row ", row, " of ", name, " is padding (padding_idx), which ",
                                    "PyTorch does not train: --freeze ", name, "=", row);
    if (!given && std::count(notes.begin(), notes.end(), note) == 0)
      notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace yuba::onnx
