// The entries that a file is read as: those of --entry, or those of training.
#ifndef YUBA_COMPILER_IMPORT_ENTRIES_H_
#define YUBA_COMPILER_IMPORT_ENTRIES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/options.h"

namespace yuba::onnx {

// The entries, in their order; none where the model is the one entry "step". The user's error where
// two have one name, a name has other characters than those of names of files, or --train and
// --entry are both there.
absl::StatusOr<std::vector<EntryOptions>> EntriesOf(const ImportOptions& options);

// Of a graph with several entries: gives what is of one entry alone its name, "eval:loss". The
// user's error where a value that several have in common is called so.
absl::Status NameInEntries(OnnxGraph& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_ENTRIES_H_
