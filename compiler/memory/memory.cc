#include "compiler/memory/memory.h"

#include <algorithm>
#include <vector>

#include "compiler/memory/arena.h"
#include "compiler/memory/memory_use.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {
namespace {

void SetLifetimes(const program::Program& program, program::Stage& stage) {
  const int last = std::max(0, stage.instructions_size() - 1);
  const std::vector<Users> users = UsersOf(stage);
  for (int id = 0; id < stage.buffers_size(); ++id) {
    if (users[id].none()) continue;
    stage.mutable_buffers(id)->set_first(users[id].first);
    stage.mutable_buffers(id)->set_last(users[id].last);
  }
  const auto live_always = [&](int id) {
    stage.mutable_buffers(id)->set_first(0);
    stage.mutable_buffers(id)->set_last(last);
  };
  for (int id = 0; id < stage.buffers_size(); ++id) {
    if (stage.buffers(id).initialized() || users[id].none()) live_always(id);
  }
  for (const program::Port& port : program.outputs()) live_always(port.buffer());
}

}  // namespace

void PlanMemory(program::Program& program, int64_t limit) {
  const Mesh mesh = MeshOf(program);
  for (program::Stage& stage : *program.mutable_stages()) {
    SetLifetimes(program, stage);
    for (program::Buffer& buffer : *stage.mutable_buffers()) {
      int64_t elements = 0;
      for (const Box& box : BoxesOn(mesh, buffer.box())) {
        elements = std::max(elements, Volume(box));
      }
      buffer.set_size(elements * ElementBytes(program, buffer));
    }
    std::vector<BufferLife> lives;
    for (const program::Buffer& buffer : stage.buffers()) {
      lives.push_back({buffer.first(), buffer.last() + 1, buffer.size()});
    }
    const ArenaLayout layout = PlaceBuffers(lives, limit);
    for (int id = 0; id < stage.buffers_size(); ++id) {
      stage.mutable_buffers(id)->set_offset(layout.offsets[id]);
    }
    stage.set_arena_size(layout.arena);
  }
}

}  // namespace yuba::compiler
