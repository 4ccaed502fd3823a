// Batches made of examples: arrays in files, in which the dimension that counts the examples of an
// input, the first of most, is as long as there are examples. What counts none is the same in all
// steps.
//
//   DIR/x.npy        f32[60000, 28, 28]      the input x: f32[64, 28, 28]
//   DIR/labels.npy   i64[60000]              the input labels: i64[64]
//
// A step takes 64 rows of each, the same ones: 937 batches an epoch, and the last 32 examples of
// its order are left out. Rows are read when their step comes; no array is ever in memory.
#ifndef YUBA_TOOLS_RUN_DATA_EXAMPLE_BATCHES_H_
#define YUBA_TOOLS_RUN_DATA_EXAMPLE_BATCHES_H_

#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "tools/run/data/batches.h"
#include "tools/run/run_ports.h"

namespace yuba::tools {

// The batches of `path` for an entry, whose inputs all have a value there but for those of `given`.
// `path` is a folder with NAME.npy for an input or with files of safetensors whose tensors have
// inputs' names; or one file of either kind. With a seed, examples are drawn without replacement in
// an order that it gives, another one in each epoch. A user's error, which says what is there and
// what is wanted, where an input is missing or has another type or shape, where arrays have
// different numbers of examples, or fewer than a step takes. `flag` is what gave the path.
absl::StatusOr<std::shared_ptr<Batches>> OpenExamples(
    const std::string& path, const RunPorts& ports, const std::string& entry,
    const std::set<std::string>& given, absl::optional<uint64_t> seed, const char* flag = "--data");

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_DATA_EXAMPLE_BATCHES_H_
