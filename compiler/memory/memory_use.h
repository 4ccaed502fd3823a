// How much memory a program uses, once the phase `memory` has given its buffers lives and offsets:
// for plan files, for people, and to judge the offsets. What is allocated are slots, each as large
// as the largest device's box; what a device fills are its own boxes.
//
// Example: on 4 devices a tensor of 10 f32 has boxes of 2, 3, 2 and 3 elements. Its slot has 12
// bytes and takes 64 of the arena; device 0 fills 8 of them.
#ifndef YUBA_COMPILER_MEMORY_MEMORY_USE_H_
#define YUBA_COMPILER_MEMORY_MEMORY_USE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// The first and the last instruction that uses a buffer; -1 where none does. Buffers marked
// `substitute` count for their users, and nowhere else in this file.
struct Users {
  int first = -1, last = -1;
  bool none() const { return first < 0; }
};
// [buffer]. runs_until as in PlanMemory: a user counts until it has ended.
std::vector<Users> UsersOf(const program::Program& program,
                           const std::vector<int>& runs_until = {});

// The arena beside what no offsets can do without. All bytes are of one device.
struct ProgramMemory {
  int64_t arena = 0;       // that a device allocates
  int64_t live_bound = 0;  // largest sum of slots, aligned, that live at one instruction
};
ProgramMemory MeasureMemory(const program::Program& program);

// What one device really has live at its peak, in bytes: its own boxes, not the slots.
struct DeviceUse {
  int64_t peak = 0;         // the sum of the next three
  int64_t stored = 0;       // parameters, constants, inputs and outputs
  int64_t activations = 0;  // shards of other tensors
  int64_t buffers = 0;      // where gathers arrive and reductions start
  std::string at;           // the node whose instruction is the peak
};
DeviceUse MeasureDevice(const program::Program& program, int device);
// [device]. Devices whose boxes have equal sizes, which are most, are measured once.
std::vector<DeviceUse> MeasureDevices(const program::Program& program);

// What a buffer is for.
enum class BufferRole {
  kStored,      // a parameter, constant, input, state or output
  kActivation,  // shards of another tensor
  kGathered,    // where a gather from another buffer arrives; a copy is one, too
  kWritten      // what a node wrote, which an exchange reduces or brings to its owners
};

// Memory from instruction to instruction, as one device sees it. Bytes are of that device.
struct MemoryOverTime {
  std::vector<int64_t> slots;     // [instruction] of the slots that are live there, aligned
  std::vector<int64_t> own;       // [instruction] of the device's boxes in them
  std::vector<BufferRole> roles;  // [buffer]
  std::vector<int64_t> boxes;     // [buffer] of the device's box
};
// Without instructions there is still one time.
MemoryOverTime MeasureOverTime(const program::Program& program, int device);

// The node whose instruction it is: of a kernel its own, of an exchange the reader or producer.
const std::string& NodeOf(const program::Instruction& instruction);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_MEMORY_MEMORY_USE_H_
