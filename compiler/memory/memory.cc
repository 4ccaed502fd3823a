#include "compiler/memory/memory.h"

#include <algorithm>
#include <vector>

#include "compiler/memory/arena.h"
#include "compiler/memory/memory_use.h"
#include "runtime/program/known_boxes.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {
namespace {

void SetLifetimes(program::Program& program) {
  const int last = std::max(0, program.instructions_size() - 1);
  const std::vector<Users> users = UsersOf(program);
  for (int id = 0; id < program.buffers_size(); ++id) {
    if (users[id].none()) continue;
    program.mutable_buffers(id)->set_first(users[id].first);
    program.mutable_buffers(id)->set_last(users[id].last);
  }
  const auto live_always = [&](int id) {
    program.mutable_buffers(id)->set_first(0);
    program.mutable_buffers(id)->set_last(last);
  };
  for (int id = 0; id < program.buffers_size(); ++id) {
    if (program.buffers(id).initialized() || users[id].none()) live_always(id);
  }
  for (const program::Port& port : program.outputs()) live_always(port.buffer());
}

}  // namespace

void PlanMemory(program::Program& program, int64_t limit) {
  SetLifetimes(program);
  program::KnownBoxes known(MeshOf(program));
  for (program::Buffer& buffer : *program.mutable_buffers()) {
    buffer.set_size(known.MostElements(buffer.box()) * ElementBytes(program, buffer));
  }
  std::vector<BufferLife> lives;
  for (const program::Buffer& buffer : program.buffers()) {
    lives.push_back({buffer.first(), buffer.last() + 1, buffer.size()});
  }
  const ArenaLayout layout = PlaceBuffers(lives, limit);
  for (int id = 0; id < program.buffers_size(); ++id) {
    program.mutable_buffers(id)->set_offset(layout.offsets[id]);
  }
  program.set_arena_size(layout.arena);
}

}  // namespace yuba::compiler
