// Programs for GPUs, made by hand with ProgramBuilder. Those without a kernel in PTX run on the
// host too, which gives the results to compare with.
#ifndef YUBA_TESTS_RUNTIME_CUDA_PROGRAMS_H_
#define YUBA_TESTS_RUNTIME_CUDA_PROGRAMS_H_

#include "tests/runtime/program_builder.h"

namespace yuba::cuda {

// `count` whole numbers of both signs, small enough that sums of them are exact in f32.
std::vector<float> WholeNumbers(int64_t count);

// y = 2 x + 1 of a vector, and z = 2 y + 1, in which each device computes its part by a kernel in
// PTX. z is written into the memory of y's shards, as soon as all devices have gathered the whole
// y.
constexpr int64_t kVectorLength = 1001;
runtime::ProgramBuilder TwicePlusOne(int devices);
// Has both of its kernels call `symbol` instead.
void Call(const std::string& symbol, program::Program& program);

// x, cut along its first dimension over 3 devices, is cut along the second, then the last, then
// gathered whole ("copy"), and the three whole copies are combined by `reducer` ("combined"). Some
// copies on the way are rows of bytes, others are not.
extern const std::vector<int64_t> kTurnedDims;
constexpr int64_t kTurnedElements = 6 * 7 * 160;
runtime::ProgramBuilder Turns(program::Reducer reducer);

// x = 3 x, so many times: 3 devices gather the whole x and sum the three copies of each element
// into their shards. Every buffer that others read is written again.
runtime::ProgramBuilder Tripled(int64_t length, int times = 4);

// A batch of matrix products, each a library call on a half of k, then summed. The letters b, m, n
// and k say in which order the dimensions of each tensor lie in memory; a j is added up like k. The
// operands are of one type, and the products of the halves of another.
struct ProductOrder {
  std::string left = "bmk", right = "bkn", result = "bmn";
  program::ElementType type = program::F32, made = program::F32;
};
// Extents by letter.
std::vector<int64_t> ProductDims(const std::string& letters);
runtime::ProgramBuilder HalvedProduct(const ProductOrder& order);

// y is a convolution of x by w, both of `type`, as a library call; y is of `made`.
extern const std::vector<int64_t> kConvolvedInput, kConvolvedFilter;  // dimensions
runtime::ProgramBuilder Convolved(program::ElementType type, program::ElementType made);

// y holds the places of the elements of each row of x in their order: calls of argsort on 2
// devices, of kSortedRows rows that are numbered along the second dimension of x.
constexpr int64_t kSortedRows = 5;
runtime::ProgramBuilder Sorted(int64_t length, bool descending);

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_PROGRAMS_H_
