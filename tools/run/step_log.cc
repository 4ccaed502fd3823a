#include "tools/run/step_log.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {
namespace {

// A name as one cell.
std::string Quoted(const std::string& name) {
  if (name.find_first_of(",\"\n\r") == std::string::npos) return name;
  return absl::StrCat("\"", absl::StrReplaceAll(name, {{"\"", "\"\""}}), "\"");
}

std::string Cell(double number) {
  return std::isnan(number) ? "nan" : absl::StrFormat("%.9g", number);
}

}  // namespace

std::string StepLog::Header() const {
  std::string header = "entry,step,";
  for (const std::string& name : numbers_) absl::StrAppend(&header, Quoted(name), ",");
  return absl::StrCat(header, "seconds,examples_per_second,moved_bytes\n");
}

// What the file has of the first `done` steps. It is read past the list of inputs (files.h), since
// it is written again.
absl::StatusOr<std::string> StepLog::LinesBefore(int64_t done) const {
  std::ifstream file(path_, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.empty()) return Header();
  const std::string header = Header();
  if (text.compare(0, header.size(), header) != 0) {
    return UserError("--log ", path_, ": it is there and has other columns; name another file");
  }
  std::string kept = header;
  for (const absl::string_view line :
       absl::StrSplit(text.substr(header.size()), '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> cells = absl::StrSplit(line, absl::MaxSplits(',', 2));
    int64_t step = 0;
    if (cells.size() == 3 && absl::SimpleAtoi(cells[1], &step) && step <= done)
      absl::StrAppend(&kept, line, "\n");
  }
  return kept;
}

absl::StatusOr<std::unique_ptr<StepLog>> StepLog::Open(const std::string& path,
                                                       std::vector<std::string> numbers,
                                                       bool goes_on, int64_t done) {
  std::unique_ptr<StepLog> log(new StepLog(path, std::move(numbers)));
  std::string begin = log->Header();
  if (goes_on) {
    YUBA_ASSIGN_OR_RETURN(begin, log->LinesBefore(done));
  }
  log->file_.open(path, std::ios::binary | std::ios::trunc);
  YUBA_RETURN_IF_ERROR(log->Write(begin));
  return log;
}

absl::Status StepLog::Write(const std::string& text) {
  file_ << text << std::flush;
  if (file_) return absl::OkStatus();
  return UserError("--log ", path_, ": cannot be written: ", std::strerror(errno));
}

absl::Status StepLog::Add(const std::string& entry, int64_t step, const Numbers& numbers,
                          const StepReport& report) {
  std::string line = absl::StrCat(Quoted(entry), ",", step, ",");
  for (const std::string& name : numbers_) {
    const auto found = std::find_if(numbers.begin(), numbers.end(),
                                    [&](const Number& number) { return number.name == name; });
    if (found != numbers.end()) absl::StrAppend(&line, Cell(found->value));
    line += ",";
  }
  const double rate = static_cast<double>(report.examples) / std::max(report.seconds, 1e-9);
  absl::StrAppend(&line, Cell(report.seconds), ",", report.examples > 0 ? Cell(rate) : "", ",",
                  report.moved, "\n");
  return Write(line);
}

}  // namespace yuba::tools
