// Flags that commands had under other names, for who still types them.
#ifndef YUBA_TOOLS_FLAGS_OLD_FLAGS_H_
#define YUBA_TOOLS_FLAGS_OLD_FLAGS_H_

#include <string>

namespace yuba::tools {

// Of a flag of the model, given to a command that is given a plan.
constexpr char kPlanHasIt[] = "the plan has it: leave it out, or plan again with it";

// What is said of a flag, or of a subcommand of `yuba`, that `command`, "partition" or "yuba-run",
// had until decision 131: what to give instead. "" where it never had it. Of rows with the same
// words the first counts.
//
// Example: OldFlag("run", "--check") is "it is --expect TOL now".
std::string OldFlag(const std::string& command, const std::string& flag);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_OLD_FLAGS_H_
