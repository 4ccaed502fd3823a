// What the files of command.h share.
#ifndef YUBA_TOOLS_MODEL_FLAGS_H_
#define YUBA_TOOLS_MODEL_FLAGS_H_

#include <string>
#include <utility>

namespace yuba::tools {

// NAME=VALUE at the first "="; without one the value is empty.
using NamedValue = std::pair<std::string, std::string>;
NamedValue SplitNamed(const std::string& text);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_MODEL_FLAGS_H_
