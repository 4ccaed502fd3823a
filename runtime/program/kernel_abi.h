// The calling convention of generated kernels, which compiler and runtime share. One function
// serves every device: boxes are arguments.
//
//   void symbol(void* const* buffers, const int64_t* arguments)
//
// buffers: for each operand, then for each result, a pointer to the first element of its buffer.
// arguments: for each index of the function the values to run, (begin, end); then for each operand,
// then for each result, for each flat dimension the buffer's box, (origin, extent). Internal
// tensors (program.proto) have neither. A buffer is dense and row-major over its box: the element
// at position x of the whole tensor lies at sum over d of (x[d] - origin[d]) * stride[d] elements,
// with stride[last] = 1.
//
// Example: z = relu(y) on f32[8, 4], and a device that holds and runs rows 4 to 7 of both:
//   buffers   = {y, z}
//   arguments = {4, 8,  0, 4,           the two indices
//                4, 4,  0, 4,           y: rows from 4, four of them; columns from 0, four
//                4, 4,  0, 4}           z
//
// A function that checks indices (program.proto) has one more buffer behind the results': an
// IndexRecord, which it fills where wrap(v, n) meets a v outside of -n to n - 1, or label(v, n,
// ignored) one outside of 0 to n - 1 that is not `ignored`, and where nothing was noted yet. What
// the function computes from such a v is unspecified.
//
// Of a definition alone, output indices are bounded by the result's buffer too: where a reduction
// index is cut, a device may write less than its range of output indices. A kernel never fails and
// never waits; it returns when the results are written, touches nothing outside the boxes, and
// keeps no other state, so any thread may call it. On a GPU both tables lie in device memory and
// the two pointers are the kernel's parameters; how it is started is in the program (ThreadLaunch).
// Functions that leave parts of sums, and those that add them up, have one more buffer, behind all
// others, with room for the parts of all points: part p of point n of N is element p * N + n.
#ifndef YUBA_RUNTIME_PROGRAM_KERNEL_ABI_H_
#define YUBA_RUNTIME_PROGRAM_KERNEL_ABI_H_

#include <cstdint>

namespace yuba::runtime {

// The first index outside of its extent that a kernel met. `found` is 0 before.
struct IndexRecord {
  int64_t found = 0;   // 1 where the others are set
  int64_t tensor = 0;  // that holds the index: its place among operands, results and internal
                       // tensors of the kernel in this order; -1 where none does
  int64_t index = 0;
  int64_t extent = 0;
  int64_t element = -1;  // of the tensor, that holds it: its number in row-major order; -1: none
  int64_t label = 0;     // 1: it is a label, and `ignored` one that would be allowed
  int64_t ignored = 0;
};

// A function of the program's shared object.
using HostKernel = void (*)(void* const* buffers, const int64_t* arguments);
}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_KERNEL_ABI_H_
