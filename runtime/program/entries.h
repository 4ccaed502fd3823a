// The entries of a program: which instructions a caller runs together.
//
// Example: a decoder has `prefill`, instructions 0 to 40, and `decode`, 41 to 79. Both read the
// same weights and write the same caches. A program that names none has one entry, "step", of all
// its instructions.
#ifndef YUBA_RUNTIME_PROGRAM_ENTRIES_H_
#define YUBA_RUNTIME_PROGRAM_ENTRIES_H_

#include <string>
#include <vector>

#include "runtime/program/program.pb.h"

namespace yuba::program {

constexpr char kOnlyEntry[] = "step";  // the name of an entry that nobody named
// The name of the entry that computes what never changes: sessions run it before any other.
constexpr char kInitEntry[] = "init";

struct EntryRange {
  std::string name;
  int begin = 0, end = 0;  // instructions [begin, end)
};

// In the order of the instructions; one at least. Together they are all instructions of the
// program, which must be well-formed (well_formed.h).
std::vector<EntryRange> EntriesOf(const Program& program);

// The position of the entry that has the instruction.
int EntryOf(const std::vector<EntryRange>& entries, int instruction);

// Empty where the program's entries have different names and follow each other from the first
// instruction to the last, else what is wrong: "entry decode begins at instruction 41".
std::string FaultOfEntries(const Program& program);

// Which entries read or write the buffer: [entry].
std::vector<bool> EntriesThatUse(const Program& program, int buffer);
// The same of all buffers, in one look at the instructions: [buffer][entry]. The program must be
// well-formed.
std::vector<std::vector<bool>> EntriesByBuffer(const Program& program);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_ENTRIES_H_
