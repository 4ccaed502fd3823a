// Rows of a table that training leaves as they are, as that of an embedding's padding: their
// gradient is 0. So they count in no norm of gradients, and an optimizer that lets weights decay by
// themselves lets these decay too, as PyTorch does with padding_idx.
#ifndef YUBA_COMPILER_TRAIN_FROZEN_ROWS_H_
#define YUBA_COMPILER_TRAIN_FROZEN_ROWS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/model.h"

namespace yuba::compiler {

// `frozen` is by the name of a table, which is trained: its rows, along the first dimension;
// negative ones count from the end. Puts a node behind the gradient of each table, in the last
// entry, that makes its rows 0:
//   y[i0, i1] = if i0 == 3 then 0 else g[i0, i1]
// `gradients` are those of `trained` and name the new tensors then. The user's error where a table
// is not trained, is stored in another form than the user's program has it, or has no such row.
absl::Status FreezeRows(Model& model, const std::map<std::string, std::vector<int64_t>>& frozen,
                        const std::vector<TensorId>& trained, std::vector<TensorId>& gradients);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_FROZEN_ROWS_H_
