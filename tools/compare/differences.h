// Where two plans of one model differ most, in words.
#ifndef YUBA_TOOLS_COMPARE_DIFFERENCES_H_
#define YUBA_TOOLS_COMPARE_DIFFERENCES_H_

#include <string>

#include "tools/compare/candidates.h"

namespace yuba::tools {

// What `ours` does differently; "" where both move the same. Example: "weights +93.0 MB; most at
// layer4.*.conv2 (3 nodes) +31.2 MB: cut n in 8, in the default n in 4 and o in 2".
std::string Words(const Candidate& theirs, const Candidate& ours);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_COMPARE_DIFFERENCES_H_
