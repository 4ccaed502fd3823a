// The files of machines/, compiled into the binary as text.
#ifndef YUBA_OPSEMANTICS_MACHINE_BUILTIN_MACHINES_H_
#define YUBA_OPSEMANTICS_MACHINE_BUILTIN_MACHINES_H_

#include "absl/types/span.h"
#include "opsemantics/base/builtin_file.h"

namespace yuba {

absl::Span<const BuiltinFile> BuiltinMachines();

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_BUILTIN_MACHINES_H_
