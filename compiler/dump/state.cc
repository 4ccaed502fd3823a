#include "compiler/dump/state.h"

#include "compiler/dump/module.h"
#include "compiler/dump/values.pb.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {

std::string StateText(const Compilation& compilation) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = WriteModule(&context, compilation);
  YUBA_CHECK(mlir::succeeded(mlir::verify(*module)));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << "\n";
  return stream.str();
}

absl::StatusOr<StatePlaces> ParseState(absl::string_view text, const std::string& file,
                                       Compilation& compilation) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<YubaDialect>();
  std::string errors;
  const mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    llvm::raw_string_ostream stream(errors);
    stream << (errors.empty() ? "" : "\n") << PlaceOf(diagnostic.getLocation(), file)
           << ": error: " << diagnostic;
    return mlir::success();
  });
  const auto module = mlir::parseSourceString<mlir::ModuleOp>(
      llvm::StringRef(text.data(), text.size()), mlir::ParserConfig(&context), file);
  if (!module) return UserError(errors);
  if (absl::Status status = ReadModule(*module, compilation); !status.ok()) {
    return Annotate(status, file);
  }
  return PlacesOf(*module, file);
}

absl::Status WriteState(const Compilation& compilation, const std::string& path) {
  return WriteFile(path, StateText(compilation));
}

absl::StatusOr<StatePlaces> ReadState(const std::string& path, Compilation& compilation) {
  YUBA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseState(text, path, compilation);
}

absl::Status WriteValues(const Model& model, const std::string& path) {
  dump::Values message;
  for (const auto& [id, value] : model.values) {
    dump::Value* entry = message.add_values();
    entry->set_tensor(id);
    if (value.kind == InitialValue::kData) entry->set_data(*value.data);
    if (value.kind == InitialValue::kFill) entry->set_fill(*value.data);
    if (value.kind == InitialValue::kDrawn) {
      entry->mutable_draw()->set_normal(value.draw.distribution == Draw::kNormal);
      entry->mutable_draw()->set_first(value.draw.first);
      entry->mutable_draw()->set_second(value.draw.second);
      entry->mutable_draw()->set_seed(value.draw.seed);
    }
    if (value.kind != InitialValue::kFile) continue;
    entry->mutable_range()->set_file(value.range.file);
    entry->mutable_range()->set_offset(value.range.offset);
    entry->mutable_range()->set_length(value.range.length);
    entry->mutable_range()->set_file_size(value.range.file_size);
  }
  std::string bytes;
  if (!message.SerializeToString(&bytes)) {
    return UserError(path, ": the model's values are more than 2 GiB, the most a dump holds");
  }
  return WriteFile(path, bytes);
}

absl::Status ReadValues(const std::string& path, Model& model) {
  YUBA_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  dump::Values message;
  if (!message.ParseFromString(bytes)) return UserError(path, ": these are no values of a dump");
  model.values.clear();
  for (const dump::Value& entry : message.values()) {
    InitialValue& value = model.values[entry.tensor()];
    if (entry.has_data()) {
      value.kind = InitialValue::kData;
      value.data = std::make_shared<const std::string>(entry.data());
    } else if (entry.has_fill()) {
      value.kind = InitialValue::kFill;
      value.data = std::make_shared<const std::string>(entry.fill());
    } else if (entry.has_range()) {
      value.kind = InitialValue::kFile;
      value.range = {entry.range().file(), entry.range().offset(), entry.range().length(),
                     entry.range().file_size()};
    } else if (entry.has_draw()) {
      value.kind = InitialValue::kDrawn;
      value.draw = {entry.draw().normal() ? Draw::kNormal : Draw::kUniform, entry.draw().first(),
                    entry.draw().second(), entry.draw().seed()};
    }
  }
  return absl::OkStatus();
}

}  // namespace yuba::compiler
