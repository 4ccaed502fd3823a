// Loops over independent steps on several threads. The steps are the same for any number of threads
// and each writes to a place of its own, so the result does not depend on the number of threads.
#ifndef YUBA_SEARCH_SOLVE_PARALLEL_H_
#define YUBA_SEARCH_SOLVE_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace yuba::search {

// Calls work(0) .. work(count - 1), each once, lower numbers begun first, on at most `threads`
// threads, of which the caller's is one; returns when all are done. A loop within a loop runs on
// its caller's thread alone. An exception of `work` is thrown again here, once all threads have
// ended.
void ParallelFor(int threads, int64_t count, const std::function<void(int64_t)>& work);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_PARALLEL_H_
