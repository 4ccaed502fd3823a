// Which cases a test tries: a part of them, or all where YUBA_TEST_ALL is set (tools/test --all),
// as after a change of what they are about.
//   for (int i = 0; i < Part(300); ++i)           // 100 random ones, or 300
//   for (size_t m = 0; m < models.size(); ++m)    // of each model half of the plans, and of each
//     for (size_t p = 0; p < plans.size(); ++p)   // plan half of the models; or all
//       if (IsTried(m + p, 2)) ...
#ifndef YUBA_TESTS_SUPPORT_PART_H_
#define YUBA_TESTS_SUPPORT_PART_H_

#include <cstddef>
#include <cstdlib>

namespace yuba {

inline bool TriesAll() {
  const char* const all = std::getenv("YUBA_TEST_ALL");
  return all != nullptr && *all != 0;
}

inline int Part(int all) { return TriesAll() ? all : all / 3; }

inline bool IsTried(size_t number, size_t every) { return TriesAll() || number % every == 0; }

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_PART_H_
