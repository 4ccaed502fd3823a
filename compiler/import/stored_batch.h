// Stored values that have the batch: exporters write the first states of a recurrence, or a class
// token, with the number of examples that they were given.
//
// Example: zeros f32[1, 4, 8] of which dimension 1 is a batch of 4 are f32[1, 2, 8] for a batch of
// 2, and so are values that are the same for each example.
#ifndef YUBA_COMPILER_IMPORT_STORED_BATCH_H_
#define YUBA_COMPILER_IMPORT_STORED_BATCH_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"

namespace yuba::onnx {

enum class StoredKind {
  kZeros,  // all elements are 0
  kSame,   // the elements are the same wherever on the batch they are
  kOther   // they are not, or that is not known: drawn, missing, or too many to look at
};

// `has` says which flat dimensions are the batch's.
StoredKind KindAlong(const compiler::InitialValue& value, const TensorType& type,
                     const std::vector<bool>& has);

// The value, which is kZeros or kSame and no fill, with the flat dimensions `dims` in place of
// type.dims, which differ along the batch only. Errors are those of its file.
absl::StatusOr<std::shared_ptr<const std::string>> AtOtherBatch(const compiler::InitialValue& value,
                                                                const TensorType& type,
                                                                const std::vector<int64_t>& dims);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_STORED_BATCH_H_
