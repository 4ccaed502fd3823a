// Loops over independent pieces of work on several threads. The pieces are the same for any number
// of threads, and each writes to a place of its own: so is the result.
#ifndef YUBA_SEARCH_SOLVE_PARALLEL_H_
#define YUBA_SEARCH_SOLVE_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace yuba::search {

// Calls work(0) .. work(count - 1), each once, the lower numbers begun first, on at most so many
// threads, of which the caller's is one. A loop within a loop runs on the thread that it is on.
// An exception of `work` is thrown again here, once all threads have ended.
void ParallelFor(int threads, int64_t count, const std::function<void(int64_t)>& work);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_PARALLEL_H_
