// Inner loops over rows of numbers, compiled for several processors; the loader takes the best that
// is there. Not for the thread sanitizer, which is not ready yet when the loader asks.
#ifndef YUBA_OPSEMANTICS_BASE_INNER_LOOP_H_
#define YUBA_OPSEMANTICS_BASE_INNER_LOOP_H_

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define YUBA_INNER_LOOP __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define YUBA_INNER_LOOP
#endif

#endif  // YUBA_OPSEMANTICS_BASE_INNER_LOOP_H_
