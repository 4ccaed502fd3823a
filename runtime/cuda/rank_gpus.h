// Which GPU each rank of a job has: one of its own.
//
// A rank that sees one GPU has that; one that sees several has the one with its number among the
// ranks of its host. Ranks tell each other by what name the driver knows their GPUs everywhere, so
// that two of them on one GPU are found before NCCL is asked, which would refuse it.
//
// Example: two ranks on a host see its two GPUs. Rank 0 has GPU 0, rank 1 GPU 1. With
// CUDA_VISIBLE_DEVICES=1 for both, both have GPU 0 as cudart counts, and they are refused.
#ifndef YUBA_RUNTIME_CUDA_RANK_GPUS_H_
#define YUBA_RUNTIME_CUDA_RANK_GPUS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/facts.h"
#include "runtime/ranks/job.h"

namespace yuba::cuda {

// What a rank has of GPUs.
struct RankGpu {
  int visible = 0;   // GPUs that it sees
  int number = -1;   // of its own among them; -1: there is none for it
  std::string uuid;  // of its own (GpuFacts)
};

// The rank's number among the ranks of its host, from 0 on.
int LocalRankOf(const std::vector<runtime::RankFacts>& ranks, int rank);

// The GPU of the rank with this number on its host, of those that it sees. With `share` ranks that
// are more than GPUs begin at the first again.
RankGpu ChooseGpu(const std::vector<GpuFacts>& seen, int local_rank, bool share);

// All ranks call it, each with its own: those of all, [rank]. The job's end is its error.
absl::StatusOr<std::vector<RankGpu>> GatherGpus(runtime::Job& job, const RankGpu& own);

// The same user's error on all ranks where one has no GPU or, without `share`, two have the same.
absl::Status CheckGpus(const std::vector<runtime::RankFacts>& ranks,
                       const std::vector<RankGpu>& gpus, bool share);

// For people, where ranks of one host do not see each other's GPUs, so that NCCL cannot copy
// directly between them; "" where they do.
std::string NoteOnGpus(const std::vector<runtime::RankFacts>& ranks,
                       const std::vector<RankGpu>& gpus);

// Lets NCCL, which refuses two ranks on one GPU, take this process for one on a host of its own:
// what it moves then goes through sockets. Before NCCL is opened, and while no other thread reads
// the environment.
void PretendOwnHost(int rank);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_RANK_GPUS_H_
