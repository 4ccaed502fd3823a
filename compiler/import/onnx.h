// The ONNX front end: a file that was read (source.h) becomes a model whose graph is definitions.
// Opset 6 to current, with functions and external data. The file's operators become uses of
// descriptions, and shapes come from these descriptions. The phases behind it (compiler/phases.h)
// simplify the graph and do what else the file and the options ask for; what that is, in terms of
// the graph as it is by then, they learn here.
//
// Example: a file with MatMul and Relu on x[12, 48] and w[48, 96] becomes two nodes,
// y[i, j] = sum(k) x[i, k] * w[k, j] and z[i, j] = max(y[i, j], 0), and the parameter w.
#ifndef YUBA_COMPILER_IMPORT_ONNX_H_
#define YUBA_COMPILER_IMPORT_ONNX_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/import/source.h"
#include "compiler/model.h"
#include "compiler/simplify/simplify.h"
#include "compiler/train/updates.h"

namespace yuba::onnx {

// The model of the file, whose dimensions have factors where `factors` says so. Its graph is well
// formed and has all that the file has; model.source is `source`. It has no hash and no flops yet.
compiler::Model ModelOf(std::shared_ptr<const Source> source, bool factors);

// What the entries add to caches (--cache), for `simplify`: to be asked behind RemoveViews.
std::vector<compiler::CachedRows> CachedRowsOf(const compiler::Model& model);

// The user's error where a number of the file has a name that training adds, as in `updated`: both
// are in checkpoints.
absl::Status CheckNumbers(const Source& source, const std::vector<compiler::UpdatedState>& updated);

// The pairs that the model carries, of --state and of a training step, while none is carried yet.
// The user's error where nothing reads a state.
absl::StatusOr<std::vector<compiler::CarriedPair>> CarriedPairsOf(
    const compiler::Model& model, const std::vector<compiler::UpdatedState>& updated);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_ONNX_H_
