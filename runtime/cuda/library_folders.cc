#include "runtime/cuda/library_folders.h"

#include <glob.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace yuba::cuda {
namespace {

std::string& Folder() {
  static auto* folder = new std::string;
  return *folder;
}

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The folder that has the bin/ of the first python3 in PATH.
std::string PrefixOfPython() {
  for (const absl::string_view folder : absl::StrSplit(Variable("PATH"), ':')) {
    if (access(absl::StrCat(folder, "/python3").c_str(), X_OK) == 0)
      return absl::StrCat(folder, "/..");
  }
  return "";
}

void AddMatches(const std::string& pattern, std::vector<std::string>& folders) {
  glob_t found = {};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    folders.insert(folders.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
}

}  // namespace

void SetLibraryFolder(const std::string& folder) { Folder() = folder; }

std::string LibraryFolder() { return Folder(); }

std::vector<std::string> PythonLibraryFolders() {
  std::vector<std::string> folders;
  for (const std::string& prefix : {Variable("VIRTUAL_ENV"), Variable("CONDA_PREFIX"),
                                    PrefixOfPython(), std::string("/usr/local")}) {
    if (prefix.empty()) continue;
    AddMatches(prefix + "/lib/python3*/*-packages/nvidia/*/lib", folders);
  }
  return folders;
}

}  // namespace yuba::cuda
