// Contractions through dnnl_sgemm. What it cannot take as it lies (strides that it does not know,
// bf16, f16) goes through f32 copies in the workspace; the planned product is then cut into tiles,
// blocks of rows by panels of columns, whose copies fit the caches. Where there is one large
// product of f32 the library's own threads share it; else the device's threads share out tiles and
// steps of the loops, and sgemm runs in each.
#include <algorithm>
#include <atomic>

#include "runtime/host/launch_parts.h"
#include "runtime/host/matrix_copies.h"
#include "runtime/host/onednn.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kAlignment = 16;  // floats
// Of the copies: a panel of the right matrix stays in the cache of a core (1 MB), a block of the
// left one, which all panels are multiplied with, in the cache that cores share (4 MB).
constexpr int64_t kPanelFloats = int64_t{1} << 18, kBlockFloats = int64_t{1} << 20;
// So that sgemm keeps its speed, and copying a panel again for each block costs little beside it.
constexpr int64_t kFewestColumns = 64, kFewestRows = 256;

int64_t Aligned(int64_t floats) { return (floats + kAlignment - 1) / kAlignment * kAlignment; }

int64_t Blocks(int64_t extent, int64_t size) { return (extent + size - 1) / size; }

class Contraction : public LibraryKernel {
 public:
  Contraction(const OneDnn& library, const LibraryShape& shape, ThreadTeam& team)
      : library_(library), team_(team), shape_(shape), plan_(PlanProduct(shape)) {
    const bool narrow = shape.type != ElementType::kF32;
    copy_a_ = narrow || plan_.a.packed;
    copy_b_ = narrow || plan_.b.packed;
    copy_c_ = shape.result_type != ElementType::kF32 || plan_.c.packed;
    for (const StridedIndex& loop : plan_.loops) steps_ *= loop.extent;
    PlanParts();
    if (copy_a_) a_size_ = Aligned(rows_ * plan_.k);
    if (copy_b_) b_size_ = Aligned(plan_.k * panel_);
    if (copy_c_) c_size_ = Aligned(rows_ * panel_);
  }

  int64_t workspace_bytes() const override {
    return parts_ * (a_size_ + b_size_ + c_size_) * static_cast<int64_t>(sizeof(float));
  }

  absl::Status Run(const LibraryBuffers& buffers, char* workspace) override {
    std::atomic<dnnl_status_t> failure{dnnl_success};
    const Operands operands = {static_cast<const char*>(buffers.left),
                               static_cast<const char*>(buffers.right),
                               static_cast<char*>(buffers.result)};
    team_.Run(parts_, [&](int part) {
      if (parts_ > 1) library_.UseThreads(1);
      float* const own = reinterpret_cast<float*>(workspace) + part * (a_size_ + b_size_ + c_size_);
      const dnnl_status_t status = RunPart(part, operands, own);
      if (status != dnnl_success) failure = status;
    });
    if (parts_ > 1) library_.UseThreads(team_.threads());
    if (failure != dnnl_success) return OneDnnError("a matrix product", failure);
    return absl::OkStatus();
  }

 private:
  struct Operands {
    const char* left;
    const char* right;
    char* result;
  };

  // Sets rows_, panel_ and parts_.
  void PlanParts() {
    rows_ = plan_.m;
    panel_ = plan_.n;
    const bool copies = copy_a_ || copy_b_ || copy_c_;
    if (copies) {
      rows_ = std::min(rows_, std::max(kFewestRows, kBlockFloats / plan_.k));
      const int64_t fitting = kPanelFloats / std::max(plan_.k, rows_) / 16 * 16;
      panel_ = std::min(panel_, std::max(kFewestColumns, fitting));
    }
    double work = static_cast<double>(steps_) * static_cast<double>(plan_.m);
    work *= static_cast<double>(plan_.n) * static_cast<double>(plan_.k);
    for (const StridedIndex& sum : plan_.sums) work *= static_cast<double>(sum.extent);
    const int64_t worth =
        static_cast<int64_t>(std::min<double>(team_.threads(), work / kProductsPerThread));
    if (worth < 2 || (!copies && steps_ < worth)) return;
    if (steps_ < worth) {  // panels for all
      const int64_t share = Blocks(plan_.n, Blocks(worth, steps_));
      panel_ = std::min(panel_, std::max(kFewestColumns, Blocks(share, 16) * 16));
    }
    parts_ = static_cast<int>(std::min(worth, steps_ * Tiles()));
  }

  int64_t Tiles() const { return Blocks(plan_.m, rows_) * Blocks(plan_.n, panel_); }

