#include "runtime/value_source.h"

#include <set>
#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/drawn_source.h"
#include "runtime/program/references.h"

namespace yuba::runtime {

absl::StatusOr<absl::string_view> MemorySource::Next(int64_t count) {
  YUBA_CHECK(count <= static_cast<int64_t>(left_.size()));
  const absl::string_view piece = left_.substr(0, static_cast<size_t>(count));
  left_.remove_prefix(piece.size());
  return piece;
}

absl::StatusOr<std::unique_ptr<FileSource>> FileSource::Open(const FileRange& range,
                                                             uint64_t checksum) {
  YUBA_ASSIGN_OR_RETURN(RangeReader reader, RangeReader::Open(range));
  return std::unique_ptr<FileSource>(new FileSource(std::move(reader), range.file, checksum));
}

absl::StatusOr<absl::string_view> FileSource::Next(int64_t count) {
  piece_.resize(static_cast<size_t>(count));
  YUBA_RETURN_IF_ERROR(reader_.Read(at_, count, piece_.data()));
  at_ += count;
  if (expected_ == 0) return absl::string_view(piece_);
  checksum_.Add(piece_);
  if (at_ == reader_.length() && checksum_.value() != expected_) {
    return UserError(file_,
                     ": the bytes of a value do not match their checksum: it was changed or ",
                     "damaged; write it again with yuba compile");
  }
  return absl::string_view(piece_);
}

absl::Status FileSource::Skip(int64_t count) {
  if (expected_ != 0) return Next(count).status();
  at_ += count;
  return absl::OkStatus();
}

namespace {

Draw DrawOf(const program::Draw& message) {
  return {message.distribution() == program::Draw::NORMAL ? Draw::kNormal : Draw::kUniform,
          message.first(), message.second(), message.seed()};
}

}  // namespace

absl::StatusOr<std::unique_ptr<ValueSource>> SourceOf(const program::Initializer& initializer,
                                                      ElementType type) {
  if (initializer.has_data()) return std::make_unique<MemorySource>(initializer.data());
  if (initializer.has_draw())
    return std::make_unique<DrawnSource>(DrawOf(initializer.draw()), type);
  if (!initializer.has_reference()) return std::unique_ptr<ValueSource>();
  const program::Reference& reference = initializer.reference();
  return FileSource::Open(RangeOf(reference), reference.checksum());
}

absl::Status CheckValueFiles(const program::Program& program) {
  std::set<std::pair<std::string, int64_t>> sound;  // files of these sizes
  for (const program::Initializer& parameter : program.parameters()) {
    if (!parameter.has_reference()) continue;
    const FileRange range = RangeOf(parameter.reference());
    if (!sound.insert({range.file, range.file_size}).second) continue;
    const absl::Status opened = RangeReader::Open(range).status();
    if (!opened.ok()) {
      return UserError("the value of parameter ", parameter.port().name(),
                       " stays in a file that is not as it was: ", opened.message(),
                       "; bring it back, or write the program again with yuba compile");
    }
  }
  return absl::OkStatus();
}

}  // namespace yuba::runtime
