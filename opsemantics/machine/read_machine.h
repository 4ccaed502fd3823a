// A machine file's text becomes a machine. machines/README.md says what stands in such a file.
#ifndef YUBA_OPSEMANTICS_MACHINE_READ_MACHINE_H_
#define YUBA_OPSEMANTICS_MACHINE_READ_MACHINE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/machine/machine.h"

namespace yuba {

// The machine of `nodes` nodes (at least 1) of which `text` describes one, with the links that join
// them, and with the kernels of its set `kernel_set` in the place of Yuba's, where that is not
// empty. Tables of collectives are raised as RaiseTables says. Types without a rate get that of
// f32, with which their arithmetic is done. A user's error names the place, as in
// `links[1].bandwidth.value is 0, expected a number above 0 (bytes a second)`, where the text
//   - is no JSON, or lacks a field, has one that is unknown, or has one without a source;
//   - has a rate or bandwidth that is not above 0, or a time below 0;
//   - has links whose groups do not nest, or tables whose bytes do not ascend;
//   - has no such set of kernels;
// and where the machine has fewer nodes than asked for, or more devices than plans are made for.
absl::StatusOr<Machine> ReadMachine(absl::string_view text, int nodes = 1,
                                    const std::string& kernel_set = "");

// The set of kernels that a machine's name has, as "libraries" of "hgx-h100@libraries:8"; empty
// where it has none.
std::string KernelSetOf(absl::string_view machine_name);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_READ_MACHINE_H_
