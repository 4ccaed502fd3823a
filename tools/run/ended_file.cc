#include "tools/run/ended_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/exit_code.h"
#include "tools/run/checkpoint/checkpoint_folder.h"

namespace yuba::tools {
namespace {

constexpr char kName[] = "ended.json";

// Empty: nothing is written.
std::string FolderOf(const RunFlags& flags) {
  const std::string of_save = FolderOnDisk(flags.save);
  if (!of_save.empty()) return of_save;
  if (!flags.output_dir.empty()) return flags.output_dir;
  return FolderOnDisk(flags.log);
}

std::string TextOf(const absl::Status& status, const EndedBy& by) {
  nlohmann::ordered_json json;
  json["reason"] = std::string(status.message());
  for (const char* of_rank : {"rank", "host", "process"}) json[of_rank] = nullptr;
  if (by.rank >= 0) {
    json["rank"] = by.rank;
    json["host"] = by.host;
    json["process"] = by.process;
  }
  json["exit_code"] = ExitCode(status);
  json["step"] = by.step;
  json["time"] = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone());
  // A host's name, or one of the model's in the reason, need not be UTF-8.
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// The first to come stays, where the file system has links.
absl::Status Place(const std::string& aside, const std::string& path) {
  if (::link(aside.c_str(), path.c_str()) == 0 || errno == EEXIST) {
    ::unlink(aside.c_str());
    return absl::OkStatus();
  }
  if (std::rename(aside.c_str(), path.c_str()) == 0) return absl::OkStatus();
  const int code = errno;
  ::unlink(aside.c_str());
  return UserError(path, ": ", std::strerror(code));
}

}  // namespace

EndedBy EndedByOf(const runtime::Job& job) {
  const runtime::RankFault fault = job.fault();
  if (fault.rank < 0) return {-1, "", 0, job.steps()};
  const runtime::RankFacts& facts = job.ranks()[fault.rank];
  return {fault.rank, facts.host, facts.process, fault.step};
}

EndedFile::EndedFile(const RunFlags& flags, int rank) : rank_(rank) {
  folder_ = FolderOf(flags);
  if (!folder_.empty()) path_ = absl::StrCat(folder_, "/", kName);
}

void EndedFile::Remove() const {
  if (!path_.empty()) ::unlink(path_.c_str());  // it may not be there
}

absl::optional<Ended> EndedFile::Read() const {
  std::ifstream file(path_, std::ios::binary);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) return absl::nullopt;
  const auto field = [&](const char* name) { return json.value(name, nlohmann::json()); };
  if (!field("reason").is_string()) return absl::nullopt;
  Ended ended;
  ended.reason = field("reason");
  if (!field("rank").is_number_integer() || !field("host").is_string()) return ended;
  ended.by.rank = field("rank");
  ended.by.host = field("host");
  return ended;
}

void EndedFile::Write(const absl::Status& status, const EndedBy& by) const {
  if (path_.empty()) return;
  const std::string aside = absl::StrCat(path_, ".", rank_);
  absl::Status written = MakeFolder(folder_);
  if (written.ok()) written = WriteFile(aside, TextOf(status, by));
  if (written.ok()) written = Place(aside, path_);
  if (!written.ok()) std::cerr << "note: " << kName << ": " << written.message() << "\n";
}

}  // namespace yuba::tools
