// The writing half of program_file.h.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "opsemantics/base/file_range.h"
#include "opsemantics/base/status.h"
#include "runtime/program/file_format.h"
#include "runtime/program/program_file.h"
#include "runtime/program/references.h"

namespace yuba::runtime {
namespace {

// Calls `visit` with each piece of the initializer's value, in order.
absl::Status ForEachPiece(const program::Initializer& value, const WritePiece& visit) {
  if (value.has_data()) {
    const absl::string_view data = value.data();
    for (size_t at = 0; at < data.size(); at += kPiece) {
      YUBA_RETURN_IF_ERROR(visit(data.substr(at, kPiece)));
    }
    return absl::OkStatus();
  }
  YUBA_ASSIGN_OR_RETURN(const RangeReader reader, RangeReader::Open(RangeOf(value.reference())));
  std::string piece(static_cast<size_t>(std::min(kPiece, reader.length())), '\0');
  for (int64_t at = 0; at < reader.length(); at += kPiece) {
    piece.resize(static_cast<size_t>(std::min(kPiece, reader.length() - at)));
    YUBA_RETURN_IF_ERROR(reader.Read(at, static_cast<int64_t>(piece.size()), piece.data()));
    YUBA_RETURN_IF_ERROR(visit(piece));
  }
  return absl::OkStatus();
}

// Writes one program, from the first line to the last.
class Writer {
 public:
  Writer(const program::Program& program, FileValues values, const WritePiece& write)
      : program_(program), values_(values), write_(write) {}

  absl::Status Write() {
    YUBA_RETURN_IF_ERROR(Put(kFirstLine));
    program::Program message = program_;
    for (program::Initializer& parameter : *message.mutable_parameters()) {
      YUBA_RETURN_IF_ERROR(Annotate(PutValue(parameter), "value of " + parameter.port().name()));
    }
    std::string bytes;
    if (!message.SerializeToString(&bytes)) {
      return UserError("the program's code and instructions are more than 2 GiB");
    }
    Checksum checksum;
    checksum.Add(bytes);
    YUBA_RETURN_IF_ERROR(Put(bytes));
    return Put(LastLine(checksum));
  }

  int64_t size() const { return size_; }  // bytes written so far

 private:
  absl::Status Put(absl::string_view piece) {
    size_ += static_cast<int64_t>(piece.size());
    return write_(piece);
  }

  // Writes the parameter's value, where it is large, and puts a reference in its place.
  absl::Status PutValue(program::Initializer& parameter) {
    if (parameter.has_reference() && values_ == FileValues::kReference) {
      std::error_code error;
      const std::string file = parameter.reference().file();
      parameter.mutable_reference()->set_file(std::filesystem::absolute(file, error).string());
      return error ? UserError(file, ": ", error.message()) : absl::OkStatus();
    }
    const int64_t inside = static_cast<int64_t>(parameter.data().size());
    if (!parameter.has_reference() && inside <= kValueAlignment) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(Put(std::string(AlignedFrom(size_) - size_, '\0')));
    program::Reference reference;
    reference.set_offset(size_);
    Checksum checksum;
    const WritePiece put = [&](absl::string_view piece) {
      checksum.Add(piece);
      return Put(piece);
    };
    YUBA_RETURN_IF_ERROR(ForEachPiece(parameter, put));
    reference.set_length(checksum.length());
    reference.set_checksum(checksum.value());
    *parameter.mutable_reference() = reference;
    return absl::OkStatus();
  }

  const program::Program& program_;
  const FileValues values_;
  const WritePiece& write_;
  int64_t size_ = 0;
};

}  // namespace

absl::StatusOr<int64_t> WriteProgramFile(const program::Program& program, FileValues values,
                                         const std::string& path) {
  int64_t size = 0;
  const absl::Status written = WriteFileInPieces(path, [&](const WritePiece& write) {
    Writer writer(program, values, write);
    const absl::Status status = writer.Write();
    size = writer.size();
    return status;
  });
  if (!written.ok()) return written;
  return size;
}

}  // namespace yuba::runtime
