// A stand-in for the driver (libcuda.so.1) that knows of no GPU and takes every kernel: enough for
// cuDNN's engines for attention compile a kernel when they are planned, load it (without a context)
// and look at it. Without a driver they say that a prerequisite is missing, and the heuristics name
// no engine at all. The functions are those that cuDNN 9.19 looks up and those that 9.27 and 9.28
// are linked to; what they are given and give is the driver's C interface, of which only results
// matter here.
namespace {

enum Result : int { kSuccess = 0, kNoDevice = 100 };

// What is made here, which nobody looks into.
char made;

}  // namespace

extern "C" {

// Functions that give a thing: the first argument is where.
#define YUBA_GIVES(name)                 \
  int name(void** result) {              \
    *result = static_cast<void*>(&made); \
    return kSuccess;                     \
  }
YUBA_GIVES(cuLibraryLoadData)
YUBA_GIVES(cuLibraryLoadFromFile)
YUBA_GIVES(cuLibraryGetKernel)
YUBA_GIVES(cuKernelGetFunction)
YUBA_GIVES(cuModuleLoadData)
YUBA_GIVES(cuModuleLoadDataEx)
YUBA_GIVES(cuModuleLoadFatBinary)
YUBA_GIVES(cuModuleGetFunction)

// Functions that change or free a kernel.
#define YUBA_DOES(name) \
  int name() { return kSuccess; }
YUBA_DOES(cuLibraryUnload)
YUBA_DOES(cuModuleUnload)
YUBA_DOES(cuKernelSetAttribute)
YUBA_DOES(cuFuncSetAttribute)

// Attributes of a kernel, as registers: none.
int cuKernelGetAttribute(int* value) {
  *value = 0;
  return kSuccess;
}
int cuFuncGetAttribute(int* value) {
  *value = 0;
  return kSuccess;
}

// All that needs a GPU.
#define YUBA_LACKS(name) \
  int name() { return kNoDevice; }
YUBA_LACKS(cuInit)
YUBA_LACKS(cuDriverGetVersion)
YUBA_LACKS(cuDeviceGet)
YUBA_LACKS(cuDeviceGetCount)
YUBA_LACKS(cuDeviceGetAttribute)
YUBA_LACKS(cuDevicePrimaryCtxRetain)
YUBA_LACKS(cuDevicePrimaryCtxRelease)
YUBA_LACKS(cuDevicePrimaryCtxReset)
YUBA_LACKS(cuCtxGetCurrent)
YUBA_LACKS(cuCtxGetDevice)
YUBA_LACKS(cuCtxGetLimit)
YUBA_LACKS(cuCtxPushCurrent)
YUBA_LACKS(cuCtxPopCurrent)
YUBA_LACKS(cuStreamGetCtx)
YUBA_LACKS(cuStreamSynchronize)
YUBA_LACKS(cuLaunchKernel)
YUBA_LACKS(cuLaunchKernelEx)
YUBA_LACKS(cuLaunchCooperativeKernel)
YUBA_LACKS(cuLinkCreate)
YUBA_LACKS(cuLinkCreate_v2)
YUBA_LACKS(cuLinkAddData)
YUBA_LACKS(cuLinkAddData_v2)
YUBA_LACKS(cuLinkAddFile_v2)
YUBA_LACKS(cuLinkComplete)
YUBA_LACKS(cuLinkDestroy)
YUBA_LACKS(cuModuleGetGlobal_v2)
YUBA_LACKS(cuMemcpyDtoH_v2)
YUBA_LACKS(cuOccupancyMaxActiveBlocksPerMultiprocessor)
YUBA_LACKS(cuOccupancyMaxPotentialClusterSize)
YUBA_LACKS(cuTensorMapEncodeIm2col)
YUBA_LACKS(cuTensorMapEncodeTiled)

int cuGetErrorString(int, const char** text) {
  *text = "no GPU";
  return kSuccess;
}
int cuGetErrorName(int result, const char** text) { return cuGetErrorString(result, text); }

}  // extern "C"
