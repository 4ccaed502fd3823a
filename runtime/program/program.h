// A program that was read and found sound: every index is in range, every box lies within its
// buffer and every buffer within the arena, on every device (validate.h). All code after loading
// relies on that and checks nothing again. Here are also the look-ups that the message alone does
// not give: its entries, and what a bound, range or box is on one device.
//
// Example: for the buffer of program.proto, [32/b, 64] on a mesh a=2 b=2, BufferBox(buffer, 3) is
// [16, 32) x [0, 64). Devices are numbered row-major over the mesh, the last axis fastest.
#ifndef YUBA_RUNTIME_PROGRAM_PROGRAM_H_
#define YUBA_RUNTIME_PROGRAM_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/base/box.h"
#include "opsemantics/base/dim_order.h"
#include "opsemantics/base/element_type.h"
#include "runtime/program/entries.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"

namespace yuba::runtime {

class LoadedProgram {
 public:
  // Both validate. An error names the part of the program that is wrong (and FromFile the file); it
  // is the user's, because a program comes from a file. Sessions share the program.
  static absl::StatusOr<std::shared_ptr<LoadedProgram>> FromMessage(program::Program message);
  static absl::StatusOr<std::shared_ptr<LoadedProgram>> FromFile(const std::string& path);

  // Frees the data of initial values; sessions that are open have it in their arenas. No session
  // can be opened afterwards, and no other thread may use the program meanwhile.
  void DropValues();
  bool has_values() const { return has_values_; }

  // Of all but values: equal where two processes have the same program.
  uint64_t Fingerprint() const;

  const program::Program& message() const { return message_; }
  const Mesh& mesh() const { return mesh_; }
  int devices() const { return devices_; }
  bool hash() const { return message_.hash_arithmetic(); }

  // All instructions in program order. "Instruction i" everywhere in the runtime is a position in
  // this list.
  const auto& instructions() const { return message_.instructions(); }
  std::string Describe(int instruction) const;  // "instruction 7 (kernel conv1/y, from Conv_3)"
  std::string WhatDoes(int instruction) const;  // "kernel conv1/y, from Conv_3"

  // The entries (entries.h), by positions in instructions(). There is one at least.
  const std::vector<program::EntryRange>& entries() const { return entries_; }

  // What a bound, range or box is on one device (tables.h).
  int64_t Value(const program::Bound& bound, int device) const {
    return program::ValueOn(mesh_, bound, device);
  }
  Interval IntervalOf(const program::Range& range, int device) const {
    return program::IntervalOn(mesh_, range, device);
  }
  Box BoxOf(const program::Box& box, int device) const {
    return program::BoxOn(mesh_, box, device);
  }
  Box BufferBox(int buffer, int device) const {
    return BoxOf(message_.buffers(buffer).box(), device);
  }

  // The order of the buffer's dimensions: that of what lies in its memory, and of all its boxes, in
  // terms of what users know of the tensor (dim_order.h). ShapeDims and ShapeBox are its dimensions
  // and a device's box in the users' order.
  DimOrder OrderOf(int buffer) const;
  std::vector<int64_t> ShapeDims(int buffer) const;
  Box ShapeBox(int buffer, int device) const {
    return OutOfOrder(BufferBox(buffer, device), OrderOf(buffer));
  }

  ElementType type(int buffer) const;
  int64_t ElementBytes(int buffer) const;   // of one element; 8 for floats in hash arithmetic
  int64_t WholeElements(int buffer) const;  // how many the uncut tensor has

 private:
  LoadedProgram() = default;

  program::Program message_;
  std::vector<program::EntryRange> entries_;
  Mesh mesh_;
  int devices_ = 1;
  bool has_values_ = true;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_PROGRAM_H_
