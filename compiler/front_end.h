// The phases before the search: from a file to the graph that a plan is made for. Each takes what
// the phases before it have made of the compilation, and each has a verifier; the table is in
// phases.cc. Errors of a phase are the user's; what a verifier finds is a mistake of ours.
#ifndef YUBA_COMPILER_FRONT_END_H_
#define YUBA_COMPILER_FRONT_END_H_

#include "absl/status/status.h"
#include "compiler/compilation.h"

namespace yuba::compiler {

// Reads request.model_file as request.import says, or takes model.source where the file was read
// before (WithFactors of phases.h), and makes the graph of it, as the file has it.
absl::Status Import(Compilation& compilation);
absl::Status VerifyImport(Compilation& compilation);

// Removes what would only cost the search time and the program buffers (simplify/simplify.h).
absl::Status Simplify(Compilation& compilation);
absl::Status VerifySimplify(Compilation& compilation);

// Adds gradients and updates (train/train.h) where request.import asks for a training step.
absl::Status Train(Compilation& compilation);
absl::Status VerifyTrain(Compilation& compilation);

// Makes one tensor of each state and its next value, and gives the graph what it has from here on:
// conditions on constants that are known, an entry for what never changes, its hash.
absl::Status Carry(Compilation& compilation);
absl::Status VerifyCarry(Compilation& compilation);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_FRONT_END_H_
