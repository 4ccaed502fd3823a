#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/libraries.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "runtime/cuda/library_folders.h"
#include "runtime/shared_library.h"

namespace yuba::cuda {

namespace {

// Opens the first of the names that is in the folder that was set, in the loader's path or in a
// Python environment, in this order.
absl::StatusOr<runtime::SharedLibrary> OpenLibrary(const std::vector<std::string>& names) {
  std::vector<std::string> candidates;
  for (const std::string& name : names) {
    const std::string file = absl::StrCat(LibraryFolder(), "/", name);
    // What is there and named is meant: another copy would not do.
    if (!LibraryFolder().empty() && access(file.c_str(), F_OK) == 0)
      return runtime::SharedLibrary::Open({file});
  }
  candidates.insert(candidates.end(), names.begin(), names.end());
  for (const std::string& folder : PythonLibraryFolders()) {
    for (const std::string& name : names) candidates.push_back(absl::StrCat(folder, "/", name));
  }
  absl::StatusOr<runtime::SharedLibrary> library = runtime::SharedLibrary::Open(candidates);
  if (library.ok()) return library;
  return Annotate(library.status(),
                  absl::StrCat(names[0],
                               " is not in the loader's path, in nvidia/*/lib of a "
                               "Python environment, or in a folder that --cuda-libs names"));
}

#define YUBA_FIND(name) YUBA_RETURN_IF_ERROR(library.Find(#name, table.name));

absl::StatusOr<const Driver*> OpenDriver() {
  static Driver table;
#define YUBA_ENTRY(name)                                                                 \
  {                                                                                      \
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;          \
    const cudaError_t error = cudaGetDriverEntryPointByVersion(                          \
        #name, reinterpret_cast<void**>(&table.name), 12000, cudaEnableDefault, &found); \
    if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) {                  \
      return absl::UnavailableError(absl::StrCat("the driver has no " #name " (",        \
                                                 cudaGetErrorString(error),              \
                                                 "); install NVIDIA's driver"));         \
    }                                                                                    \
  }
  YUBA_DRIVER_FUNCTIONS(YUBA_ENTRY)
#undef YUBA_ENTRY
  return &table;
}

absl::StatusOr<const CublasLt*> OpenCublasLt() {
  static CublasLt table;
  YUBA_ASSIGN_OR_RETURN(runtime::SharedLibrary library,
                        OpenLibrary({"libcublasLt.so.13", "libcublasLt.so.12"}));
  YUBA_CUBLAS_LT_FUNCTIONS(YUBA_FIND)
  table.path = library.path();
  return &table;
}

absl::StatusOr<const Cudnn*> OpenCudnn() {
  static Cudnn table;
  YUBA_ASSIGN_OR_RETURN(runtime::SharedLibrary library, OpenLibrary({"libcudnn.so.9"}));
  YUBA_CUDNN_FUNCTIONS(YUBA_FIND)
  table.path = library.path();
  return &table;
}

absl::StatusOr<const Nccl*> OpenNccl() {
  static Nccl table;
  YUBA_ASSIGN_OR_RETURN(runtime::SharedLibrary library, OpenLibrary({"libnccl.so.2"}));
  YUBA_NCCL_FUNCTIONS(YUBA_FIND)
  table.path = library.path();
  return &table;
}
#undef YUBA_FIND

}  // namespace

absl::StatusOr<const Driver*> Driver::Open() {
  static const absl::StatusOr<const Driver*> opened = OpenDriver();
  return opened;
}
absl::StatusOr<const CublasLt*> CublasLt::Open() {
  static const absl::StatusOr<const CublasLt*> opened = OpenCublasLt();
  return opened;
}
absl::StatusOr<const Cudnn*> Cudnn::Open() {
  static const absl::StatusOr<const Cudnn*> opened = OpenCudnn();
  return opened;
}
absl::StatusOr<const Nccl*> Nccl::Open() {
  static const absl::StatusOr<const Nccl*> opened = OpenNccl();
  return opened;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
