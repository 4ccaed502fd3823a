// The back end "cuda": a GPU of this machine with all devices of a program, or, as a rank of a job,
// with one of them. Generated kernels are PTX, matrix products go to cuBLASLt, convolutions to
// cuDNN, exchanges between ranks to NCCL.
#ifndef YUBA_RUNTIME_CUDA_CUDA_BACKEND_H_
#define YUBA_RUNTIME_CUDA_CUDA_BACKEND_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "runtime/cuda/tuning.h"
#include "runtime/executor.h"
#include "runtime/ranks/job.h"
#include "runtime/sums.h"

namespace yuba::cuda {

struct CudaOptions {
  bool graphs = true;  // steps after the first are CUDA graphs, where they can be
  // Of ranks (runtime/ranks/job.h):
  int local_rank = -1;     // this one's number on its host, as its launcher says; -1: it does not
  bool share_gpu = false;  // ranks may have the same GPU, to test: NCCL then uses sockets
  // The same on all ranks. None: kRepeatable between ranks, else kOrdered, as there is no other.
  absl::optional<Sums> sums;
  // By which products are computed (tuning.h). Products that it lacks are timed when the session is
  // opened, and added. Null: the library's heuristics choose.
  std::shared_ptr<Tuning> tuning;
};

// Fills `fleet`, whose devices wait for `copy_seconds` at most for a copy to or from the host to
// end. Without a job all devices are virtual, on the first GPU. Unavailable, with what was found,
// where there is no GPU, where it is older than the program's PTX, and in a build without CUDA;
// ResourceExhausted where it has too little memory left: before anything is allocated where arenas
// and workspaces alone are too much. Products are timed before, where a tuning lacks them, one
// after the other in memory that is free again afterwards. Library calls for which there is no
// library are run as the generated code beside them, with a line on stderr for each cause. A user's
// error where sums are to be made by NCCL and there is no job. With a job, each rank calls it and
// gets the device with its number, on a GPU of its own (rank_gpus.h); exchanges go through NCCL. A
// user's error on all where two have the same GPU, or other `sums`.
absl::Status OpenCudaBackend(const runtime::LoadedProgram& program,
                             const runtime::ArenaLayout& layout, const CudaOptions& options,
                             double copy_seconds, runtime::Job* job, runtime::Fleet& fleet);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_CUDA_BACKEND_H_
