// A strided matrix copied to another one, elements as they are, from f32 to a small float or back:
// packs the operands of a matrix product and unpacks its result, and widens those of a convolution.
// The host compiles the same code for tests.
//
// Example: the transpose of a dense f32[3, 5], dense again. from_row 1, from_column 5; to_row 3,
// to_column 1; rows 5, columns 3; types kF32 and kF32.
#ifndef YUBA_RUNTIME_CUDA_MATRIX_COPY_H_
#define YUBA_RUNTIME_CUDA_MATRIX_COPY_H_

#include <cstdint>

#include "runtime/cuda/job.h"

namespace yuba::cuda {

// Steps are in elements. One type on both sides is kF64, kF32 or kU16; else one is kF32 and the
// other kF16 or kBF16.
struct MatrixCopy {
  const void* from;
  int64_t from_row, from_column;
  void* to;
  int64_t to_row, to_column;
  int64_t rows, columns;
  JobType from_type, to_type;
};

template <typename From, typename To>
YUBA_HOST_DEVICE void RunTypedMatrixCopy(const MatrixCopy& copy, int64_t first, int64_t step) {
  const auto* from = static_cast<const typename From::Stored*>(copy.from);
  auto* to = static_cast<typename To::Stored*>(copy.to);
  for (int64_t i = first; i < copy.rows * copy.columns; i += step) {
    const int64_t row = i / copy.columns, column = i % copy.columns;
    to[row * copy.to_row + column * copy.to_column] =
        To::Store(From::Load(from[row * copy.from_row + column * copy.from_column]));
  }
}

// Copies elements first, first + step, ...: one thread's share.
YUBA_HOST_DEVICE inline void RunMatrixCopy(const MatrixCopy& copy, int64_t first, int64_t step) {
  if (copy.from_type == JobType::kU16)
    RunTypedMatrixCopy<runtime::Plain<uint16_t>, runtime::Plain<uint16_t>>(copy, first, step);
  else if (copy.from_type == JobType::kF64)
    RunTypedMatrixCopy<runtime::Plain<double>, runtime::Plain<double>>(copy, first, step);
  else if (copy.from_type == JobType::kBF16)
    RunTypedMatrixCopy<runtime::BF16, runtime::Plain<float>>(copy, first, step);
  else if (copy.from_type == JobType::kF16)
    RunTypedMatrixCopy<runtime::F16, runtime::Plain<float>>(copy, first, step);
  else if (copy.to_type == JobType::kBF16)
    RunTypedMatrixCopy<runtime::Plain<float>, runtime::BF16>(copy, first, step);
  else if (copy.to_type == JobType::kF16)
    RunTypedMatrixCopy<runtime::Plain<float>, runtime::F16>(copy, first, step);
  else
    RunTypedMatrixCopy<runtime::Plain<float>, runtime::Plain<float>>(copy, first, step);
}

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_MATRIX_COPY_H_
