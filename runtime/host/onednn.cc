#include "runtime/host/onednn.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <cstdlib>

#include "opsemantics/base/status.h"
#include "runtime/shared_library.h"

namespace yuba::runtime {
namespace {

absl::StatusOr<const OneDnn*> OpenOnce() {
  // Idle library threads must not spin beside the other virtual devices.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  // The library's threads end by pthread_exit, for which glibc opens its unwinder: now, because
  // later there may be no memory for it, and glibc would end the process.
  void* caller = nullptr;
  backtrace(&caller, 1);
  void* handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const std::string problem = absl::StrCat(
        "oneDNN, which this program's matrix products and convolutions need, cannot be opened (",
        dlerror(), ")");
    if (IsForLackOfMemory(problem)) return absl::ResourceExhaustedError(problem);
    return absl::UnavailableError(
        absl::StrCat(problem, "; install libdnnl2, or compile without library calls"));
  }
  static OneDnn library;
#define YUBA_ONEDNN_LOAD(name)                                                           \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, "dnnl_" #name)); \
  if (library.name == nullptr) {                                                         \
    return absl::UnavailableError("libdnnl.so.2 has no dnnl_" #name                      \
                                  "; version 2.6 is known to work");                     \
  }
  YUBA_ONEDNN_FUNCTIONS(YUBA_ONEDNN_LOAD)
#undef YUBA_ONEDNN_LOAD
  // Of whichever OpenMP runtime the library brought; null if it was built without.
  library.set_threads = reinterpret_cast<void (*)(int)>(dlsym(handle, "omp_set_num_threads"));
  const dnnl_status_t status = library.engine_create(&library.engine, dnnl_cpu, 0);
  if (status != dnnl_success) return OneDnnError("creating an engine", status);
  return &library;
}

}  // namespace

absl::StatusOr<const OneDnn*> OneDnn::Open() {
  static const absl::StatusOr<const OneDnn*> opened = OpenOnce();
  return opened;
}

absl::Status OneDnnError(const char* tried, dnnl_status_t status) {
  if (status == dnnl_out_of_memory) {
    return absl::ResourceExhaustedError(absl::StrCat("oneDNN: ", tried, ": out of memory"));
  }
  return InternalError("oneDNN: ", tried, " failed with status ", static_cast<int>(status));
}

}  // namespace yuba::runtime
