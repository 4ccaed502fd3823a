#include "compiler/kernels/link.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"
#include "opsemantics/base/status.h"

LLD_HAS_DRIVER(elf)

namespace yuba::kernels {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code ignored;
    fs::path base = fs::temp_directory_path(ignored);
    if (ignored) base = "/tmp";
    std::string pattern = (base / "yuba-link-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Held while lld runs, since lld keeps its state in globals.
bool RunLld(const std::vector<std::string>& arguments, std::string& problem) {
  static std::mutex& mutex = *new std::mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  std::string output;
  llvm::raw_string_ostream out(output), errors(problem);
  const lld::Result result = lld::lldMain(pointers, out, errors, {{lld::Gnu, &lld::elf::link}});
  errors.flush();
  return result.retCode == 0 && result.canRunAgain;
}

}  // namespace

std::string FindSystemLibrary(const std::string& name) {
  for (const char* folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64",
                             "/usr/lib64", "/lib", "/usr/lib"}) {
    const fs::path path = fs::path(folder) / name;
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path.string();
  }
  return "";
}

absl::StatusOr<std::string> LinkShared(const std::vector<std::string>& objects) {
  const TemporaryFolder folder;
  if (folder.path().empty())
    return InternalError("cannot make a temporary folder to link kernels in; set TMPDIR");
  const std::string output = (folder.path() / "kernels.so").string();
  std::vector<std::string> arguments = {
      "ld.lld",          "-shared", "-o",   output,        "--threads=1",
      "--build-id=none", "-z",      "defs", "--as-needed", "-s"};
  for (size_t i = 0; i < objects.size(); ++i) {
    const std::string path = (folder.path() / absl::StrCat(i, ".o")).string();
    std::ofstream file(path, std::ios::binary);
    if (!file.write(objects[i].data(), objects[i].size()).flush())
      return InternalError("cannot write ", path, "; is the disk full?");
    arguments.push_back(path);
  }
  for (const char* name : {"libmvec.so.1", "libm.so.6", "libc.so.6", "libgcc_s.so.1"}) {
    const std::string path = FindSystemLibrary(name);
    if (!path.empty()) arguments.push_back(path);
  }
  std::string problem;
  if (!RunLld(arguments, problem)) return InternalError("cannot link kernels: ", problem);
  std::ostringstream bytes;
  bytes << std::ifstream(output, std::ios::binary).rdbuf();
  if (bytes.str().empty()) return InternalError("cannot read ", output);
  return bytes.str();
}

}  // namespace yuba::kernels
