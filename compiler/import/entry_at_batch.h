// An entry with the batch that the options ask for. What the batch is shows when the entry has been
// read as the file has it (batch.h); so it is read to find that, and then at the other batch.
#ifndef YUBA_COMPILER_IMPORT_ENTRY_AT_BATCH_H_
#define YUBA_COMPILER_IMPORT_ENTRY_AT_BATCH_H_

#include "absl/status/status.h"
#include "compiler/import/entry_reader.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/options.h"

namespace yuba::onnx {

// TranslateEntry, with options.batch examples in a step and as many in a micro-batch as these are
// to have. Notes which dimensions of inputs are the batch. Besides TranslateEntry's errors the
// user's where the batch is not known or cannot be changed or cut (BatchFinder).
absl::Status ReadEntryAtBatch(const OrderedFile& file, const ImportOptions& options,
                              const DimLengths& dims, const EntryCaches& caches, OnnxGraph& graph);

// Where the options change nothing about the batch: notes what it is in each entry, or, in
// graph.no_batch, why that is not known. `graph` is whole. The user's error where --batch-dim names
// nothing.
absl::Status NoteBatch(const ImportOptions& options, OnnxGraph& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_ENTRY_AT_BATCH_H_
