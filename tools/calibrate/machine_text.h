// A machine as the text of a machine file.
#ifndef YUBA_TOOLS_CALIBRATE_MACHINE_TEXT_H_
#define YUBA_TOOLS_CALIBRATE_MACHINE_TEXT_H_

#include <string>

#include "opsemantics/machine/machine.h"

namespace yuba::tools {

// Of a machine of one node. ReadMachine reads the same machine from it, but that tables are raised.
// `about` says what the machine is, `source` where its numbers are from.
std::string MachineText(const Machine& machine, const std::string& about,
                        const std::string& source);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_MACHINE_TEXT_H_
