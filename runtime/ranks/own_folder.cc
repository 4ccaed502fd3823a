#include "runtime/ranks/own_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace yuba::runtime {

OwnFolder::OwnFolder(const std::string& name) {
  const char* const root = std::getenv("TMPDIR");
  const std::string pattern =
      absl::StrCat(root != nullptr && *root != 0 ? root : "/tmp", "/", name, "-XXXXXX");
  std::string path = pattern;
  if (mkdtemp(&path[0]) != nullptr) path_ = path;
  problem_ = path_.empty() ? absl::StrCat(pattern, ": ", std::strerror(errno)) : "";
}

OwnFolder::~OwnFolder() {
  std::error_code ignored;  // it is no part of the answer
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace yuba::runtime
