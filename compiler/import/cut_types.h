// Types and shapes of the tensors at which a part of a file begins.
#ifndef YUBA_COMPILER_IMPORT_CUT_TYPES_H_
#define YUBA_COMPILER_IMPORT_CUT_TYPES_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "compiler/import/file/file_graph.h"
#include "compiler/import/options.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Completes the declarations of those inputs of `graph` that are in order.cut, for an entry with
// the symbolic dimensions `dims`. What the file declares is taken, with symbols that `dims` has;
// where that is not all, the file `path` is read once more as the part that leads to these
// tensors, which tells their shapes. The user's error where that fails: it says why, and what to
// give.
absl::Status DeclareCuts(const std::string& path, const ImportOptions& options,
                         const std::map<std::string, int64_t>& dims, const FileGraph& order,
                         ::onnx::GraphProto& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_CUT_TYPES_H_
