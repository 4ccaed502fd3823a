// A copy or a combination over a walk (walk.h), written down as numbers that a GPU reads from its
// memory, and the code that runs it. make_job.h writes jobs. The host compiles the same code for
// tests, and combine.h makes it the same arithmetic as the host's.
//
// Example: copy 16 floats from address A to address B. elements 16, loops 1, parts 1, combiner
// kNone, types kI32 and kI32; extent 16; A, stride 1; B, stride 1. Eleven numbers.
#ifndef YUBA_RUNTIME_CUDA_JOB_H_
#define YUBA_RUNTIME_CUDA_JOB_H_

#include <cstdint>

#include "runtime/combine.h"

#ifdef __CUDACC__
#define YUBA_HOST_DEVICE __host__ __device__
#define YUBA_NOT_INLINE __noinline__
#else
#define YUBA_HOST_DEVICE
#define YUBA_NOT_INLINE
#endif

namespace yuba::cuda {

// How an element is represented: ElementType's numbers, then 8-byte elements of hash arithmetic.
enum class JobType : int64_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kI64,
  kI32,
  kI8,
  kU8,
  kBool,
  kI16,
  kU16,
  kU32,
  kU64,
  kHash
};

// A job is the numbers of this header; then as many extents as it has loops, outermost first; then
// for each partial ("part") and at last for the result the address of its first element and a
// stride in elements for each loop.
enum JobField { kJobElements, kJobLoops, kJobParts, kJobReducer, kJobFrom, kJobTo, kJobHeader };

// JobOffset with the element's number in the unsigned type Number; `element` is less than
// kJobElements. A GPU divides 32-bit numbers several times as fast as 64-bit ones.
template <typename Number>
YUBA_HOST_DEVICE int64_t JobOffsetBy(const int64_t* job, const int64_t* strides, Number element) {
  const int64_t* extents = job + kJobHeader;
  int64_t offset = 0;
  for (int64_t d = job[kJobLoops] - 1; d > 0; --d) {
    const Number extent = static_cast<Number>(extents[d]), outer = element / extent;
    offset += static_cast<int64_t>(element - outer * extent) * strides[d];
    element = outer;
  }
  // What is left counts the outermost loop: it needs no division.
  return job[kJobLoops] == 0 ? 0 : offset + static_cast<int64_t>(element) * strides[0];
}

// Where a buffer has element number `element` of the walk, in elements from the address in the job.
// It is not inlined, because its divisions are most of what there is to compile.
YUBA_HOST_DEVICE YUBA_NOT_INLINE inline int64_t JobOffset(const int64_t* job,
                                                          const int64_t* strides, int64_t element) {
  return job[kJobElements] < (int64_t{1} << 32)
             ? JobOffsetBy<uint32_t>(job, strides, static_cast<uint32_t>(element))
             : JobOffsetBy<uint64_t>(job, strides, static_cast<uint64_t>(element));
}

template <typename Stored>
YUBA_HOST_DEVICE Stored& JobElement(const int64_t* job, int64_t buffer, int64_t element) {
  const int64_t loops = job[kJobLoops];
  const int64_t* entry = job + kJobHeader + loops + buffer * (1 + loops);
  return reinterpret_cast<Stored*>(entry[0])[JobOffset(job, entry + 1, element)];
}

// Runs elements first, first + step, ...: one thread's share.
template <typename From, typename To>
YUBA_HOST_DEVICE void RunTypedJob(const int64_t* job, int64_t first, int64_t step) {
  const Reducer reducer = static_cast<Reducer>(job[kJobReducer]);
  const int64_t parts = job[kJobParts];
  for (int64_t element = first; element < job[kJobElements]; element += step) {
    typename From::Value value = runtime::CombineIdentity<typename From::Value>(reducer);
    for (int64_t part = 0; part < parts; ++part) {
      const auto next = From::Load(JobElement<typename From::Stored>(job, part, element));
      value = part == 0 ? next : runtime::CombineTwo(reducer, value, next);
    }
    JobElement<typename To::Stored>(job, parts, element) = To::Store(value);
  }
}

// The same for the types that the job says. They differ only where f32 becomes f16 or bf16.
YUBA_HOST_DEVICE inline void RunJob(const int64_t* job, int64_t first, int64_t step) {
  const JobType to = static_cast<JobType>(job[kJobTo]);
  switch (static_cast<JobType>(job[kJobFrom])) {
    case JobType::kF64:
      return RunTypedJob<runtime::Plain<double>, runtime::Plain<double>>(job, first, step);
    case JobType::kF32:
      if (to == JobType::kF16)
        return RunTypedJob<runtime::Plain<float>, runtime::F16>(job, first, step);
      if (to == JobType::kBF16)
        return RunTypedJob<runtime::Plain<float>, runtime::BF16>(job, first, step);
      return RunTypedJob<runtime::Plain<float>, runtime::Plain<float>>(job, first, step);
    case JobType::kF16: return RunTypedJob<runtime::F16, runtime::F16>(job, first, step);
    case JobType::kBF16: return RunTypedJob<runtime::BF16, runtime::BF16>(job, first, step);
    case JobType::kI64:
      return RunTypedJob<runtime::Plain<int64_t>, runtime::Plain<int64_t>>(job, first, step);
    case JobType::kI32:
      return RunTypedJob<runtime::Plain<int32_t>, runtime::Plain<int32_t>>(job, first, step);
    case JobType::kI8:
      return RunTypedJob<runtime::Plain<int8_t>, runtime::Plain<int8_t>>(job, first, step);
    case JobType::kU8:
      return RunTypedJob<runtime::Plain<uint8_t>, runtime::Plain<uint8_t>>(job, first, step);
    case JobType::kBool: return RunTypedJob<runtime::Bool, runtime::Bool>(job, first, step);
    case JobType::kI16:
      return RunTypedJob<runtime::Plain<int16_t>, runtime::Plain<int16_t>>(job, first, step);
    case JobType::kU16:
      return RunTypedJob<runtime::Plain<uint16_t>, runtime::Plain<uint16_t>>(job, first, step);
    case JobType::kU32:
      return RunTypedJob<runtime::Plain<uint32_t>, runtime::Plain<uint32_t>>(job, first, step);
    case JobType::kU64:
      return RunTypedJob<runtime::Plain<uint64_t>, runtime::Plain<uint64_t>>(job, first, step);
    case JobType::kHash:
      return RunTypedJob<runtime::Plain<runtime::HashElement>,
                         runtime::Plain<runtime::HashElement>>(job, first, step);
  }
}

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_JOB_H_
