// YUBA_INNER_LOOP before a function compiles it for several x86-64 processors; the loader takes the
// best version that the machine can run. It is for inner loops over rows of numbers. Under the
// thread sanitizer, and on other processors, it does nothing: that sanitizer is not ready yet when
// the loader asks which version to take.
#ifndef YUBA_OPSEMANTICS_BASE_INNER_LOOP_H_
#define YUBA_OPSEMANTICS_BASE_INNER_LOOP_H_

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define YUBA_INNER_LOOP __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define YUBA_INNER_LOOP
#endif

#endif  // YUBA_OPSEMANTICS_BASE_INNER_LOOP_H_
