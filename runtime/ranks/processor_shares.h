// Which processors ranks of one machine may run on, so that none is in another one's way (decision
// 175 has figures).
#ifndef YUBA_RUNTIME_RANKS_PROCESSOR_SHARES_H_
#define YUBA_RUNTIME_RANKS_PROCESSOR_SHARES_H_

#include <functional>
#include <string>
#include <vector>

namespace yuba::runtime {

// The number in a file of one line, as those of /sys/devices/system/cpu; -1 where there is none.
using NumberInFile = std::function<int(const std::string& path)>;
int NumberIn(const std::string& path);

// [rank] a share of `processors`, numbers of this machine's: as equal as can be, processors of one
// core together, then those of one package. Empty where there are fewer of them than ranks: then
// the system shares them out.
//
// Example: {0, 1, 2, 3}, where 0 and 2 are one core, for two ranks: {{0, 2}, {1, 3}}.
std::vector<std::vector<int>> ProcessorShares(std::vector<int> processors, int ranks,
                                              const NumberInFile& number_in = NumberIn);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_PROCESSOR_SHARES_H_
