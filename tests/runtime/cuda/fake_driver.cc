#ifdef YUBA_WITH_CUDA
// The driver of the fake GPUs. Kernels of a module are C++ by name, or functions of a shared object
// for processors, where a program has one in place of its PTX (generate_for_fakes.cc).
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/check.h"
#include "runtime/cuda/job.h"
#include "runtime/cuda/matrix_copy.h"
#include "runtime/cuda/row_sort.h"
#include "runtime/program/kernel_abi.h"
#include "tests/runtime/cuda/fake_cuda.h"
#include "tests/runtime/cuda/fake_streams.h"
#include "tests/runtime/cuda/fake_warps.h"

struct CUfunc_st {
  std::string name;
  std::shared_ptr<yuba::cuda::ObjectKernel> code;  // of a shared object, or null
};
struct CUmod_st {
  std::vector<std::unique_ptr<CUfunc_st>> functions;
  void* object = nullptr;  // of dlopen, or null
  int file = -1;           // that it is opened from, whose name is its own as long as it is open
};

namespace yuba::cuda {
namespace {

// y = 2 x + 1, the kernel of backend_test.
void TwicePlusOne(void* const* buffers, const int64_t* arguments, int64_t thread, int64_t threads) {
  const float* x = static_cast<const float*>(buffers[0]);
  float* y = static_cast<float*>(buffers[1]);
  for (int64_t i = arguments[0] + thread; i < arguments[1]; i += threads) {
    y[i - arguments[4]] = 2 * x[i - arguments[2]] + 1;
  }
}

// The same, and notes elements of x below 0 as indices outside of one element (kernel_abi.h).
void TwiceNoting(void* const* buffers, const int64_t* arguments, int64_t thread, int64_t threads) {
  TwicePlusOne(buffers, arguments, thread, threads);
  auto* record = static_cast<runtime::IndexRecord*>(buffers[2]);
  for (int64_t i = arguments[0] + thread; i < arguments[1]; i += threads) {
    const float x = static_cast<const float*>(buffers[0])[i - arguments[2]];
    if (x < 0 && record->found == 0) *record = {1, 0, static_cast<int64_t>(x), 1, i, 0, 0};
  }
}

template <typename T>
T Parameter(void** parameters, int index) {
  return *static_cast<T*>(parameters[index]);
}

// A started kernel: its parameters, taken over at once, and what one thread of it does.
std::function<void(int64_t, int64_t)> KernelOf(const std::string& name, void** parameters) {
  if (name == "yuba_job") {
    const auto* job = Parameter<const int64_t*>(parameters, 0);
    return [=](int64_t thread, int64_t threads) { RunJob(job, thread, threads); };
  }
  if (name == "yuba_matrix") {
    const auto copy = Parameter<MatrixCopy>(parameters, 0);
    return [=](int64_t thread, int64_t threads) { RunMatrixCopy(copy, thread, threads); };
  }
  if (name == "yuba_mark") {
    auto* const to = reinterpret_cast<std::atomic<int64_t>*>(Parameter<int64_t*>(parameters, 0));
    const auto number = Parameter<int64_t>(parameters, 1);
    return [=](int64_t, int64_t) { *to = number; };
  }
  if (name == "yuba_merge_4" || name == "yuba_merge_8") {
    const auto sort = Parameter<RowSort>(parameters, 0);
    const auto merge = name == "yuba_merge_4" ? RunSortMerge<uint32_t> : RunSortMerge<uint64_t>;
    return [=](int64_t thread, int64_t) { merge(sort, thread); };
  }
  const auto* buffers = Parameter<void* const*>(parameters, 0);
  const auto* arguments = Parameter<const int64_t*>(parameters, 1);
  const auto run = name == "twice_noting" ? TwiceNoting : TwicePlusOne;
  return [=](int64_t thread, int64_t threads) { run(buffers, arguments, thread, threads); };
}

// All blocks of a sort of tiles, each phase by all threads of the block, in an order that `seed`
// picks, before the next one begins.
template <typename Key>
void SortAllTiles(const RowSort& sort, int64_t blocks, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int> threads(kSortThreads<Key>);
  std::iota(threads.begin(), threads.end(), 0);
  const auto tile = std::make_unique<SortTile<Key>>();
  for (int64_t block = 0; block < blocks; ++block) {
    for (int phase = 0; phase < SortPhases(sort); ++phase) {
      std::shuffle(threads.begin(), threads.end(), random);
      for (const int thread : threads) RunSortPhase<Key>(sort, phase, *tile, block, thread);
    }
  }
}

// All threads of a started kernel.
std::function<void()> AllThreadsOf(const CUfunc_st& function, void** parameters, int64_t blocks,
                                   int64_t block) {
  if (function.code != nullptr) {
    const auto* buffers = Parameter<void* const*>(parameters, 0);
    const auto* arguments = Parameter<const int64_t*>(parameters, 1);
    const uint64_t seed = Gpus().random();
    return
        [=, code = function.code] { RunThreads(*code, buffers, arguments, blocks, block, seed); };
  }
  if (function.name == "yuba_sort_4" || function.name == "yuba_sort_8") {
    const auto sort = Parameter<RowSort>(parameters, 0);
    const bool wide = function.name == "yuba_sort_8";
    YUBA_CHECK(block == (wide ? kSortThreads<uint64_t> : kSortThreads<uint32_t>));
    const auto run = wide ? SortAllTiles<uint64_t> : SortAllTiles<uint32_t>;
    return [=, seed = Gpus().random()] { run(sort, blocks, seed); };
  }
  const auto kernel = KernelOf(function.name, parameters);
  return [=] {
    for (int64_t thread = 0; thread < blocks * block; ++thread) kernel(thread, blocks * block);
  };
}

// Opens the shared object of an image, if it is one and not PTX; false where that fails.
bool OpenObject(absl::string_view image, CUmod_st& module) {
  if (!absl::ConsumePrefix(&image, "ELF ")) return true;
  const std::string bytes = absl::HexStringToBytes(image);
  module.file = memfd_create("kernels", 0);
  if (write(module.file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    return false;
  module.object =
      dlopen(("/proc/self/fd/" + std::to_string(module.file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  return module.object != nullptr;
}

CUresult LoadModule(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fails("cuModuleLoadDataEx")) return CUDA_ERROR_INVALID_PTX;
  ++Fake().modules;
  *module = new CUmod_st;
  const bool opened = OpenObject(static_cast<const char*>(image), **module);
  return opened ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}
CUresult UnloadModule(CUmodule module) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  --Fake().modules;
  if (module->object != nullptr) dlclose(module->object);
  if (module->file >= 0) close(module->file);
  delete module;
  return CUDA_SUCCESS;
}
CUresult FindFunction(CUfunction* function, CUmodule module, const char* name) {
  static const std::set<std::string> known = {"yuba_job",     "yuba_mark",      "yuba_matrix",
                                              "yuba_sort_4",  "yuba_sort_8",    "yuba_merge_4",
                                              "yuba_merge_8", "twice_plus_one", "twice_noting"};
  if (module->object == nullptr && known.count(name) == 0) return CUDA_ERROR_NOT_FOUND;
  module->functions.push_back(std::make_unique<CUfunc_st>());
  *function = module->functions.back().get();
  (*function)->name = name;
  if (module->object == nullptr) return CUDA_SUCCESS;
  (*function)->code = FindKernel(module->object, name);
  return (*function)->code != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult Launch(CUfunction function, unsigned blocks, unsigned, unsigned, unsigned block, unsigned,
                unsigned, unsigned, CUstream stream, void** parameters, void**) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fails("cuLaunchKernel") || blocks == 0) return CUDA_ERROR_INVALID_VALUE;
  if (stream->gpu != current) return CUDA_ERROR_INVALID_CONTEXT;
  const bool faults = ++Fake().kernels == Fake().fault;
  const int gpu = stream->gpu;
  const auto run = AllThreadsOf(*function, parameters, blocks, block);
  const cudaError_t state = EnqueueKernel(stream, [=] {
    if (faults)
      Gpus().broken.insert(gpu);
    else
      run();
  });
  return state == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}
CUresult WriteValue(CUstream stream, CUdeviceptr to, cuuint64_t value, unsigned flags) {
  if (flags != CU_STREAM_WRITE_VALUE_DEFAULT) return CUDA_ERROR_INVALID_VALUE;  // as drivers do
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  auto* const number = reinterpret_cast<std::atomic<int64_t>*>(to);
  const cudaError_t state = Enqueue(stream, [=] { *number = static_cast<int64_t>(value); });
  return state == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}
CUresult ErrorString(CUresult, const char** words) {
  *words = "the fake driver says no";
  return CUDA_SUCCESS;
}

}  // namespace

void* DriverFunction(const std::string& name) {
  static const auto* functions = new std::map<std::string, void*>{
      {"cuModuleLoadDataEx", reinterpret_cast<void*>(LoadModule)},
      {"cuModuleUnload", reinterpret_cast<void*>(UnloadModule)},
      {"cuModuleGetFunction", reinterpret_cast<void*>(FindFunction)},
      {"cuLaunchKernel", reinterpret_cast<void*>(Launch)},
      {"cuStreamWriteValue64", reinterpret_cast<void*>(WriteValue)},
      {"cuGetErrorString", reinterpret_cast<void*>(ErrorString)}};
  return functions->at(name);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
