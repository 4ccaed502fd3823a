#include "runtime/cuda/make_job.h"

#include "opsemantics/base/check.h"
#include "runtime/cuda/job.h"

namespace yuba::cuda {
namespace {

static_assert(static_cast<int>(JobType::kBool) == static_cast<int>(ElementType::kBool),
              "JobType begins with the element types");

constexpr int64_t kMostPitch = int64_t{1} << 31;  // of cudaMemcpy2D

std::vector<int64_t> Job(const runtime::BoxWalk& walk, Reducer reducer, JobType from,
                         int64_t from_bytes, JobType to, int64_t to_bytes,
                         const std::vector<const char*>& partials, char* result) {
  YUBA_CHECK(walk.buffers.size() == partials.size() + 1);
  std::vector<int64_t> job(kJobHeader);
  job[kJobElements] = walk.elements();
  job[kJobLoops] = static_cast<int64_t>(walk.extents.size());
  job[kJobParts] = static_cast<int64_t>(partials.size());
  job[kJobReducer] = static_cast<int64_t>(reducer);
  job[kJobFrom] = static_cast<int64_t>(from);
  job[kJobTo] = static_cast<int64_t>(to);
  job.insert(job.end(), walk.extents.begin(), walk.extents.end());
  for (size_t b = 0; b < walk.buffers.size(); ++b) {
    const runtime::WalkedBuffer& buffer = walk.buffers[b];
    const bool is_partial = b < partials.size();
    const char* first =
        (is_partial ? partials[b] : result) + buffer.offset * (is_partial ? from_bytes : to_bytes);
    job.push_back(reinterpret_cast<int64_t>(first));
    job.insert(job.end(), buffer.strides.begin(), buffer.strides.end());
  }
  return job;
}

}  // namespace

std::vector<int64_t> CombineJob(const runtime::Combination& combination,
                                const runtime::BoxWalk& walk,
                                const std::vector<const char*>& partials, char* result) {
  const bool hash = combination.hash && IsFloat(combination.from);
  auto type = [&](ElementType element) {
    return hash ? JobType::kHash : static_cast<JobType>(element);
  };
  auto bytes = [&](ElementType element) { return hash ? 8 : ByteSize(element); };
  return Job(walk, combination.reducer, type(combination.from), bytes(combination.from),
             type(combination.to), bytes(combination.to), partials, result);
}

std::vector<int64_t> CopyJob(const runtime::BoxWalk& walk, const char* from, char* to,
                             int64_t element_bytes) {
  const JobType type = element_bytes == 8   ? JobType::kI64
                       : element_bytes == 4 ? JobType::kI32
                       : element_bytes == 2 ? JobType::kU16
                                            : JobType::kU8;
  return Job(walk, Reducer::kNone, type, element_bytes, type, element_bytes, {from}, to);
}

RowCopy AsRows(const runtime::BoxWalk& walk, int64_t element_bytes) {
  RowCopy rows;
  const size_t loops = walk.extents.size();
  const runtime::WalkedBuffer& from = walk.buffers[0];
  const runtime::WalkedBuffer& to = walk.buffers[1];
  if (loops > 2) return rows;
  if (walk.extents.back() > 1 && (from.strides.back() != 1 || to.strides.back() != 1)) return rows;
  rows.rows = loops == 2 ? walk.extents[0] : 1;
  rows.row_bytes = walk.extents.back() * element_bytes;
  rows.from = from.offset * element_bytes;
  rows.to = to.offset * element_bytes;
  rows.from_pitch = loops == 2 ? from.strides[0] * element_bytes : rows.row_bytes;
  rows.to_pitch = loops == 2 ? to.strides[0] * element_bytes : rows.row_bytes;
  rows.possible =
      rows.rows == 1 || (rows.from_pitch >= rows.row_bytes && rows.to_pitch >= rows.row_bytes &&
                         rows.from_pitch < kMostPitch && rows.to_pitch < kMostPitch);
  return rows;
}

}  // namespace yuba::cuda
