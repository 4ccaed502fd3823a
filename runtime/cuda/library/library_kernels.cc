// The table of library kernels.
#ifdef YUBA_WITH_CUDA
#include <utility>

#include "opsemantics/base/check.h"
#include "runtime/cuda/library/cublas_lt_product.h"
#include "runtime/cuda/library/cudnn_convolution.h"
#include "runtime/cuda/library/library_kernel.h"

namespace yuba::cuda {
namespace {

using Made = absl::StatusOr<std::unique_ptr<LibraryKernel>>;

// What follows a product of matrices may be cuDNN's to do where it is not cuBLAS's: a bias along
// channels outside of positions.
Made MakeProduct(const LibrarySite& site, LibraryHandles& handles) {
  Made made = MakeCublasLtProduct(site, handles);
  if (site.joint != nullptr || site.shape.post_ops.empty() || !absl::IsUnimplemented(made.status()))
    return made;
  Made convolution = MakeCudnnConvolution(site, handles);
  return absl::IsUnimplemented(convolution.status()) ? std::move(made) : std::move(convolution);
}

struct Kind {
  program::LibraryCall::Kind kind;
  const char* library;  // for people
  Made (*make)(const LibrarySite&, LibraryHandles&);
};

constexpr Kind kKinds[] = {
    {program::LibraryCall::CONTRACTION, "cuBLAS", MakeProduct},
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
  return RowOf(site.call().kind()).make(site, handles);
}

const char* LibraryOf(program::LibraryCall::Kind kind) { return RowOf(kind).library; }

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
