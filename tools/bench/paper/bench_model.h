// A model of the zoo as a training step or as it is, for benchmarks.
#ifndef YUBA_TOOLS_BENCH_PAPER_BENCH_MODEL_H_
#define YUBA_TOOLS_BENCH_PAPER_BENCH_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/command.h"
#include "tools/zoo/family.h"

namespace yuba::tools {

// The model with these sizes, trained by this optimizer with the loss that the zoo names for it, in
// the precision that --precision takes (empty: f32); without an optimizer the forward pass. Errors
// are those of MakeModel and LoadModel.
absl::StatusOr<std::unique_ptr<LoadedModel>> BenchModelOf(const std::string& name,
                                                          const zoo::Sizes& sizes,
                                                          const std::string& optimizer,
                                                          const std::string& precision = "");

// The batch that the zoo's model of this name has.
absl::StatusOr<int64_t> BatchOf(const std::string& name);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_PAPER_BENCH_MODEL_H_
