// Machines by name, as people write them behind --machine.
//
//   hgx-h100         the file machines/hgx-h100.json, which is built in
//   hgx-h100:8       eight such nodes
//   hgx-h100@libraries   the same with the set of kernels "libraries" of its file
//   mine.json        a file of the user's (`yuba calibrate` writes one)
//   mine.json:2      two such nodes
#ifndef YUBA_OPSEMANTICS_MACHINE_FIND_MACHINE_H_
#define YUBA_OPSEMANTICS_MACHINE_FIND_MACHINE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/machine/machine.h"

namespace yuba {

// A user's error where there is no such machine, the file is none (read_machine.h), or the number
// of nodes is no number, or more than the file allows.
absl::StatusOr<Machine> FindMachine(const std::string& name_or_path);

// The names of those that are built in, in alphabetical order.
std::vector<std::string> MachineNames();

// The machine that is built in and has GPUs of this name, as their driver gives it, and of this
// memory, give or take a twentieth: drivers keep a part of it to themselves. Empty where none has.
std::string MachineOfGpu(absl::string_view gpu, int64_t memory);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_FIND_MACHINE_H_
