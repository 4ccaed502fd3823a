// The post-ops of a product's call as what cuBLASLt does behind one:
//
//   D = act(alpha * A B + beta * C + bias)
//
// with a residual C that lies like D, a bias with an element for each of D's columns, and ReLU or
// GELU by tanh. The matrices are row-major (runtime::ProductPlan); the library, whose
// matrices are column-major, has the bias along its rows.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_EPILOGUE_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_EPILOGUE_H_

#include "absl/types/optional.h"
#include "runtime/contraction.h"

namespace yuba::cuda {

struct LtEpilogue {
  enum Activation { kNone, kRelu, kGeluTanh };
  double alpha = 1;
  double beta = 0;    // of the residual
  int residual = -1;  // positions in LibraryShape::post_ops; -1: there is none
  int bias = -1;
  Activation activation = kNone;
};

// The steps of the shape, where they are such an epilogue of the plan's matrices: nullopt where
// they are none, where the result does not lie as the library takes it, and where several calls
// would add up what the steps are of. A shape without steps has an epilogue that does nothing.
absl::optional<LtEpilogue> EpilogueOf(const runtime::LibraryShape& shape,
                                      const runtime::ProductPlan& plan);

// The cheapest plan of the product that has an epilogue; nullopt where none has. The shape has a
// result and terms.
absl::optional<runtime::ProductPlan> PlanWithEpilogue(const runtime::LibraryShape& shape);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_EPILOGUE_H_
