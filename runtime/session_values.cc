// The values of a session: what is set, made up, and missing.
#include <algorithm>

#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "runtime/initial_values.h"
#include "runtime/session.h"
#include "runtime/set_values.h"

namespace yuba::runtime {
namespace {

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

// Whether the elements are those that the initializer has already.
absl::StatusOr<bool> AreTheSame(const program::Initializer& initializer, ElementType type,
                                int64_t bytes, ValueSource& source) {
  YUBA_ASSIGN_OR_RETURN(const std::unique_ptr<ValueSource> known, SourceOf(initializer, type));
  if (known == nullptr) return false;
  YUBA_ASSIGN_OR_RETURN(const absl::string_view expected, known->Next(bytes));
  YUBA_ASSIGN_OR_RETURN(const absl::string_view given, source.Next(bytes));
  return expected == given;
}

}  // namespace

const program::Port* Session::FindGiven(const std::string& name) const {
  for (const program::Port& port : program_->message().inputs()) {
    if (port.name() == name) return &port;
  }
  for (const program::Initializer& parameter : program_->message().parameters()) {
    if (parameter.port().name() == name) return &parameter.port();
  }
  return nullptr;
}

absl::Status Session::Set(const std::string& name, const TensorData& tensor) {
  MemorySource source(tensor.data);
  return SetFrom(name, tensor.type, tensor.dims, static_cast<int64_t>(tensor.data.size()), source);
}

absl::Status Session::SetFromFile(const std::string& name, const StoredTensor& tensor) {
  YUBA_ASSIGN_OR_RETURN(const std::unique_ptr<FileSource> source,
                        FileSource::Open(tensor.bytes, 0));
  return SetFrom(name, tensor.type, tensor.dims, tensor.bytes.length, *source);
}

absl::Status Session::SetFrom(const std::string& name, ElementType type,
                              const std::vector<int64_t>& dims, int64_t bytes,
                              ValueSource& source) {
  YUBA_RETURN_IF_ERROR(CheckUsable());
  const program::Port* port = FindGiven(name);
  if (port == nullptr) {
    return UserError("the program has no input or parameter ", name, "; it has ",
                     absl::StrJoin(program_->message().inputs(), ", ",
                                   [](std::string* out, const program::Port& input) {
                                     out->append(input.name());
                                   }));
  }
  const std::vector<int64_t> shape(port->shape().begin(), port->shape().end());
  if (dims != shape) {
    return UserError(name, " has shape ", ShapeText(dims), ", the program was made for ",
                     ShapeText(shape));
  }
  if (bytes != program_->WholeElements(port->buffer()) * ByteSize(type)) {
    return UserError(name, " has ", bytes, " bytes, which is not what its shape needs");
  }
  for (const program::Initializer& parameter : program_->message().parameters()) {
    if (!parameter.fixed() || &parameter.port() != port) continue;
    YUBA_ASSIGN_OR_RETURN(const bool same, AreTheSame(parameter, type, bytes, source));
    if (same && type == program_->type(port->buffer())) return absl::OkStatus();
    return UserError("the program was compiled for the values that ", name, " has in the model: ",
                     "they say which elements move. Compile a model with these values instead");
  }
  given_.erase(name);
  for (const program::Initializer& parameter : program_->message().parameters()) {
    if (&parameter.port() == port) ForgetInit(port->buffer());  // it reads no inputs
  }
  YUBA_RETURN_IF_ERROR(
      Annotate(SetElements(*program_, layout_, *fleet_, port->buffer(), type, source), name));
  given_.insert(name);
  replaced_.insert(name);
  return absl::OkStatus();
}

absl::Status Session::FillRandom(const program::Port& port, bool parameter, uint64_t seed) {
  YUBA_RETURN_IF_ERROR(CheckUsable());
  const ValueRule rule =
      RuleFor(program_->type(port.buffer()), {port.shape().begin(), port.shape().end()}, parameter,
              program_->hash());
  for (const int device : OwnDevices(*fleet_)) {
    const std::string shard =
        RandomElements(rule, SeedOf(port.name(), seed), program_->ShapeDims(port.buffer()),
                       program_->ShapeBox(port.buffer(), device), program_->OrderOf(port.buffer()));
    YUBA_RETURN_IF_ERROR(fleet_->devices[device]->Write(
        layout_.offsets[port.buffer()], shard.data(), static_cast<int64_t>(shard.size())));
  }
  given_.insert(port.name());
  replaced_.insert(port.name());
  return absl::OkStatus();
}

void Session::ForgetInit(int buffer) {
  for (size_t e = 0; e < run_.size(); ++e) {
    if (program_->entries()[e].name != program::kInitEntry) continue;
    if (program::EntriesThatUse(program_->message(), buffer)[e]) run_[e] = false;
  }
}

absl::Status Session::Randomize(uint64_t seed) {
  for (const program::Port& input : program_->message().inputs()) {
    if (given_.count(input.name()) == 0) YUBA_RETURN_IF_ERROR(FillRandom(input, false, seed));
  }
  for (const program::Initializer& parameter : program_->message().parameters()) {
    const program::Port& port = parameter.port();
    const bool equal_values_hide_faults = program_->hash() &&
                                          IsFloat(program_->type(port.buffer())) &&
                                          program_->WholeElements(port.buffer()) > 1;
    if (given_.count(port.name()) == 0 || equal_values_hide_faults) {
      YUBA_RETURN_IF_ERROR(FillRandom(port, true, seed));
      ForgetInit(port.buffer());
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> Session::Missing() const {
  std::vector<std::string> missing;
  auto look = [&](const program::Port& port) {
    if (given_.count(port.name()) == 0) missing.push_back(port.name());
  };
  for (const program::Port& input : program_->message().inputs()) look(input);
  for (const program::Initializer& parameter : program_->message().parameters()) {
    look(parameter.port());
  }
  return missing;
}

std::vector<std::string> Session::MissingFor(int entry) const {
  std::vector<std::string> missing = Missing();
  // The only entry needs all, also what nothing reads.
  if (program_->entries().size() == 1) return missing;
  const auto not_read = [&](const std::string& name) {
    return !program::EntriesThatUse(program_->message(), FindGiven(name)->buffer())[entry];
  };
  missing.erase(std::remove_if(missing.begin(), missing.end(), not_read), missing.end());
  return missing;
}

absl::Status NoValuesFor(std::vector<std::string> missing) {
  const size_t count = missing.size();
  if (count > 5) missing.resize(5);
  return UserError("no value for ", absl::StrJoin(missing, ", "),
                   count > 5 ? absl::StrCat(" and ", count - 5, " more") : "",
                   "; give files (--input, --inputs, --weights) or use --random");
}

}  // namespace yuba::runtime
