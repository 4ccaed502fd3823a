#include "compiler/streams/units.h"

#include "runtime/program/all_reduce.h"
#include "runtime/program/check_attention.h"
#include "runtime/program/check_joint_calls.h"
#include "runtime/program/entries.h"

namespace yuba::compiler {

std::vector<Unit> UnitsOf(const program::Program& program) {
  const int count = program.instructions_size();
  std::vector<int> end(count);  // [instruction]
  for (int i = 0; i < count; ++i) end[i] = i + 1;
  for (const program::EntryRange& entry : program::EntriesOf(program)) {
    for (int i = entry.begin; i + 1 < entry.end; ++i) {
      if (program::IsAllReduce(program, i)) end[i] = i + 2;
    }
  }
  for (const program::Attention& attention : program.attention()) {
    for (const auto& [first, last] : program::PartsOf(attention)) end[first] = last;
  }
  for (const program::JointCall& call : program.joint_calls())
    end[program::FirstOf(call)] = program::FirstOf(call) + 2;
  std::vector<Unit> units;
  for (int i = 0; i < count; i = units.back().end) units.push_back({i, end[i]});
  return units;
}

std::vector<Unit> GroupedUnitsOf(const program::Program& program) {
  std::vector<Unit> groups;
  for (const Unit& unit : UnitsOf(program)) {
    if (program.instructions(unit.begin).joins() && !groups.empty())
      groups.back().end = unit.end;
    else
      groups.push_back(unit);
  }
  return groups;
}

}  // namespace yuba::compiler
