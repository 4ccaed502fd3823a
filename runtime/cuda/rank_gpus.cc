#include "runtime/cuda/rank_gpus.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/rank_text.h"

namespace yuba::cuda {
namespace {

using runtime::NameOf;
using runtime::RankFacts;

constexpr size_t kTextBytes = 128;  // of what a rank tells the others

std::string TextOf(const RankGpu& gpu) {
  std::string text = absl::StrCat(gpu.visible, " ", gpu.number, " ", gpu.uuid);
  text.resize(kTextBytes, '\0');
  return text;
}

absl::StatusOr<RankGpu> GpuOf(absl::string_view text) {
  const std::vector<std::string> words =
      absl::StrSplit(text.substr(0, text.find('\0')), absl::MaxSplits(' ', 2));
  RankGpu gpu;
  if (words.size() != 3 || !absl::SimpleAtoi(words[0], &gpu.visible) ||
      !absl::SimpleAtoi(words[1], &gpu.number)) {
    return InternalError("a rank says of its GPU what is not understood: ", words[0]);
  }
  gpu.uuid = words[2];
  return gpu;
}

}  // namespace

int LocalRankOf(const std::vector<RankFacts>& ranks, int rank) {
  return static_cast<int>(
      std::count_if(ranks.begin(), ranks.begin() + rank,
                    [&](const RankFacts& other) { return other.host == ranks[rank].host; }));
}

RankGpu ChooseGpu(const std::vector<GpuFacts>& seen, int local_rank, bool share) {
  RankGpu gpu;
  gpu.visible = static_cast<int>(seen.size());
  const int number = gpu.visible == 1 ? 0 : share ? local_rank % gpu.visible : local_rank;
  if (number >= gpu.visible) return gpu;
  gpu.number = number;
  gpu.uuid = seen[number].uuid;
  return gpu;
}

absl::StatusOr<std::vector<RankGpu>> GatherGpus(runtime::Job& job, const RankGpu& own) {
  std::string all = TextOf(own);
  if (job.rank() != 0) {
    YUBA_RETURN_IF_ERROR(job.Send(0, all));
  } else {
    all.resize(kTextBytes * job.size());
    for (int rank = 1; rank < job.size(); ++rank)
      YUBA_RETURN_IF_ERROR(job.Receive(rank, &all[kTextBytes * rank], kTextBytes));
  }
  YUBA_ASSIGN_OR_RETURN(all, job.FromFirst(all));
  std::vector<RankGpu> gpus;
  for (int rank = 0; rank < job.size(); ++rank) {
    YUBA_ASSIGN_OR_RETURN(RankGpu gpu,
                          GpuOf(absl::string_view(all).substr(kTextBytes * rank, kTextBytes)));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

absl::Status CheckGpus(const std::vector<RankFacts>& ranks, const std::vector<RankGpu>& gpus,
                       bool share) {
  for (size_t rank = 0; rank < gpus.size(); ++rank) {
    if (gpus[rank].number >= 0) continue;
    const int before = LocalRankOf(ranks, static_cast<int>(rank));
    return UserError(NameOf(ranks[rank]), " has no GPU: it sees ", gpus[rank].visible, ", and ",
                     before, before == 1 ? " rank" : " ranks",
                     " of its host before it; start as many ranks on a host as ",
                     "it has GPUs, or test with --share-gpu");
  }
  for (size_t rank = 0; rank < gpus.size() && !share; ++rank) {
    for (size_t other = 0; other < rank; ++other) {
      if (gpus[other].uuid != gpus[rank].uuid) continue;
      return UserError(NameOf(ranks[other]), " and ", NameOf(ranks[rank]),
                       " have the same GPU, number ", gpus[rank].number, " of ", gpus[rank].visible,
                       " on host ", ranks[rank].host, " (", gpus[rank].uuid,
                       "); start as many ranks on a host as it has GPUs, and see to it that the "
                       "launcher does not give two of them the same, or test with --share-gpu");
    }
  }
  return absl::OkStatus();
}

std::string NoteOnGpus(const std::vector<RankFacts>& ranks, const std::vector<RankGpu>& gpus) {
  for (size_t rank = 0; rank < gpus.size(); ++rank) {
    for (size_t other = 0; other < rank; ++other) {
      if (ranks[other].host != ranks[rank].host || gpus[other].uuid == gpus[rank].uuid) continue;
      if (gpus[other].visible != 1 || gpus[rank].visible != 1) continue;
      const auto here = std::count_if(ranks.begin(), ranks.end(), [&](const RankFacts& a) {
        return a.host == ranks[rank].host;
      });
      return absl::StrCat("ranks of host ", ranks[rank].host,
                          " do not see each other's GPUs, so NCCL may not copy directly between "
                          "them; let each see all, as Slurm does with --gres=gpu:",
                          here, " --gpu-bind=none");
    }
  }
  return "";
}

void PretendOwnHost(int rank) {
  setenv("NCCL_HOSTID", absl::StrCat("yuba-rank-", rank).c_str(), 1);
  setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  setenv("NCCL_IB_DISABLE", "1", 0);
}

}  // namespace yuba::cuda
