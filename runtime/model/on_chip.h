// What a run time with fused attention never writes to memory (DeviceModel::fused_products): the
// scores of an attention and what is computed of them element by element, up to the products that
// sum over them. FlashAttention does so on GPUs (Dao, Fu, Ermon, Rudra, Re, NeurIPS 2022). It is
// known by structure: the scores are the result of a batched product, with more elements than both
// operands together, and no exchange moves them.
//
// Example: of q[b, i, k] and k[b, j, k], with 8,192 positions i and j and heads of 128 elements,
// the scores s[b, i, j] are on the chip, and so are exp(s[b, i, j] - m[b, i]) and their quotients;
// m[b, i] is not, and what sums over j reads its scores from the chip.
//
// Not modelled: that the backward pass computes scores again, and that a causal mask leaves half of
// them out.
#ifndef YUBA_RUNTIME_MODEL_ON_CHIP_H_
#define YUBA_RUNTIME_MODEL_ON_CHIP_H_

#include <vector>

#include "runtime/program/program.h"

namespace yuba::runtime {

// [buffer]: whether its bytes move nowhere. Never of a port of the program or of a value that is
// kept from step to step.
std::vector<bool> OnChip(const LoadedProgram& program);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_ON_CHIP_H_
