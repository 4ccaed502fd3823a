// A program that was read and found sound: every index is in range, every box within its buffer and
// every buffer within the arena, on every device. Everything after loading may rely on that.
#ifndef YUBA_RUNTIME_PROGRAM_PROGRAM_H_
#define YUBA_RUNTIME_PROGRAM_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/base/box.h"
#include "opsemantics/base/element_type.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"

namespace yuba::runtime {

// A place of the flat instruction list: a kernel, an exchange, or the start of a loop over the
// places up to `end`, run `count` times.
struct Instruction {
  const program::Kernel* kernel = nullptr;
  const program::Exchange* exchange = nullptr;
  int end = 0;
  int64_t count = 0;

  bool is_loop() const { return kernel == nullptr && exchange == nullptr; }
};

class LoadedProgram {
 public:
  // The errors name the part of the program that is wrong. A shared pointer, because sessions keep
  // it.
  static absl::StatusOr<std::shared_ptr<LoadedProgram>> FromMessage(program::Program message);
  static absl::StatusOr<std::shared_ptr<LoadedProgram>> FromFile(const std::string& path);

  // Frees the data of initial values, which no session can be opened with then. Those that are open
  // have them in their arenas.
  void DropValues();
  bool has_values() const { return has_values_; }

  const program::Program& message() const { return message_; }
  const program::Stage& stage() const { return message_.stages(0); }
  const Mesh& mesh() const { return mesh_; }
  int devices() const { return devices_; }
  bool hash() const { return message_.hash_arithmetic(); }

  // All instructions in program order; the bodies of loops follow their start.
  const std::vector<Instruction>& instructions() const { return instructions_; }
  std::string Describe(int instruction) const;  // "instruction 7 (kernel conv1/y, from Conv_3)"

  // What a table says on a device (tables.h).
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
    return BoxOf(stage().buffers(buffer).box(), device);
  }

  ElementType type(int buffer) const;
  int64_t ElementBytes(int buffer) const;   // 8 for floats in hash arithmetic
  int64_t WholeElements(int buffer) const;  // of the uncut tensor

 private:
  LoadedProgram() = default;
  void Flatten(const google::protobuf::RepeatedPtrField<program::Instruction>& instructions);

  program::Program message_;
  std::vector<Instruction> instructions_;
  Mesh mesh_;
  int devices_ = 1;
  bool has_values_ = true;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_PROGRAM_H_
