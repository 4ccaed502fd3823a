// The proof that a device may run kernels and exchanges on two streams.
//
// What it establishes, of each entry by itself:
// - Of two instructions that touch the same bytes of a device's arena, one of which writes them,
// the
//   earlier one has ended before the later one begins: because both are on one stream, or because
//   the later one, or one before it on its stream, waits for the earlier one, or one behind it on
//   its stream (`after`). Exchanges of one group begin together and touch no such bytes.
// - No device waits for ever. All devices have one list, so they begin the same groups of messages
//   in the same order, and what an instruction waits for, on its own device or as its part of a
//   group on another one, has a lower position in the list: among all that have not ended, the
//   first one can end.
//
// What it does not assume: how orders, waits, groups and offsets were found.
//
// What it relies on: that a run of an entry begins when the one before it has ended, that
// instructions touch their buffers' slots only (validate.h), and that a kernel or exchange for
// which a call of a library stands (attention, joint calls, an all-reduce) is run when the first or
// when the last of those is, for which that call stands.
//
// Example, kernels k and m, an exchange e of what k writes, which m reads, in the order k e m: e is
// after 1, and m after 2.
#ifndef YUBA_RUNTIME_PROGRAM_CHECK_STREAMS_H_
#define YUBA_RUNTIME_PROGRAM_CHECK_STREAMS_H_

#include "absl/status/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

// Whether the program is for two streams: some instruction waits for one of the other stream. Of a
// program that is not, groups alone are looked at.
bool HasStreams(const Program& program);

// InvalidArgument, with the two instructions, where they are not ordered; where `after` or `joins`
// is of something that there is not. Instructions are sound by themselves, and buffers have offsets
// and sizes within the arena.
absl::Status CheckStreams(const Program& program);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_CHECK_STREAMS_H_
