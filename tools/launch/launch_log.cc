#include "tools/launch/launch_log.h"

#include <unistd.h>

#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint/checkpoint_folder.h"

namespace yuba::tools {
namespace {

void Say(const std::string& text) { std::cerr << "launch: " << text << "\n" << std::flush; }

std::string Seconds(double seconds) { return absl::StrFormat("%.2f s", seconds); }

}  // namespace

LaunchLog::LaunchLog(const std::string& log, bool goes_on) {
  if (!FolderOnDisk(log).empty()) path_ = log + ".launch";
  if (!path_.empty() && !goes_on) ::unlink(path_.c_str());  // an earlier run's, if there is one
}

void LaunchLog::Lost(const Loss& loss) {
  const std::string who =
      loss.rank < 0 ? "a rank" : absl::StrCat("rank ", loss.rank, " of host ", loss.host);
  Say(absl::StrCat(who, " is lost, noticed ", Seconds(loss.noticed),
                   loss.after_step > 0 ? absl::StrCat(" after the end of step ", loss.after_step)
                                       : " after the start",
                   "; all ranks had ended ", Seconds(loss.ended), " later",
                   loss.is_told || loss.reason.empty() ? "" : absl::StrCat("; ", loss.reason)));
  nlohmann::ordered_json json = {{"event", "lost"}, {"rank", nullptr}, {"host", nullptr}};
  if (loss.rank >= 0) {
    json["rank"] = loss.rank;
    json["host"] = loss.host;
  }
  json["reason"] = loss.reason;
  json["after_step"] = loss.after_step;
  json["noticed"] = loss.noticed;
  json["ended"] = loss.ended;
  // A host's name, or one of the model's in the reason, need not be UTF-8.
  Write(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void LaunchLog::Decided(const std::string& text) const { Say(text); }

void LaunchLog::WentOn(const Return& done) {
  ++times_;
  steps_twice_ += done.steps_twice;
  seconds_ += done.seconds;
  Say(absl::StrCat("went on with ", Counted(done.devices, "device"), ": step ", done.from_step + 1,
                   " is done ", Seconds(done.seconds), " after the loss, of which ",
                   Seconds(done.plan), " to plan and compile, ", Seconds(done.load),
                   " to start and load, ", Seconds(done.step), " for the step"));
  Write(nlohmann::ordered_json({{"event", "went on"},
                                {"devices", done.devices},
                                {"from_step", done.from_step},
                                {"steps_twice", done.steps_twice},
                                {"plan", done.plan},
                                {"load", done.load},
                                {"step", done.step},
                                {"seconds", done.seconds}})
            .dump());
}

void LaunchLog::End(int devices) {
  if (times_ == 0) return;
  Say(absl::StrCat("went on ", times_ == 1 ? "once" : absl::StrCat(times_, " times"),
                   ", at the end with ", Counted(devices, "device"), "; ",
                   Counted(steps_twice_, "step"), " done twice, ", Seconds(seconds_),
                   " from losses to the next finished steps"));
  Write(nlohmann::ordered_json({{"event", "end"},
                                {"times", times_},
                                {"devices", devices},
                                {"steps_twice", steps_twice_},
                                {"seconds", seconds_}})
            .dump());
}

void LaunchLog::Write(const std::string& line) const {
  if (path_.empty()) return;
  std::ofstream file(path_, std::ios::binary | std::ios::app);
  file << line << "\n" << std::flush;
  if (!file) std::cerr << "note: " << path_ << " cannot be written\n";
}

}  // namespace yuba::tools
