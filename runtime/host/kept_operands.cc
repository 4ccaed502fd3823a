#include "runtime/host/kept_operands.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace yuba::runtime {

bool IsOfInit(const LoadedProgram& program, int instruction) {
  const program::EntryRange& first = program.entries()[0];
  return first.name == program::kInitEntry && instruction >= first.begin && instruction < first.end;
}

std::vector<bool> KeptBuffers(const LoadedProgram& program, const ArenaLayout& layout) {
  std::map<int64_t, int64_t> written;  // by begin: the end of a slot that is written, bytes
  const auto write = [&](int buffer) {
    int64_t& end = written[layout.offsets[buffer]];
    end = std::max(end, layout.offsets[buffer] + program.message().buffers(buffer).size());
  };
  for (int i = 0; i < program.instructions().size(); ++i) {
    if (IsOfInit(program, i)) continue;
    const program::Instruction& instruction = program.instructions()[i];
    if (instruction.has_kernel()) {
      for (const program::Access& result : instruction.kernel().results()) write(result.buffer());
    }
    if (instruction.has_exchange()) write(instruction.exchange().destination());
  }
  // Slots that are written may overlap each other: from here on `end` is that of the slot and of
  // all slots that begin before it.
  int64_t furthest = 0;
  for (auto& [begin, end] : written) end = furthest = std::max(furthest, end);
  std::vector<bool> kept(program.message().buffers_size());
  for (const program::Initializer& parameter : program.message().parameters()) {
    const int buffer = parameter.port().buffer();
    const int64_t begin = layout.offsets[buffer];
    const auto behind = written.lower_bound(begin + program.message().buffers(buffer).size());
    kept[buffer] = behind == written.begin() || std::prev(behind)->second <= begin;
  }
  return kept;
}

}  // namespace yuba::runtime
