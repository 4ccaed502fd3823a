#include "tools/run/shared_folder.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/rank_text.h"
#include "tools/run/checkpoint/checkpoint_folder.h"

namespace yuba::tools {
namespace {

constexpr double kLookSeconds = 10;

// Rank 0's file, while it lives.
class Token {
 public:
  // In the folder of `save`, or, as long as that is not made, in the nearest one around it. Empty
  // where `save` is no file of a disk.
  static absl::StatusOr<Token> Write(const std::string& save) {
    std::filesystem::path folder = FolderOnDisk(save);
    std::error_code error;
    while (!folder.empty() && !std::filesystem::exists(folder, error)) {
      if (!folder.has_filename()) folder = folder.parent_path();
      folder = folder.has_parent_path() ? folder.parent_path() : ".";
    }
    Token token;
    if (folder.empty()) return token;
    std::random_device random;
    const std::string text = absl::StrFormat("%08x%08x", random(), random());
    token.path_ = absl::StrCat(folder.string(), "/.yuba-", text);
    const absl::Status written = WriteFile(token.path_, text);
    if (!written.ok()) return Annotate(written, "--save");
    return token;
  }
  Token() = default;
  Token(Token&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Token& operator=(Token&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~Token() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bool Sees(const std::string& path) {
  const Clock::time_point start = Clock::now();
  std::error_code error;
  while (!std::filesystem::exists(path, error)) {
    if (SecondsSince(start) > kLookSeconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

// Of rank 0: what the others have answered.
absl::StatusOr<std::string> ProblemOf(const std::string& save, runtime::Job& job) {
  std::vector<std::string> blind;
  for (int other = 1; other < job.size(); ++other) {
    char sees = 0;
    YUBA_RETURN_IF_ERROR(job.Receive(other, &sees, 1));
    if (sees == 0) blind.push_back(runtime::NameOf(job.ranks()[other]));
  }
  if (blind.empty()) return std::string();
  return absl::StrCat("--save ", save, ": what ", runtime::NameOf(job.Self()),
                      " writes into its folder is not seen within ", kLookSeconds, " s by ",
                      absl::StrJoin(blind, ", "),
                      ": name a folder that all hosts share, by the same path");
}

}  // namespace

absl::Status CheckFolderIsShared(const std::string& save, runtime::Job& job) {
  Token token;
  if (job.rank() == 0 && !save.empty()) {
    YUBA_ASSIGN_OR_RETURN(token, Token::Write(save));
  }
  YUBA_ASSIGN_OR_RETURN(const std::string path, job.FromFirst(token.path()));
  if (path.empty()) return absl::OkStatus();
  std::string problem;
  if (job.rank() == 0) {
    YUBA_ASSIGN_OR_RETURN(problem, ProblemOf(save, job));
  } else {
    const char sees = Sees(path) ? 1 : 0;
    YUBA_RETURN_IF_ERROR(job.Send(0, {&sees, 1}));
  }
  YUBA_ASSIGN_OR_RETURN(problem, job.FromFirst(problem));
  return problem.empty() ? absl::OkStatus() : UserError(problem);
}

}  // namespace yuba::tools
