#ifdef YUBA_WITH_CUDA
// cuBLASLt on the fake GPUs: products and their epilogues as they are described, and errors for
// what the library does not take. It has several algorithms, of which a run may take some.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

#include "opsemantics/base/half.h"
#include "tests/runtime/cuda/fake_cuda.h"
#include "tests/runtime/cuda/fake_libraries.h"
#include "tests/runtime/cuda/fake_lt_algorithms.h"
#include "tests/runtime/cuda/fake_streams.h"

namespace yuba::cuda {
namespace {

struct Product {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale = CUDA_R_32F;
  int32_t first = CUBLAS_OP_N, second = CUBLAS_OP_N;  // cublasOperation_t
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  int64_t bias_step = 0;
  const void* aux = nullptr;
  int64_t aux_leading = 0, aux_step = 0;

  bool HasBias() const { return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }
  bool HasAux() const { return (epilogue & 128) != 0; }  // of cublasLt.h's numbers
  bool HasSums() const {
    return epilogue == CUBLASLT_EPILOGUE_BGRADA || epilogue == CUBLASLT_EPILOGUE_BGRADB;
  }
};
struct Matrix {
  cudaDataType type = CUDA_R_32F;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0, step = 0;
  int32_t batch = 1;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint32_t alignments[4] = {256, 256, 256, 256};  // of A, B, C and D
};
// The library's own types are opaque.
template <typename Mine, typename Theirs>
Mine& As(Theirs* descriptor) {
  return *reinterpret_cast<Mine*>(descriptor);
}
template <typename Mine, typename Theirs>
cublasStatus_t Destroy(Theirs* descriptor) {
  delete reinterpret_cast<Mine*>(descriptor);
  return CUBLAS_STATUS_SUCCESS;
}
template <typename Value>
cublasStatus_t Take(Value& value, const void* bytes, size_t size) {
  if (size != sizeof value) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&value, bytes, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CreateHandle(cublasLtHandle_t* handle) {
  if (Fake().libraries_refuse) return CUBLAS_STATUS_NOT_SUPPORTED;
  *handle = reinterpret_cast<cublasLtHandle_t>(new int);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t DestroyHandle(cublasLtHandle_t handle) {
  delete reinterpret_cast<int*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CreateProduct(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                             cudaDataType_t scale) {
  auto* product = new Product;
  product->compute = compute;
  product->scale = scale;
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t SetProduct(cublasLtMatmulDesc_t made, cublasLtMatmulDescAttributes_t name,
                          const void* value, size_t size) {
  Product& product = As<Product>(made);
  if (name == CUBLASLT_MATMUL_DESC_TRANSA) return Take(product.first, value, size);
  if (name == CUBLASLT_MATMUL_DESC_TRANSB) return Take(product.second, value, size);
  if (name == CUBLASLT_MATMUL_DESC_EPILOGUE) return Take(product.epilogue, value, size);
  if (name == CUBLASLT_MATMUL_DESC_BIAS_POINTER) return Take(product.bias, value, size);
  if (name == CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE) return Take(product.bias_step, value, size);
  if (name == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER) return Take(product.aux, value, size);
  if (name == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD) return Take(product.aux_leading, value, size);
  if (name == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE)
    return Take(product.aux_step, value, size);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t CreateMatrix(cublasLtMatrixLayout_t* made, cudaDataType type, uint64_t rows,
                            uint64_t columns, int64_t leading) {
  if (rows == 0 || columns == 0 || leading < static_cast<int64_t>(rows))
    return CUBLAS_STATUS_INVALID_VALUE;
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(new Matrix{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t SetMatrix(cublasLtMatrixLayout_t made, cublasLtMatrixLayoutAttribute_t name,
                         const void* value, size_t size) {
  Matrix& matrix = As<Matrix>(made);
  if (name == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return Take(matrix.batch, value, size);
  if (name == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) return Take(matrix.step, value, size);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t CreatePreference(cublasLtMatmulPreference_t* made) {
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t SetPreference(cublasLtMatmulPreference_t made,
                             cublasLtMatmulPreferenceAttributes_t name, const void* value,
                             size_t size) {
  Preference& preference = As<Preference>(made);
  uint32_t* const of = preference.alignments;
  switch (name) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return Take(preference.workspace, value, size);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return Take(preference.reductions, value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return Take(of[0], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return Take(of[1], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return Take(of[2], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return Take(of[3], value, size);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

uint64_t Rows(const Matrix& matrix, int32_t operation) {
  return operation == CUBLAS_OP_N ? matrix.rows : matrix.columns;
}
uint64_t Columns(const Matrix& matrix, int32_t operation) {
  return operation == CUBLAS_OP_N ? matrix.columns : matrix.rows;
}

// Whether the library has the combination of types, and the extents fit.
bool HasProduct(const Product& product, const Matrix& a, const Matrix& b, const Matrix& c) {
  const bool doubles = a.type == CUDA_R_64F;
  const bool rounded = product.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && a.type == CUDA_R_32F;
  const bool types =
      a.type == b.type && (c.type == a.type || (c.type == CUDA_R_32F && !doubles)) &&
      product.scale == (doubles ? CUDA_R_64F : CUDA_R_32F) &&
      (rounded || product.compute == (doubles ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F));
  return types && Rows(a, product.first) == c.rows && Columns(b, product.second) == c.columns &&
         Columns(a, product.first) == Rows(b, product.second) && a.batch == c.batch &&
         b.batch == c.batch;
}

// Whether what is added lies like the result, but for the distance of columns.
bool IsLike(const Matrix& c, const Matrix& d) {
  return c.type == d.type && c.rows == d.rows && c.columns == d.columns && c.batch == d.batch;
}

// Whether the argument of GELU lies as cublasLt.h wants it.
bool HasRows(const Product& product, const Matrix& d) {
  return product.aux != nullptr && product.aux_leading % 8 == 0 &&
         product.aux_leading >= static_cast<int64_t>(d.rows) &&
         (d.batch == 1 || product.aux_step % 8 == 0);
}

bool HasEpilogue(const Product& product, const Matrix& d) {
  if (Fake().refuses_gradients && (product.HasSums() || product.HasAux())) return false;
  switch (product.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_GELU: return true;
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_BIAS: return product.bias != nullptr;
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_DGELU: return HasRows(product, d);
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS: return product.bias != nullptr && HasRows(product, d);
    case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB: return product.bias != nullptr && d.batch == 1;
    default: return false;
  }
}

cublasStatus_t Heuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,
                         cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                         cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int most,
                         cublasLtMatmulHeuristicResult_t* results, int* count) {
  const Preference& wanted = As<Preference>(preference);
  constexpr uint32_t kChance =  // in the result's type, or of an order that is not said
      CUBLASLT_REDUCTION_SCHEME_INPLACE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  if (most < 1 || !IsLike(As<Matrix>(c), As<Matrix>(d)) || (wanted.reductions & kChance) != 0 ||
      !HasEpilogue(As<Product>(product), As<Matrix>(d)) ||
      !HasProduct(As<Product>(product), As<Matrix>(a), As<Matrix>(b), As<Matrix>(d)))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (wanted.workspace < kLtWorkspaceBytes) return CUBLAS_STATUS_NOT_SUPPORTED;
  *count = std::min<int>(most, LtRows().size());
  for (int i = 0; i < *count; ++i) {
    results[i] = {};
    LtAlgorithm algorithm = Configured(LtRows()[i]);
    std::memcpy(algorithm.alignments, wanted.alignments, sizeof wanted.alignments);
    const auto bias = reinterpret_cast<uintptr_t>(As<Product>(product).bias);
    algorithm.bias_alignment = static_cast<uint32_t>((bias | 256) & -(bias | 256));
    const auto aux = reinterpret_cast<uintptr_t>(As<Product>(product).aux);
    algorithm.aux_alignment = static_cast<uint32_t>((aux | 256) & -(aux | 256));
    std::memcpy(&results[i].algo, &algorithm, sizeof algorithm);
    results[i].workspaceSize = LtRows()[i].workspace;
    results[i].state = CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CheckAlgorithm(cublasLtHandle_t, cublasLtMatmulDesc_t product,
                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t* made,
                              cublasLtMatmulHeuristicResult_t* result) {
  const auto& algorithm = As<const LtAlgorithm>(made);
  const LtRow* const row = FindLtRow(algorithm.id);
  const bool has = row != nullptr && row->does != LtRow::kIsRefused &&
                   row->id != Fake().refused_algorithm && IsConfigured(algorithm, *row) &&
                   HasProduct(As<Product>(product), As<Matrix>(a), As<Matrix>(b), As<Matrix>(d));
  if (!has) return CUBLAS_STATUS_NOT_SUPPORTED;
  result->state = CUBLAS_STATUS_SUCCESS;
  result->workspaceSize = row->workspace;
  return CUBLAS_STATUS_SUCCESS;
}

double Load(const void* data, cudaDataType type, int64_t at) {
  if (type == CUDA_R_64F) return static_cast<const double*>(data)[at];
  if (type == CUDA_R_32F) return static_cast<const float*>(data)[at];
  const uint16_t bits = static_cast<const uint16_t*>(data)[at];
  return type == CUDA_R_16F ? FromF16(bits) : FromBF16(bits);
}
void Store(double value, void* data, cudaDataType type, int64_t at) {
  const auto small = static_cast<float>(value);
  if (type == CUDA_R_64F)
    static_cast<double*>(data)[at] = value;
  else if (type == CUDA_R_32F)
    static_cast<float*>(data)[at] = small;
  else
    static_cast<uint16_t*>(data)[at] = type == CUDA_R_16F ? ToF16(small) : ToBF16(small);
}

// One element of a x b, added up in the accumulator's type, in so many parts.
template <typename Accumulator>
double Dot(const Product& product, const Matrix& a, const void* a_data, int64_t a_at,
           const Matrix& b, const void* b_data, int64_t b_at, int parts) {
  const int64_t a_step = product.first == CUBLAS_OP_N ? a.leading : 1;
  const int64_t b_step = product.second == CUBLAS_OP_N ? 1 : b.leading;
  const uint64_t terms = Columns(a, product.first);
  Accumulator all = 0;
  for (int part = 0; part < parts; ++part) {
    Accumulator sum = 0;
    for (uint64_t k = terms * part / parts; k < terms * (part + 1) / parts; ++k) {
      sum += static_cast<Accumulator>(Load(a_data, a.type, a_at + k * a_step)) *
             static_cast<Accumulator>(Load(b_data, b.type, b_at + k * b_step));
    }
    all = part == 0 ? sum : all + sum;
  }
  return all;
}

struct Factors {
  double alpha, beta;
  double error;  // that each element has
};

constexpr double kRootOfTwoByPi = 0.7978845608028654;

// Of GELU by tanh.
double SlopeAt(double x) {
  const double t = std::tanh(kRootOfTwoByPi * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * kRootOfTwoByPi * (1 + 3 * 0.044715 * x * x);
}

double Activated(const Product& product, double value) {
  if ((product.epilogue & CUBLASLT_EPILOGUE_RELU) != 0) return value > 0 ? value : 0;
  if ((product.epilogue & CUBLASLT_EPILOGUE_GELU) == 0) return value;
  return value / 2 * (1 + std::tanh(kRootOfTwoByPi * (value + 0.044715 * value * value * value)));
}

void Multiply(const Product& product, const Factors& factors, const Matrix& a, const void* a_data,
              const Matrix& b, const void* b_data, const Matrix& c, const void* c_data,
              const Matrix& d, void* d_data, int parts) {
  const auto dot = a.type == CUDA_R_64F ? Dot<double> : Dot<float>;
  for (int64_t i = 0; i < d.batch; ++i) {
    for (uint64_t row = 0; row < d.rows; ++row) {
      for (uint64_t column = 0; column < d.columns; ++column) {
        const int64_t a_at = i * a.step + row * (product.first == CUBLAS_OP_N ? 1 : a.leading);
        const int64_t b_at = i * b.step + column * (product.second == CUBLAS_OP_N ? b.leading : 1);
        const int64_t c_at = i * c.step + row + column * c.leading;
        const int64_t d_at = i * d.step + row + column * d.leading;
        double value = factors.alpha * dot(product, a, a_data, a_at, b, b_data, b_at, parts);
        if (factors.beta != 0) value += factors.beta * Load(c_data, c.type, c_at);
        if (product.HasBias())
          value += Load(product.bias, d.type, i * product.bias_step + static_cast<int64_t>(row));
        const int64_t aux_at = i * product.aux_step + row + column * product.aux_leading;
        if (product.epilogue == CUBLASLT_EPILOGUE_DGELU)
          value *= SlopeAt(Load(product.aux, d.type, aux_at));
        else if (product.HasAux())
          Store(value, const_cast<void*>(product.aux), d.type, aux_at);
        Store(Activated(product, value) + factors.error, d_data, d.type, d_at);
      }
    }
  }
}

// What the library calls the gradient of a bias: the rows of A, or the columns of B, added up.
void Sum(const Product& product, const Matrix& a, const void* a_data, const Matrix& b,
         const void* b_data, const Matrix& d) {
  const bool of_a = product.epilogue == CUBLASLT_EPILOGUE_BGRADA;
  const Matrix& summed = of_a ? a : b;
  const void* data = of_a ? a_data : b_data;
  const bool plain = (of_a ? product.first : product.second) == CUBLAS_OP_N;
  const int64_t step = plain == of_a ? 1 : summed.leading;   // to the next sum
  const int64_t inner = plain == of_a ? summed.leading : 1;  // to the next term
  for (uint64_t i = 0; i < (of_a ? d.rows : d.columns); ++i) {
    double sum = 0;
    for (uint64_t k = 0; k < Columns(a, product.first); ++k)
      sum += Load(data, summed.type, i * step + k * inner);
    Store(sum, const_cast<void*>(product.bias), d.type, i);
  }
}

int other_bits = 0;  // calls of the algorithm that has them

bool IsAligned(const void* pointer, uint32_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

cublasStatus_t Matmul(cublasLtHandle_t, cublasLtMatmulDesc_t described, const void* alpha,
                      const void* a_data, cublasLtMatrixLayout_t a, const void* b_data,
                      cublasLtMatrixLayout_t b, const void* beta, const void* c_data,
                      cublasLtMatrixLayout_t c, void* d_data, cublasLtMatrixLayout_t d,
                      const cublasLtMatmulAlgo_t* algorithm, void* workspace, size_t bytes,
                      cudaStream_t stream) {
  const Product product = As<Product>(described);
  const auto& chosen_for = As<const LtAlgorithm>(algorithm);
  const uint32_t* of = chosen_for.alignments;
  const bool doubles = product.scale == CUDA_R_64F;
  const double scale = doubles ? *static_cast<const double*>(alpha)
                               : static_cast<double>(*static_cast<const float*>(alpha));
  const double before = doubles ? *static_cast<const double*>(beta)
                                : static_cast<double>(*static_cast<const float*>(beta));
  const bool in_place = c_data == d_data;
  const LtRow* const row = FindLtRow(chosen_for.id);
  if (row == nullptr || !IsConfigured(chosen_for, *row)) return CUBLAS_STATUS_INVALID_VALUE;
  if (row->does == LtRow::kFailsToStart) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (in_place != (c == d) || bytes < row->workspace || !IsAligned(workspace, 256) ||
      !IsAligned(a_data, of[0]) || !IsAligned(b_data, of[1]) || !IsAligned(c_data, of[2]) ||
      !IsAligned(d_data, of[3]) ||
      ((product.HasBias() || product.HasSums()) &&
       !IsAligned(product.bias, chosen_for.bias_alignment)) ||
      (product.HasAux() && !IsAligned(product.aux, chosen_for.aux_alignment)))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  ++Fake().products;
  Fake().products_with_gradients += product.HasSums() || product.HasAux() ? 1 : 0;
  ++Fake().products_by[row->id];
  const double error = row->does == LtRow::kHasOtherBits ? ++other_bits % 2 : 0;
  Enqueue(stream, [=, of_a = As<Matrix>(a), of_b = As<Matrix>(b), of_c = As<Matrix>(c),
                   of_d = As<Matrix>(d)] {
    std::memset(workspace, -1, row->workspace);
    Multiply(product, {scale, before, error}, of_a, a_data, of_b, b_data, of_c, c_data, of_d,
             d_data, row->split_k);
    if (product.HasSums()) Sum(product, of_a, a_data, of_b, b_data, of_d);
    Gpus().microseconds += row->microseconds;
  });
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

void FakeCublasLt() {
  const auto opened = CublasLt::Open();
  if (!opened.ok()) return;
  CublasLt& library = *const_cast<CublasLt*>(*opened);
  library.cublasLtCreate = CreateHandle;
  library.cublasLtDestroy = DestroyHandle;
  library.cublasLtMatmulDescCreate = CreateProduct;
  library.cublasLtMatmulDescDestroy = Destroy<Product>;
  library.cublasLtMatmulDescSetAttribute = SetProduct;
  library.cublasLtMatrixLayoutCreate = CreateMatrix;
  library.cublasLtMatrixLayoutDestroy = Destroy<Matrix>;
  library.cublasLtMatrixLayoutSetAttribute = SetMatrix;
  library.cublasLtMatmulPreferenceCreate = CreatePreference;
  library.cublasLtMatmulPreferenceDestroy = Destroy<Preference>;
  library.cublasLtMatmulPreferenceSetAttribute = SetPreference;
  library.cublasLtMatmulAlgoGetHeuristic = Heuristic;
  library.cublasLtMatmulAlgoCheck = CheckAlgorithm;
  library.cublasLtMatmulAlgoConfigGetAttribute = GetLtConfiguration;
  library.cublasLtMatmul = Matmul;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
