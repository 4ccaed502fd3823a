// Which output indices of generated code the threads of one device may share out. It follows from
// the loop plan alone and needs no other code: the ranges of indices are arguments of every kernel,
// so a thread calls the same function with a part of a range. Each element of the result is still
// computed by one call, in the same order and by the same instructions, so its bits do not depend
// on the number of threads.
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j] is planned as "row: i (by 4) | k j". Threads may
// share out i in steps of 4, so that each block of four rows stays one, or j in steps of kRowTile.
#ifndef YUBA_COMPILER_KERNELS_INDEX_SPLITS_H_
#define YUBA_COMPILER_KERNELS_INDEX_SPLITS_H_

#include "compiler/kernels/named_kernel.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/oracle/scalar.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {

// The splits of the function that GenerateKernels makes of `definition` for the host, outermost
// loop first; none where no index may be shared out. An index that is solved or looked up is not
// among them, nor one that is not alone in its position of the result.
google::protobuf::RepeatedPtrField<program::IndexSplit> SplitsOf(const Definition& definition,
                                                                 Arithmetic arithmetic);

// The same of a kernel. Of several definitions it is the indices that they share: any part of these
// is computed alone. Where no loops are inside of the last of them, it is vectorised and its parts
// are as long as those of a definition alone.
google::protobuf::RepeatedPtrField<program::IndexSplit> SplitsOf(const NamedKernel& kernel,
                                                                 Arithmetic arithmetic);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_INDEX_SPLITS_H_
