#include "runtime/program/program_file.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba::runtime {
namespace {

constexpr char kFormat[] = "yuba-program/1 ";
constexpr char kNext[] = "; write it again with yuba compile";

// The first line of a file, for a program of the bytes that were added.
class Seal {
 public:
  void Add(const char* bytes, size_t count) {
    const auto* data = reinterpret_cast<const Bytef*>(bytes);
    crc_ = crc32_z(crc_, data, count);
    adler_ = adler32_z(adler_, data, count);
    length_ += static_cast<int64_t>(count);
  }
  int64_t length() const { return length_; }
  std::string Line() const {
    return absl::StrFormat("%s%016x %08x%08x\n", kFormat, length_, crc_, adler_);
  }

 private:
  uLong crc_ = crc32_z(0, nullptr, 0), adler_ = adler32_z(0, nullptr, 0);
  int64_t length_ = 0;
};

// The seal of the rest of the file.
Seal SealOf(std::istream& file) {
  Seal seal;
  std::string block(1 << 20, '\0');
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())), file.gcount() > 0) {
    seal.Add(block.data(), static_cast<size_t>(file.gcount()));
  }
  return seal;
}

// The length that a first line of the right form gives; -1 for any other line.
int64_t LengthIn(absl::string_view line) {
  int64_t length = 0;
  if (!absl::ConsumePrefix(&line, kFormat) || line.back() != '\n') return -1;
  return absl::SimpleHexAtoi(line.substr(0, 16), &length) ? length : -1;
}

// A pipe cannot be read twice, once for its checksum.
absl::Status CheckRegular(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(const UniqueFd file, OpenToRead(path));
  struct stat facts;
  const bool regular = ::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode);
  if (!regular) return UserError(path, ": is a pipe: name a file");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> FormatProgram(const program::Program& program) {
  std::string bytes = Seal().Line();
  const size_t begin = bytes.size();
  if (!program.AppendToString(&bytes)) {
    return UserError(
        "the program with its weights is larger than 2 GiB, the most its format holds; leave ",
        "the weights out of the model and give them to yuba-run with --weights");
  }
  Seal seal;
  seal.Add(bytes.data() + begin, bytes.size() - begin);
  bytes.replace(0, begin, seal.Line());
  return bytes;
}

absl::StatusOr<program::Program> ReadProgramFile(const std::string& path) {
  YUBA_RETURN_IF_ERROR(CheckRegular(path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return UserError(path, ": cannot be read: ", std::strerror(errno));
  std::string line(Seal().Line().size(), '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  if (file.bad()) return UserError(path, ": cannot be read: ", std::strerror(errno));
  const int64_t length = LengthIn(line);
  if (length < 0) {
    return UserError(path, ": is no program, or one of another version of yuba", kNext);
  }
  const Seal seal = SealOf(file);
  if (file.bad()) return UserError(path, ": cannot be read: ", std::strerror(errno));
  if (seal.length() != length) {
    return UserError(path, ": has ", seal.length(), " bytes of a program where it says ", length,
                     ": it was cut short or changed", kNext);
  }
  if (line != seal.Line()) {
    return UserError(path, ": its bytes do not match their checksum: it was changed or damaged",
                     kNext);
  }
  file.clear();
  program::Program program;
  if (!file.seekg(static_cast<std::streamoff>(line.size())) || !program.ParseFromIstream(&file)) {
    return UserError(path, ": was changed while it was read");
  }
  return program;
}

}  // namespace yuba::runtime
