// A file that is ready for translation, and the translation of one entry of it.
#ifndef YUBA_COMPILER_IMPORT_ENTRY_READER_H_
#define YUBA_COMPILER_IMPORT_ENTRY_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/import/file/file_graph.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/options.h"
#include "compiler/import/translate/caches.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Not copied: `order` points into `proto`.
struct OrderedFile {
  ::onnx::ModelProto proto;  // without calls of functions, each parameter an initializer
  FileGraph order;
  std::string folder;  // of the file, for its external data
  int64_t opset = 0;
  std::vector<TieOptions> ties;  // initializers that are one: by the flags, and by the file's word
};

// What an entry does with the rows of --cache.
struct EntryCaches {
  std::vector<CachePair> pairs;  // none: the model has no caches
  int64_t new_rows = 0;          // that the entry adds
};

// Lengths of symbolic dimensions, by their names.
using DimLengths = std::map<std::string, int64_t>;

// Translates the file once more, behind what `graph` has already: sources, nodes, outputs, and for
// training the loss. Which entry it is, and its batch, `graph` says (entry, at_batch, finds_batch).
// Errors name the node.
absl::Status TranslateEntry(const OrderedFile& file, const ImportOptions& options, DimLengths dims,
                            const EntryCaches& caches, OnnxGraph& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_ENTRY_READER_H_
