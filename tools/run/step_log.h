// A table of a run's steps, a line each, in a file of comma-separated values (--log), which may be
// read while the run goes on:
//
//   entry,step,step:loss,lr,eval:loss,seconds,examples_per_second,moved_bytes
//   step,1,2.3394122,0.001,,0.0412,291.3,50764
//
// Columns between step and seconds are the numbers of the entries and of an evaluation; a cell is
// empty where a step has no such number.
#ifndef YUBA_TOOLS_RUN_STEP_LOG_H_
#define YUBA_TOOLS_RUN_STEP_LOG_H_

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/run/progress.h"

namespace yuba::tools {

class StepLog {
 public:
  // Makes the file, with the names of its columns. A run that goes on behind `done` steps keeps the
  // lines that are there of these. A user's error where the file cannot be written, or where a run
  // goes on and the file has other columns.
  static absl::StatusOr<std::unique_ptr<StepLog>> Open(const std::string& path,
                                                       std::vector<std::string> numbers,
                                                       bool goes_on, int64_t done);

  // The line of a step; `numbers` has those of the report and of an evaluation behind it. A user's
  // error where it cannot be written.
  absl::Status Add(const std::string& entry, int64_t step, const Numbers& numbers,
                   const StepReport& report);

 private:
  StepLog(std::string path, std::vector<std::string> numbers)
      : path_(std::move(path)), numbers_(std::move(numbers)) {}
  std::string Header() const;
  absl::StatusOr<std::string> LinesBefore(int64_t done) const;
  absl::Status Write(const std::string& text);

  const std::string path_;
  const std::vector<std::string> numbers_;
  std::ofstream file_;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_STEP_LOG_H_
