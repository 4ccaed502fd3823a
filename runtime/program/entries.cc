#include "runtime/program/entries.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace yuba::program {
namespace {

// Calls `is` with each buffer that the instruction reads or writes until one call returns true:
// whether one did.
template <typename Is>
bool AnyBuffer(const Instruction& instruction, const Is& is) {
  if (instruction.has_exchange()) {
    return is(instruction.exchange().source()) || is(instruction.exchange().destination());
  }
  const Kernel& kernel = instruction.kernel();
  const auto of = [&](const Access& access) { return is(access.buffer()); };
  return std::any_of(kernel.results().begin(), kernel.results().end(), of) ||
         std::any_of(kernel.operands().begin(), kernel.operands().end(), of);
}

}  // namespace

std::vector<EntryRange> EntriesOf(const Program& program) {
  const int instructions = program.instructions_size();
  if (program.entries().empty()) return {{kOnlyEntry, 0, instructions}};
  std::vector<EntryRange> entries;
  for (const Entry& entry : program.entries()) {
    entries.push_back({entry.name(), entry.begin(), instructions});
    if (entries.size() > 1) entries[entries.size() - 2].end = entry.begin();
  }
  return entries;
}

int EntryOf(const std::vector<EntryRange>& entries, int instruction) {
  const auto has = [&](const EntryRange& entry) {
    return entry.begin <= instruction && instruction < entry.end;
  };
  return static_cast<int>(std::find_if(entries.begin(), entries.end(), has) - entries.begin());
}

std::string FaultOfEntries(const Program& program) {
  std::set<std::string> names;
  int last = 0;
  for (const Entry& entry : program.entries()) {
    if (entry.name().empty() || !names.insert(entry.name()).second) {
      return absl::StrCat("an entry's name, \"", entry.name(), "\", is empty or taken");
    }
    if (names.size() == 1 && entry.begin() != 0) {
      return absl::StrCat("the first entry, ", entry.name(), ", begins at instruction ",
                          entry.begin(), ", not at 0");
    }
    if (entry.begin() < last || entry.begin() > program.instructions_size()) {
      return absl::StrCat("entry ", entry.name(), " begins at instruction ", entry.begin());
    }
    last = entry.begin();
  }
  return "";
}

std::vector<bool> EntriesThatUse(const Program& program, int buffer) {
  std::vector<bool> uses;
  for (const EntryRange& entry : EntriesOf(program)) {
    uses.push_back(false);
    for (int i = entry.begin; i < entry.end && !uses.back(); ++i) {
      uses.back() = AnyBuffer(program.instructions(i), [&](int used) { return used == buffer; });
    }
  }
  return uses;
}

std::vector<std::vector<bool>> EntriesByBuffer(const Program& program) {
  const std::vector<EntryRange> entries = EntriesOf(program);
  std::vector<std::vector<bool>> uses(program.buffers_size(),
                                      std::vector<bool>(entries.size(), false));
  for (size_t e = 0; e < entries.size(); ++e) {
    for (int i = entries[e].begin; i < entries[e].end; ++i) {
      AnyBuffer(program.instructions(i), [&](int used) {
        uses[used][e] = true;
        return false;
      });
    }
  }
  return uses;
}

}  // namespace yuba::program
