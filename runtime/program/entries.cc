#include "runtime/program/entries.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace yuba::program {
namespace {

bool Uses(const Instruction& instruction, int buffer) {
  if (instruction.has_exchange()) {
    return instruction.exchange().source() == buffer ||
           instruction.exchange().destination() == buffer;
  }
  const Kernel& kernel = instruction.kernel();
  const auto is = [&](const Access& access) { return access.buffer() == buffer; };
  return std::any_of(kernel.results().begin(), kernel.results().end(), is) ||
         std::any_of(kernel.operands().begin(), kernel.operands().end(), is);
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
      uses.back() = Uses(program.instructions(i), buffer);
    }
  }
  return uses;
}

}  // namespace yuba::program
