// A device that runs kernels on one stream and exchanges on another one (program.proto,
// Instruction). Each is in order; events keep what waits for what between them.
//
//   streams.BeginStep();
//   streams.Wait(i); ... start instruction i on its stream ...; streams.Note(i);   // in order
//   streams.EndStep();
//
// All of it may be recorded as a part of a graph. Threads: one at a time.
#ifndef YUBA_RUNTIME_CUDA_TWO_STREAMS_H_
#define YUBA_RUNTIME_CUDA_TWO_STREAMS_H_

#include <memory>
#include <vector>

#include "runtime/cuda/gpu.h"
#include "runtime/program/program.h"

namespace yuba::cuda {

class TwoStreams {
 public:
  // `kernels` outlives it. The program is for two streams (runtime/program/check_streams.h) and is
  // not kept.
  static absl::StatusOr<std::unique_ptr<TwoStreams>> Make(const runtime::LoadedProgram& program,
                                                          const Gpu& gpu, cudaStream_t kernels);
  ~TwoStreams();
  TwoStreams(const TwoStreams&) = delete;

  cudaStream_t exchanges() const { return exchanges_; }

  // Exchanges of the step begin behind all that the kernels' stream was given before.
  absl::Status BeginStep();
  // Lets the stream of the instruction wait for what that is after.
  absl::Status Wait(int instruction);
  // All of the instruction has been started.
  absl::Status Note(int instruction);
  // What the kernels' stream is given next begins behind all exchanges.
  absl::Status EndStep();

 private:
  TwoStreams(const Gpu& gpu, cudaStream_t kernels) : gpu_(gpu), kernels_(kernels) {}
  absl::Status Open(const runtime::LoadedProgram& program);
  cudaStream_t StreamOf(int instruction) const {
    return is_exchange_[instruction] ? exchanges_ : kernels_;
  }

  const Gpu& gpu_;
  const cudaStream_t kernels_;
  cudaStream_t exchanges_ = nullptr;
  std::vector<bool> is_exchange_;   // [instruction]
  std::vector<int> after_;          // [instruction] the one that it waits for; -1: none
  std::vector<cudaEvent_t> ended_;  // [instruction] null where nobody waits for it
  cudaEvent_t begun_ = nullptr, all_exchanged_ = nullptr;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_TWO_STREAMS_H_
