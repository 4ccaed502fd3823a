// The hash of a machine, which a plan that was made for it names.
#ifndef YUBA_OPSEMANTICS_MACHINE_MACHINE_HASH_H_
#define YUBA_OPSEMANTICS_MACHINE_MACHINE_HASH_H_

#include <string>

#include "opsemantics/machine/machine.h"

namespace yuba {

// Of all numbers and collectives of a machine: 16 hexadecimal digits. Names, sources and
// kernels_version do not count: who writes a better one into a file changes no plan.
std::string HashOf(const Machine& machine);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_MACHINE_HASH_H_
