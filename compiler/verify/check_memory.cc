#include "compiler/verify/check_memory.h"

#include <algorithm>
#include <vector>

#include "compiler/spmd/tables.h"
#include "opsemantics/base/status.h"
#include "runtime/program/check_attention.h"
#include "runtime/program/check_joint_calls.h"
#include "runtime/program/known_boxes.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"
#include "runtime/program/well_formed.h"

namespace yuba::compiler {
namespace {

template <typename... Args>
absl::Status BufferError(const program::Buffer& buffer, const Args&... args) {
  return ProofError("buffer ", buffer.name(), ": ", args...);
}

// The buffers that an instruction uses; one may occur several times.
std::vector<int> UsedBy(const program::Instruction& instruction) {
  std::vector<int> used;
  if (instruction.has_kernel()) {
    for (const program::Access& operand : instruction.kernel().operands()) {
      used.push_back(operand.buffer());
    }
    for (const program::Access& result : instruction.kernel().results()) {
      used.push_back(result.buffer());
    }
  } else {
    used = {instruction.exchange().source(), instruction.exchange().destination()};
  }
  return used;
}

absl::Status CheckSlot(const program::Program& program, const program::Buffer& buffer,
                       program::KnownBoxes& known) {
  const int64_t begin = buffer.substitute() ? program.arena_size() : 0;
  const int64_t end = program.arena_size() + (buffer.substitute() ? program.substitute_size() : 0);
  if (buffer.offset() < begin || buffer.size() < 0 || buffer.offset() > end - buffer.size())
    return BufferError(buffer, "its slot leaves the arena");
  const int64_t element = ElementBytes(program, buffer);
  if (known.MostElements(buffer.box()) * element <= buffer.size()) return absl::OkStatus();
  const std::vector<Box>& boxes = *known.Of(buffer.box());
  for (size_t device = 0; device < boxes.size(); ++device) {
    const int64_t bytes = Volume(boxes[device]) * element;
    if (bytes > buffer.size()) {
      return BufferError(buffer, "device ", device, " holds ", bytes, " bytes in a slot of ",
                         buffer.size());
    }
  }
  return absl::OkStatus();
}

// What kernels use for which a call stands is there as long as any of them runs.
absl::Status CheckAttentionLives(const program::Program& program) {
  for (const program::Attention& attention : program.attention()) {
    for (const auto& [begin, end] : program::PartsOf(attention)) {
      std::vector<int> used;
      if (program::HasBackward(attention)) used.push_back(attention.row_sums());
      if (begin == attention.backward_begin()) {
        for (const int kept : program::KeptOf(program, attention)) used.push_back(kept);
      }
      for (int i = begin; i < end; ++i) {
        for (const int id : UsedBy(program.instructions(i)))
          if (!program.buffers(id).substitute()) used.push_back(id);
      }
      for (const int id : used) {
        if (program.buffers(id).first() > begin || program.buffers(id).last() < end - 1)
          return BufferError(program.buffers(id), "a call of attention uses it outside its life");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckJointLives(const program::Program& program) {
  for (const program::JointCall& call : program.joint_calls()) {
    const int first = program::FirstOf(call);
    for (const int i : {first, first + 1}) {
      for (const int id : UsedBy(program.instructions(i))) {
        if (program.buffers(id).first() > first || program.buffers(id).last() < first + 1)
          return BufferError(program.buffers(id), "a joint call uses it outside its life");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLives(const program::Program& program) {
  YUBA_RETURN_IF_ERROR(CheckAttentionLives(program));
  YUBA_RETURN_IF_ERROR(CheckJointLives(program));
  for (int i = 0; i < program.instructions_size(); ++i) {
    for (int id : UsedBy(program.instructions(i))) {
      const program::Buffer& buffer = program.buffers(id);
      if (i < buffer.first() || i > buffer.last()) {
        return BufferError(buffer, "instruction ", i, " uses it outside its life");
      }
    }
  }
  std::vector<bool> stored(program.buffers_size());
  for (int id = 0; id < program.buffers_size(); ++id)
    stored[id] = program.buffers(id).initialized();
  for (const program::Port& port : program.outputs()) stored[port.buffer()] = true;
  for (int id = 0; id < program.buffers_size(); ++id) {
    const program::Buffer& buffer = program.buffers(id);
    if (stored[id] && (buffer.first() > 0 || buffer.last() + 1 < program.instructions_size())) {
      return BufferError(buffer, "it is stored and must live throughout");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOverlaps(const program::Program& program) {
  std::vector<const program::Buffer*> buffers;  // those that take space, ascending by offset
  for (const program::Buffer& buffer : program.buffers()) {
    if (buffer.size() > 0) buffers.push_back(&buffer);
  }
  std::sort(buffers.begin(), buffers.end(),
            [](const auto* a, const auto* b) { return a->offset() < b->offset(); });
  for (size_t a = 0; a < buffers.size(); ++a) {
    for (size_t b = a + 1; b < buffers.size(); ++b) {
      const program::Buffer &low = *buffers[a], &high = *buffers[b];
      if (high.offset() >= low.offset() + low.size()) break;
      if (!program::LiveAtOnce(low, high)) continue;
      return BufferError(low, "it shares bytes with ", high.name(), " while both are live");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMemory(const program::Program& program) {
  YUBA_RETURN_IF_ERROR(program::CheckWellFormed(program));
  program::KnownBoxes known(MeshOf(program));
  for (const program::Buffer& buffer : program.buffers()) {
    YUBA_RETURN_IF_ERROR(CheckSlot(program, buffer, known));
  }
  YUBA_RETURN_IF_ERROR(CheckLives(program));
  return CheckOverlaps(program);
}

}  // namespace yuba::compiler
