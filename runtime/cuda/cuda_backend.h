// The back end "cuda": GPUs of this machine, or several virtual devices on each. Generated kernels
// are PTX, matrix products go to cuBLASLt, convolutions to cuDNN, all-gathers between GPUs to NCCL
// where it is found.
#ifndef YUBA_RUNTIME_CUDA_CUDA_BACKEND_H_
#define YUBA_RUNTIME_CUDA_CUDA_BACKEND_H_

#include <memory>

#include "absl/status/status.h"
#include "runtime/cuda/tuning.h"
#include "runtime/executor.h"
#include "runtime/ranks/job.h"

namespace yuba::cuda {

// What makes collectives of devices on GPUs.
enum class NcclChoice {
  kFound,   // NCCL, where it is found and each member has a GPU of its own, else copies
  kStrict,  // strict_nccl.h, to test on one GPU; a user's error in a build without CUDA
  kNone     // copies
};

struct CudaOptions {
  NcclChoice nccl = NcclChoice::kFound;
  bool graphs = true;  // steps after the first are CUDA graphs, where they can be
  // Of ranks (runtime/ranks/job.h):
  int local_rank = -1;     // this one's number on its host, as its launcher says; -1: it does not
  bool share_gpu = false;  // ranks may have the same GPU, to test: NCCL then uses sockets
  bool staged = false;  // as if no device could read another one's memory (staging.h), to test it
  // By which products are computed (tuning.h). Products that it lacks are timed when the session is
  // opened, and added. Null: the library's heuristics choose.
  std::shared_ptr<Tuning> tuning;
};

// Fills `fleet`, whose devices wait for `copy_seconds` at most for a copy to or from the host to
// end. Device d is on GPU d where there are enough GPUs; else consecutive devices share one: 8
// devices on 2 GPUs are 0-3 on the first, 4-7 on the second. Where GPUs cannot read each other's
// memory, exchanges go through the host (staging.h). Unavailable, with what was found, where there
// is no GPU, where a GPU is older than the program's PTX, and in a build without CUDA;
// ResourceExhausted where a GPU has too little memory left: before anything is allocated where
// arenas and workspaces alone are too much. Products are timed before, where a tuning lacks them,
// one after the other in memory that is free again afterwards. Library calls for which there is no
// library are run as the generated code beside them, with a line on stderr for each cause.
// With a job, each rank calls it and gets the device with its number, on a GPU of its own
// (rank_gpus.h); exchanges go through NCCL. A user's error on all where two have the same GPU.
absl::Status OpenCudaBackend(const runtime::LoadedProgram& program,
                             const runtime::ArenaLayout& layout, const CudaOptions& options,
                             double copy_seconds, runtime::Job* job, runtime::Fleet& fleet);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_CUDA_BACKEND_H_
