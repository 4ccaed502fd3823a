#include "runtime/program/program.h"

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/program/checksum.h"
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
  loaded->entries_ = program::EntriesOf(loaded->message_);
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

uint64_t LoadedProgram::Fingerprint() const {
  Checksum checksum;
  const auto add = [&](const auto& messages) {
    for (const auto& message : messages) checksum.Add(message.SerializeAsString());
  };
  add(message_.mesh());
  add(message_.buffers());
  add(message_.attention());
  add(message_.joint_calls());
  add(message_.instructions());
  add(message_.functions());
  add(message_.inputs());
  add(message_.outputs());
  add(message_.entries());
  for (const program::Initializer& parameter : message_.parameters())
    checksum.Add(parameter.port().SerializeAsString());
  for (const std::string* text : {&message_.version(), &message_.processor(), &message_.code()})
    checksum.Add(*text);
  return checksum.value();
}

std::string LoadedProgram::Describe(int instruction) const {
  const std::string what = WhatDoes(instruction);
  return absl::StrCat("instruction ", instruction, what.empty() ? "" : " (", what,
                      what.empty() ? "" : ")");
}

std::string LoadedProgram::WhatDoes(int instruction) const {
  const program::Instruction& at = instructions()[instruction];
  if (at.has_kernel()) {
    const std::string from = program::Origins(at.kernel());
    return absl::StrCat("kernel ", program::NodeNames(at.kernel()), from.empty() ? "" : ", from ",
                        from);
  }
  if (!at.has_exchange()) return "";
  const program::Exchange& exchange = at.exchange();
  return absl::StrCat(exchange.reduce() ? "reduce" : "gather", " of ", exchange.tensor(), " for ",
                      exchange.node());
}

ElementType LoadedProgram::type(int buffer) const {
  return FromProto(message_.buffers(buffer).type());
}

int64_t LoadedProgram::ElementBytes(int buffer) const {
  return program::ElementBytes(message_, message_.buffers(buffer));
}

DimOrder LoadedProgram::OrderOf(int buffer) const {
  const auto& order = message_.buffers(buffer).order();
  return {order.begin(), order.end()};
}

std::vector<int64_t> LoadedProgram::ShapeDims(int buffer) const {
  const auto& dims = message_.buffers(buffer).dims();
  return OutOfOrder(std::vector<int64_t>(dims.begin(), dims.end()), OrderOf(buffer));
}

int64_t LoadedProgram::WholeElements(int buffer) const {
  return program::CheckedProduct(message_.buffers(buffer).dims());
}

}  // namespace yuba::runtime
