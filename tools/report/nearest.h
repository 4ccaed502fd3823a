// Which of the names that there are a user may have meant.
#ifndef YUBA_TOOLS_REPORT_NEAREST_H_
#define YUBA_TOOLS_REPORT_NEAREST_H_

#include <string>
#include <vector>

namespace yuba::tools {

// The name that the fewest changes of a character (one put in, left out, replaced, or swapped with
// the next) make of `given`; of several the first. "" where more than a third of its characters
// would change. Example: of "--device" and {"--dim", "--devices"} it is "--devices".
std::string NearestOf(const std::string& given, const std::vector<std::string>& names);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_NEAREST_H_
