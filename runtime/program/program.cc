#include "runtime/program/program.h"

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

std::string LoadedProgram::Describe(int instruction) const {
  std::string text = absl::StrCat("instruction ", instruction);
  const program::Instruction& at = instructions()[instruction];
  if (at.has_kernel()) {
    absl::StrAppend(&text, " (kernel ", program::NodeNames(at.kernel()));
    const std::string from = program::Origins(at.kernel());
    if (!from.empty()) absl::StrAppend(&text, ", from ", from);
    absl::StrAppend(&text, ")");
  } else if (at.has_exchange()) {
    const program::Exchange& exchange = at.exchange();
    absl::StrAppend(&text, " (", exchange.reduce() ? "reduce" : "gather", " of ", exchange.tensor(),
                    " for ", exchange.node(), ")");
  }
  return text;
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
