// The table of library kernels.
#ifdef YUBA_WITH_CUDA
#include "opsemantics/base/check.h"
#include "runtime/cuda/library/cublas_lt_product.h"
#include "runtime/cuda/library/cudnn_convolution.h"
#include "runtime/cuda/library/library_kernel.h"

namespace yuba::cuda {
namespace {

using Made = absl::StatusOr<std::unique_ptr<LibraryKernel>>;

struct Kind {
  program::LibraryCall::Kind kind;
  const char* library;  // for people
  Made (*make)(const LibrarySite&, LibraryHandles&);
};

constexpr Kind kKinds[] = {
    {program::LibraryCall::CONTRACTION, "cuBLAS", MakeCublasLtProduct},
    {program::LibraryCall::CONVOLUTION, "cuDNN", MakeCudnnConvolution},
    {program::LibraryCall::DATA_GRADIENT, "cuDNN", MakeCudnnConvolution},
    {program::LibraryCall::WEIGHT_GRADIENT, "cuDNN", MakeCudnnConvolution},
};

const Kind& RowOf(program::LibraryCall::Kind kind) {
  for (const Kind& row : kKinds) {
    if (row.kind == kind) return row;
  }
  YUBA_CHECK(false) << "no library for calls of kind " << kind;
  return kKinds[0];
}

}  // namespace

Made MakeLibraryKernel(const LibrarySite& site, LibraryHandles& handles) {
  const auto& function = site.program.message().functions(site.kernel.function());
  if (function.library().post_ops_size() > 0)
    return absl::UnimplementedError("no library here does what follows a product in its call");
  return RowOf(function.library().kind()).make(site, handles);
}

const char* LibraryOf(program::LibraryCall::Kind kind) { return RowOf(kind).library; }

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
