#include "runtime/program/program.h"

#include <algorithm>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/program/enums.h"
#include "runtime/program/program_file.h"
#include "runtime/program/validate.h"
#include "runtime/program/well_formed.h"

namespace yuba::runtime {
absl::StatusOr<std::shared_ptr<LoadedProgram>> LoadedProgram::FromMessage(
    program::Program message) {
  YUBA_RETURN_IF_ERROR(program::CheckWellFormed(message));
  std::shared_ptr<LoadedProgram> loaded(new LoadedProgram);
  loaded->message_ = std::move(message);
  loaded->mesh_ = program::MeshOf(loaded->message_);
  loaded->devices_ = loaded->mesh_.devices();
  // Where each top-level instruction begins in the flat list, and the list's end.
  std::vector<int> begins;
  for (const program::Instruction& instruction : loaded->stage().instructions()) {
    begins.push_back(static_cast<int>(loaded->instructions_.size()));
    loaded->Flatten(instruction);
  }
  begins.push_back(static_cast<int>(loaded->instructions_.size()));
  loaded->entries_ = program::EntriesOf(loaded->message_);
  for (program::EntryRange& entry : loaded->entries_) {
    entry.begin = begins[entry.begin];
    entry.end = begins[entry.end];
  }
  YUBA_RETURN_IF_ERROR(ValidateContent(*loaded));
  return loaded;
}

absl::StatusOr<std::shared_ptr<LoadedProgram>> LoadedProgram::FromFile(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(program::Program message, ReadProgramFile(path));
  absl::StatusOr<std::shared_ptr<LoadedProgram>> loaded = FromMessage(std::move(message));
  if (!loaded.ok()) return Annotate(loaded.status(), path);
  return loaded;
}

void LoadedProgram::DropValues() {
  for (program::Initializer& parameter : *message_.mutable_parameters()) {
    if (parameter.has_data()) delete parameter.release_data();
  }
  has_values_ = false;
}

void LoadedProgram::Flatten(const program::Instruction& instruction) {
  const size_t at = instructions_.size();
  instructions_.emplace_back();
  if (instruction.has_kernel()) instructions_[at].kernel = &instruction.kernel();
  if (instruction.has_exchange()) instructions_[at].exchange = &instruction.exchange();
  if (!instruction.has_repeat()) return;
  for (const program::Instruction& inner : instruction.repeat().body()) Flatten(inner);
  instructions_[at].count = instruction.repeat().count();
  instructions_[at].end = static_cast<int>(instructions_.size());
}

std::string LoadedProgram::Describe(int instruction) const {
  std::string text = absl::StrCat("instruction ", instruction);
  const Instruction& at = instructions_[instruction];
  if (at.kernel != nullptr) {
    absl::StrAppend(&text, " (kernel ", program::NodeNames(*at.kernel));
    const std::string from = program::Origins(*at.kernel);
    if (!from.empty()) absl::StrAppend(&text, ", from ", from);
    absl::StrAppend(&text, ")");
  } else if (at.exchange != nullptr) {
    absl::StrAppend(&text, " (", at.exchange->reduce() ? "reduce" : "gather", " of ",
                    at.exchange->tensor(), " for ", at.exchange->node(), ")");
  }
  return text;
}

ElementType LoadedProgram::type(int buffer) const {
  return FromProto(stage().buffers(buffer).type());
}

int64_t LoadedProgram::ElementBytes(int buffer) const {
  return program::ElementBytes(message_, stage().buffers(buffer));
}

int64_t LoadedProgram::WholeElements(int buffer) const {
  return program::CheckedProduct(stage().buffers(buffer).dims());
}

}  // namespace yuba::runtime
