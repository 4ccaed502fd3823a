// A model of the zoo as a step, for benchmarks.
#ifndef YUBA_TOOLS_BENCH_PAPER_BENCH_MODEL_H_
#define YUBA_TOOLS_BENCH_PAPER_BENCH_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/command.h"
#include "tools/zoo/family.h"

namespace yuba::tools {

// The model with these sizes, trained by this optimizer with the loss that the zoo names for it;
// as it is where there is no optimizer. Errors are those of MakeModel and LoadModel.
absl::StatusOr<std::unique_ptr<LoadedModel>> ZooStep(const std::string& name,
                                                     const zoo::Sizes& sizes,
                                                     const std::string& optimizer);

// The batch that the zoo's model of this name has.
absl::StatusOr<int64_t> BatchOf(const std::string& name);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_PAPER_BENCH_MODEL_H_
