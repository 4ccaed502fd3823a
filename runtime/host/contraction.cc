// Contractions through dnnl_sgemm: the planned product, once for each step of the loops round it.
#include <algorithm>

#include "runtime/host/onednn.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kAlignment = 16;  // floats

void Pack(const float* from, const MatrixLayout& layout, int64_t rows, int64_t columns, float* to) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      to[r * columns + c] = from[r * layout.row_step + c * layout.column_step];
    }
  }
}

void Unpack(const float* from, const MatrixLayout& layout, int64_t rows, int64_t columns,
            float* to) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      to[r * layout.row_step + c * layout.column_step] = from[r * columns + c];
    }
  }
}

class Contraction : public LibraryKernel {
 public:
  Contraction(const OneDnn& library, const LibraryShape& shape)
      : library_(library), shape_(shape), plan_(PlanProduct(shape)) {
    if (plan_.a.packed) a_size_ = Aligned(plan_.m * plan_.k);
    if (plan_.b.packed) b_size_ = Aligned(plan_.k * plan_.n);
    if (plan_.c.packed) c_size_ = Aligned(plan_.m * plan_.n);
  }

  int64_t workspace_bytes() const override {
    return (a_size_ + b_size_ + c_size_) * static_cast<int64_t>(sizeof(float));
  }

  absl::Status Run(const float* left, const float* right, float* result, char* workspace) override {
    dnnl_status_t status = dnnl_success;
    float* const packs = reinterpret_cast<float*>(workspace);
    ForEachStep(plan_.loops, 0, shape_.left, shape_.right, shape_.output,
                [&](int64_t left_at, int64_t right_at, int64_t result_at) {
                  float* const c = plan_.c.packed ? packs + a_size_ + b_size_ : result + result_at;
                  float beta = 0;
                  ForEachStep(plan_.sums, 0, left_at, right_at, 0,
                              [&](int64_t l, int64_t r, int64_t) {
                                const float* a = plan_.swapped ? right + r : left + l;
                                const float* b = plan_.swapped ? left + l : right + r;
                                if (status == dnnl_success) status = Multiply(a, b, beta, c, packs);
                                beta = 1;
                              });
                  if (plan_.c.packed) Unpack(c, plan_.c, plan_.m, plan_.n, result + result_at);
                });
    if (status != dnnl_success) return OneDnnError("a matrix product", status);
    return absl::OkStatus();
  }

 private:
  static int64_t Aligned(int64_t floats) {
    return (floats + kAlignment - 1) / kAlignment * kAlignment;
  }

  dnnl_status_t Multiply(const float* a, const float* b, float beta, float* c, float* packs) const {
    if (plan_.a.packed) Pack(a, plan_.a, plan_.m, plan_.k, packs), a = packs;
    if (plan_.b.packed) Pack(b, plan_.b, plan_.k, plan_.n, packs + a_size_), b = packs + a_size_;
    return library_.sgemm(plan_.a.transposed ? 'T' : 'N', plan_.b.transposed ? 'T' : 'N', plan_.m,
                          plan_.n, plan_.k, 1.0f, a, plan_.a.leading, b, plan_.b.leading, beta, c,
                          plan_.c.leading);
  }

  const OneDnn& library_;
  const LibraryShape shape_;
  const ProductPlan plan_;
  int64_t a_size_ = 0, b_size_ = 0, c_size_ = 0;  // floats
};

}  // namespace

std::unique_ptr<LibraryKernel> MakeContraction(const OneDnn& library, const LibraryShape& shape) {
  return std::make_unique<Contraction>(library, shape);
}

}  // namespace yuba::runtime