  // The tiles of one thread, of all tiles of all steps of the loops.
  dnnl_status_t RunPart(int part, const Operands& operands, float* workspace) const {
    dnnl_status_t status = dnnl_success;
    const int64_t tiles = Tiles(), items = steps_ * tiles;
    const int64_t begin = part * items / parts_, end = (part + 1) * items / parts_;
    int64_t step = 0;
    ForEachStep(plan_.loops, 0, shape_.left, shape_.right, shape_.output,
                [&](int64_t left, int64_t right, int64_t result) {
                  const char* copied = nullptr;
                  for (int64_t tile = std::max<int64_t>(0, begin - step * tiles);
                       tile < std::min(tiles, end - step * tiles); ++tile) {
                    if (status != dnnl_success) break;
                    status = RunTile(tile, operands, {left, right, result}, workspace, &copied);
                  }
                  ++step;
                });
    return status;
  }

  struct Offsets {
    int64_t left, right, result;
  };

  // One tile of one step's product; the panels of a block follow each other. `copied` is where the
  // block of the left matrix begins that the workspace has a copy of.
  dnnl_status_t RunTile(int64_t tile, const Operands& operands, const Offsets& at, float* workspace,
                        const char** copied) const {
    const int64_t panels = Blocks(plan_.n, panel_);
    const int64_t row = tile / panels * rows_, column = tile % panels * panel_;
    const int64_t rows = std::min(rows_, plan_.m - row);
    const int64_t columns = std::min(panel_, plan_.n - column);
    const int64_t size = ByteSize(shape_.type);
    char* const to =
        operands.result + (at.result + row * plan_.c.row_step + column * plan_.c.column_step) *
                              ByteSize(shape_.result_type);
    float* const c = copy_c_ ? workspace + a_size_ + b_size_ : reinterpret_cast<float*>(to);
    dnnl_status_t status = dnnl_success;
    float beta = 0;
    ForEachStep(plan_.sums, 0, at.left, at.right, 0, [&](int64_t l, int64_t r, int64_t) {
      if (status != dnnl_success) return;
      const char* const left = operands.left + l * size;
      const char* const right = operands.right + r * size;
      const char* const a = (plan_.swapped ? right : left) + row * plan_.a.row_step * size;
      const char* const b = (plan_.swapped ? left : right) + column * plan_.b.column_step * size;
      if (copy_a_ && *copied != a) CopyIn(shape_.type, a, plan_.a, rows, plan_.k, workspace);
      *copied = a;
      if (copy_b_) CopyIn(shape_.type, b, plan_.b, plan_.k, columns, workspace + a_size_);
      status = Multiply(copy_a_ ? workspace : reinterpret_cast<const float*>(a),
                        copy_b_ ? workspace + a_size_ : reinterpret_cast<const float*>(b), rows,
                        columns, beta, c);
      beta = 1;
    });
    if (copy_c_) CopyOut(shape_.result_type, c, plan_.c, rows, columns, to);
    return status;
  }

  dnnl_status_t Multiply(const float* a, const float* b, int64_t rows, int64_t columns, float beta,
                         float* c) const {
    const int64_t a_leading = copy_a_ ? CopiedLeading(plan_.a, rows, plan_.k) : plan_.a.leading;
    const int64_t b_leading = copy_b_ ? CopiedLeading(plan_.b, plan_.k, columns) : plan_.b.leading;
    return library_.sgemm(plan_.a.transposed ? 'T' : 'N', plan_.b.transposed ? 'T' : 'N', rows,
                          columns, plan_.k, 1.0f, a, a_leading, b, b_leading, beta, c,
                          copy_c_ ? columns : plan_.c.leading);
  }

  const OneDnn& library_;
  ThreadTeam& team_;
  const LibraryShape shape_;
  const ProductPlan plan_;
  bool copy_a_ = false, copy_b_ = false, copy_c_ = false;  // through the workspace
  int64_t steps_ = 1;                                      // of the loops
  int64_t rows_ = 1, panel_ = 1;                           // of a tile: rows, columns
  int parts_ = 1;                                          // threads that share out the items
  int64_t a_size_ = 0, b_size_ = 0, c_size_ = 0;           // floats, of each thread
};

}  // namespace

std::unique_ptr<LibraryKernel> MakeContraction(const OneDnn& library, const LibraryShape& shape,
                                               ThreadTeam& team) {
  return std::make_unique<Contraction>(library, shape, team);
}

}  // namespace yuba::runtime
