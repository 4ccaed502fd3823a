// The version of the command; plans and programs carry it.
#ifndef YUBA_TOOLS_VERSION_H_
#define YUBA_TOOLS_VERSION_H_

namespace yuba::tools {
constexpr char kVersion[] = "0.2";
}

#endif  // YUBA_TOOLS_VERSION_H_
