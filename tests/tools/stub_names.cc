// Functions that a program looks for when it opens cuBLASLt and cuDNN. They are never called: the
// fakes (tests/runtime/cuda) have their own.
#define YUBA_STUB(name) \
  extern "C" void name() {}
YUBA_STUB(cublasLtGetProperty)
YUBA_STUB(cublasLtGetStatusString)
YUBA_STUB(cublasLtCreate)
YUBA_STUB(cublasLtDestroy)
YUBA_STUB(cublasLtMatmulDescCreate)
YUBA_STUB(cublasLtMatmulDescDestroy)
YUBA_STUB(cublasLtMatmulDescSetAttribute)
YUBA_STUB(cublasLtMatrixLayoutCreate)
YUBA_STUB(cublasLtMatrixLayoutDestroy)
YUBA_STUB(cublasLtMatrixLayoutSetAttribute)
YUBA_STUB(cublasLtMatmulPreferenceCreate)
YUBA_STUB(cublasLtMatmulPreferenceDestroy)
YUBA_STUB(cublasLtMatmulPreferenceSetAttribute)
YUBA_STUB(cublasLtMatmulAlgoGetHeuristic)
YUBA_STUB(cublasLtMatmul)
