// Fake GPUs in this processor's memory, in place of cudart: the functions that the back end calls,
// and no more. Streams are queues whose work is done when the host waits for one, in an order that
// only events restrict and that a seed decides: work that no event orders is done too early by some
// seed.
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_CUDA_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_CUDA_H_

#include <cstdint>
#include <map>
#include <string>

namespace yuba::cuda {

// The settings of the fakes, which a test changes before it opens a session, and what they count.
struct FakeCuda {
  int gpus = 1;
  int sm = 80;               // of the first GPU
  int other_sm = 0;          // of all others; 0: the same
  int driver = 13000;        // the CUDA that it is for
  int64_t memory = 1 << 30;  // bytes a GPU has
  uint64_t seed = 1;
  bool forget_waits = false;                    // cudaStreamWaitEvent does nothing
  std::string fail;                             // the function that fails when it is next called
  int64_t most_pitch = (int64_t{1} << 31) - 1;  // bytes from row to row of a copy of rows
  int hanging_gpu = -1;                         // no work of this GPU ends
  int64_t fault = 0;  // the kernel, counted as they are started, that writes to an illegal address
  enum { kGoes, kBlocksUntilAbort, kFailsLater } nccl = kGoes;
  bool one_uuid = false;  // all GPUs are the same one
  int nccl_polls = 2;     // how often a communicator of ranks is asked before it has done a call

  int refused_algorithm = 0;  // of cuBLASLt: its id, where the library does not have it any more
  bool refuses_gradients = false;  // cuBLASLt has no sums of operands, nor GELU's argument
  int cache_bytes = 1 << 12;
  bool libraries_refuse = false;  // cuBLAS and cuDNN have nothing of what they are asked for

  int64_t allocations = 0, streams = 0, events = 0, modules = 0, graphs = 0;  // not freed yet
  int64_t replays = 0;                                                        // graphs started
  int64_t kernels = 0, copies = 0, products = 0, convolutions = 0;            // started so far
  int64_t products_with_gradients = 0;  // of products, those that refuses_gradients is about
  std::map<int, int64_t> products_by;   // by the algorithm's id
  int64_t attentions = 0;               // calls of the library, started so far
  int64_t most_allocated = 0;           // bytes, by one call
  int64_t aborts = 0;                   // of communicators, so far
  int64_t groups = 0;                   // of NCCL's calls, put on streams so far
  // Calls in them, of each rank.
  int64_t all_gathers = 0, reduce_scatters = 0, all_reduces = 0;
  int64_t splits = 0;   // of communicators, asked for so far by each rank
  int64_t members = 0;  // of communicators of ranks, not freed yet
  int64_t waits = 0;    // calls that wait for a stream or ask for its end
};
FakeCuda& Fake();

// Of sessions that were left behind: their work is never done.
void ForgetStreams();

// Puts functions on fake GPUs into the tables of cuBLAS and NCCL (runtime/cuda/libraries.h), for
// the whole process.
void FakeLibraries();

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_FAKE_CUDA_H_
