#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/exchange_work.h"

#include "runtime/cuda/job.h"

namespace yuba::cuda {
namespace {

constexpr int64_t kShortestRow = 512;  // bytes; shorter ones are slow on a GPU's copy engine

}  // namespace

ExchangeWork::Part ExchangeWork::AddJob(const std::vector<int64_t>& job) {
  Part part;
  part.job = numbers_.size();
  part.elements = job[kJobElements];
  numbers_.insert(numbers_.end(), job.begin(), job.end());
  return part;
}

ExchangeWork::Part ExchangeWork::Copy(const runtime::BoxWalk& walk, const char* from, char* to,
                                      int64_t element_bytes) {
  const RowCopy rows = AsRows(walk, element_bytes);
  if (!rows.possible || (rows.rows > 1 && rows.row_bytes < kShortestRow))
    return AddJob(CopyJob(walk, from, to, element_bytes));
  Part part;
  part.rows = rows;
  part.from = from + rows.from;
  part.to = to + rows.to;
  return part;
}

ExchangeWork::Part ExchangeWork::Combine(const runtime::Combination& combination,
                                         const runtime::BoxWalk& walk,
                                         const std::vector<const char*>& partials, char* result) {
  return AddJob(CombineJob(combination, walk, partials, result));
}

absl::Status ExchangeWork::Store(cudaStream_t stream) {
  YUBA_RETURN_IF_ERROR(stored_.Store(numbers_, stream));
  numbers_ = {};
  return absl::OkStatus();
}

absl::Status ExchangeWork::Start(const Part& part, const Gpu& gpu, cudaStream_t stream) const {
  const RowCopy& rows = part.rows;
  if (!rows.possible) return gpu.LaunchJob(stored_.numbers() + part.job, part.elements, stream);
  if (rows.rows == 1) {  // of any length; rows of a matrix have a limit
    YUBA_CUDA(cudaMemcpyAsync(part.to, part.from, rows.row_bytes, cudaMemcpyDefault, stream));
    return absl::OkStatus();
  }
  YUBA_CUDA(cudaMemcpy2DAsync(part.to, rows.to_pitch, part.from, rows.from_pitch, rows.row_bytes,
                              rows.rows, cudaMemcpyDefault, stream));
  return absl::OkStatus();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
