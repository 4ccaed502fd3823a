// What checkpointing of activations adds to a step: kernels of the forward pass that run again.
#ifndef YUBA_TOOLS_BENCH_HGX_RECOMPUTATION_H_
#define YUBA_TOOLS_BENCH_HGX_RECOMPUTATION_H_

#include <string>

#include "opsemantics/machine/machine.h"
#include "runtime/program/program.h"

namespace yuba::tools {

// Seconds a device, as a mean over all, of the kernels that compute again what the backward pass
// needs: of nodes of the model's file that begin with `blocks` ("layers."), in the forward pass,
// all maps and reductions and this share of the products. Attention is kept: batched products, and
// what reads scores (runtime/model/on_chip.h). A program's forward pass is what comes before its
// output `loss` is computed; 0 where there is none.
double RecomputationSeconds(const runtime::LoadedProgram& program, const Machine& machine,
                            const std::string& blocks, double products);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_HGX_RECOMPUTATION_H_
