#include "runtime/cuda/sort_plan.h"

#include <algorithm>

#include "opsemantics/base/slot.h"
#include "runtime/cuda/make_job.h"

namespace yuba::cuda {
namespace {

constexpr int64_t kAlignment = 256;  // bytes, of each part of the workspace

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// The walk through all rows, by their first elements; steps in elements.
runtime::BoxWalk WalkOfRows(const runtime::OpaqueSlices& slices) {
  runtime::BoxWalk walk;
  walk.buffers.resize(2);
  walk.buffers[0].offset = slices.arguments[0].first / slices.arguments[0].element_bytes;
  walk.buffers[1].offset = slices.result.first / slices.result.element_bytes;
  for (const runtime::CallLoop& loop : slices.loops) {
    if (loop.extent == 1) continue;
    const int64_t steps[] = {loop.argument_steps[0] / slices.arguments[0].element_bytes,
                             loop.result_step / slices.result.element_bytes};
    const auto goes_on = [&](int b) {
      return walk.buffers[b].strides.back() == loop.extent * steps[b];
    };
    if (!walk.extents.empty() && goes_on(0) && goes_on(1)) {
      walk.extents.back() *= loop.extent;
      for (int b : {0, 1}) walk.buffers[b].strides.back() = steps[b];
      continue;
    }
    walk.extents.push_back(loop.extent);
    for (int b : {0, 1}) walk.buffers[b].strides.push_back(steps[b]);
  }
  if (!walk.extents.empty()) return walk;
  walk.extents = {1};
  for (int b : {0, 1}) walk.buffers[b].strides = {0};
  return walk;
}

}  // namespace

SortPlan::SortPlan(const runtime::OpaqueSlices& slices, bool hash, int64_t most_workspace)
    : slices_(slices), hash_(hash) {
  const ElementType type = slices.signature.arguments[0].type;
  wide_ = WideKeys(hash && IsFloat(type) ? JobType::kHash : static_cast<JobType>(type));
  sort_.length = slices.signature.arguments[0].extents[0];
  sort_.step = slices.arguments[0].strides[0];
  sort_.result_step = slices.result.strides[0];
  sort_.descending = slices.signature.attributes[0] != 0;
  sort_.slots = wide_ ? SortSlots<uint64_t>(sort_.length) : SortSlots<uint32_t>(sort_.length);
  sort_.tiles = (sort_.length + sort_.slots - 1) / sort_.slots;
  rows_at_once_ = slices.calls;
  if (sort_.tiles == 1) return;
  const int64_t key_bytes = wide_ ? sizeof(uint64_t) : sizeof(uint32_t);
  const int64_t row_bytes = 2 * sort_.length * (key_bytes + static_cast<int64_t>(sizeof(uint32_t)));
  rows_at_once_ = std::max<int64_t>(1, std::min<int64_t>(slices.calls, most_workspace / row_bytes));
  keys_bytes_ = Aligned(rows_at_once_ * sort_.length * key_bytes);
  places_bytes_ = Aligned(rows_at_once_ * sort_.length * static_cast<int64_t>(sizeof(uint32_t)));
  workspace_bytes_ = 2 * (keys_bytes_ + places_bytes_);
}

std::vector<int64_t> SortPlan::Job(const char* argument, char* result) const {
  const ElementType type = slices_.signature.arguments[0].type;
  return CombineJob({Reducer::kNone, type, ElementType::kI64, hash_}, WalkOfRows(slices_),
                    {argument}, result);
}

template <typename Key>
std::vector<SortLaunch> SortPlan::LaunchesOf(const int64_t* job, char* workspace) const {
  std::vector<SortLaunch> launches;
  for (int64_t row = 0; row < slices_.calls; row += rows_at_once_) {
    SortLaunch launch;
    launch.sort = sort_;
    RowSort& sort = launch.sort;
    sort.job = job;
    sort.first_row = row;
    sort.rows = std::min(rows_at_once_, slices_.calls - row);
    for (int buffer = 0; sort.tiles > 1 && buffer < 2; ++buffer) {
      char* const begin = workspace + buffer * (keys_bytes_ + places_bytes_);
      sort.keys[buffer] = begin;
      sort.places[buffer] = reinterpret_cast<uint32_t*>(begin + keys_bytes_);
    }
    launch.threads = kSortThreads<Key>;
    const int64_t rows_of_block = kTileSlots<Key> / sort.slots;
    launch.blocks =
        sort.tiles > 1 ? sort.rows * sort.tiles : (sort.rows + rows_of_block - 1) / rows_of_block;
    launches.push_back(launch);
    launch.merges = true;
    const int64_t shares = sort.rows * SharesOfRow(sort);
    launch.blocks = (shares + launch.threads - 1) / launch.threads;
    for (sort.run = kTileSlots<Key>; sort.run < sort.length; sort.run *= 2) {
      sort.last = 2 * sort.run >= sort.length;
      launches.push_back(launch);
      sort.from = 1 - sort.from;
    }
  }
  return launches;
}

std::vector<SortLaunch> SortPlan::Launches(const int64_t* job, char* workspace) const {
  return wide_ ? LaunchesOf<uint64_t>(job, workspace) : LaunchesOf<uint32_t>(job, workspace);
}

}  // namespace yuba::cuda
