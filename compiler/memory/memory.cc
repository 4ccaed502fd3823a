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

void SetLifetimes(const std::vector<int>& runs_until, program::Program& program) {
  const int last = std::max(0, program.instructions_size() - 1);
  const std::vector<Users> users = UsersOf(program, runs_until);
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

// Gives offsets from `begin` on to the buffers that are marked `substitute`, or to all others; the
// bytes that they take together.
int64_t Place(program::Program& program, bool substitute, int64_t begin, int64_t limit) {
  std::vector<BufferLife> lives;
  std::vector<int> placed;
  for (int id = 0; id < program.buffers_size(); ++id) {
    const program::Buffer& buffer = program.buffers(id);
    if (buffer.substitute() != substitute) continue;
    lives.push_back({buffer.first(), buffer.last() + 1, buffer.size()});
    placed.push_back(id);
  }
  if (placed.empty()) return 0;
  const ArenaLayout layout = PlaceBuffers(lives, limit);
  for (size_t n = 0; n < placed.size(); ++n)
    program.mutable_buffers(placed[n])->set_offset(begin + layout.offsets[n]);
  return layout.arena;
}

}  // namespace

void PlanMemory(program::Program& program, int64_t limit, const std::vector<int>& runs_until) {
  SetLifetimes(runs_until, program);
  program::KnownBoxes known(MeshOf(program));
  for (program::Buffer& buffer : *program.mutable_buffers()) {
    buffer.set_size(known.MostElements(buffer.box()) * ElementBytes(program, buffer));
  }
  program.set_arena_size(Place(program, false, 0, limit));
  program.set_substitute_size(Place(program, true, program.arena_size(), 0));
}

}  // namespace yuba::compiler
