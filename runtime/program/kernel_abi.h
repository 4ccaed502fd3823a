// The calling convention of generated kernels, for compiler and runtime.
//
//   void symbol(void* const* buffers, const int64_t* arguments)
//
// buffers: one pointer to the first element of the buffer's box for each operand, then the result.
// arguments: for each index of the definition its part (begin, end); then for each operand, then
// for the result, for each flat dimension the buffer's box (origin, extent). The buffer is dense
// and row-major over that box, so the element at position x lies at sum (x[d] - origin[d]) *
// stride[d] with stride[last] = 1. Output indices run only where the result's buffer has room: a
// part of a reduction may make less than its piece. On a GPU the kernel gets the same values as
// parameters in device memory.
#ifndef YUBA_RUNTIME_PROGRAM_KERNEL_ABI_H_
#define YUBA_RUNTIME_PROGRAM_KERNEL_ABI_H_

#include <cstdint>

namespace yuba::runtime {
using HostKernel = void (*)(void* const* buffers, const int64_t* arguments);
}

#endif  // YUBA_RUNTIME_PROGRAM_KERNEL_ABI_H_
