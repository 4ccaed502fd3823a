// How many random cases a test tries: a third of them, or all where YUBA_TEST_ALL is set
// (tools/test --all), as after a change of what they are about.
//   for (int i = 0; i < Part(300); ++i)  // 100, or 300
#ifndef YUBA_TESTS_SUPPORT_PART_H_
#define YUBA_TESTS_SUPPORT_PART_H_

#include <cstdlib>

namespace yuba {

inline bool TriesAll() {
  const char* const all = std::getenv("YUBA_TEST_ALL");
  return all != nullptr && *all != 0;
}

inline int Part(int all) { return TriesAll() ? all : all / 3; }

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_PART_H_
