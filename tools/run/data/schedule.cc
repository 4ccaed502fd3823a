#include "tools/run/data/schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {
namespace {

using Shape = Schedule::Shape;

constexpr std::pair<absl::string_view, Shape> kShapes[] = {
    {"constant", Shape::kConstant}, {"linear", Shape::kLinear}, {"cosine", Shape::kCosine}};

constexpr char kList[] = "list:";

// With as few digits as say all bits.
std::string Digits(double number) {
  std::string text;
  for (int digits = 6; digits <= 17; ++digits) {
    double read = 0;
    text = absl::StrFormat("%.*g", digits, number);
    if (absl::SimpleAtod(text, &read) && read == number) break;
  }
  return text;
}

constexpr double kPi = 3.14159265358979323846;

bool ReadNumber(absl::string_view text, double* number) {
  return absl::SimpleAtod(text, number) && std::isfinite(*number) && *number >= 0;
}

}  // namespace

double Schedule::At(int64_t step) const {
  YUBA_CHECK(step >= 1) << step;
  if (!list_.empty()) {
    return list_[static_cast<size_t>(std::min(step, static_cast<int64_t>(list_.size())) - 1)];
  }
  if (step <= warmup_) {
    return peak_ * static_cast<double>(step) / static_cast<double>(warmup_ + 1);
  }
  if (shape_ == Shape::kConstant) return peak_;
  if (step > steps_) return end_;
  const double done =
      static_cast<double>(step - warmup_ - 1) / static_cast<double>(steps_ - warmup_);
  if (shape_ == Shape::kLinear) return peak_ + (end_ - peak_) * done;
  return end_ + (peak_ - end_) * (1 + std::cos(kPi * done)) / 2;
}

absl::Status Schedule::ReadShape(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  if (!ReadNumber(parts[0], &peak_)) {
    return UserError("'", parts[0], "' is no number from 0 on: the greatest rate comes first");
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::pair<std::string, std::string> part =
        absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
    bool read = false;
    if (part.first == "warmup") {
      read = absl::SimpleAtoi(part.second, &warmup_) && warmup_ >= 0;
    } else if (part.first == "steps" && shape_ != Shape::kConstant) {
      read = absl::SimpleAtoi(part.second, &steps_) && steps_ > 0;
    } else if (part.first == "end" && shape_ != Shape::kConstant) {
      read = ReadNumber(part.second, &end_);
    } else {
      return UserError("'", parts[i], "' is unknown: it has warmup=N",
                       shape_ == Shape::kConstant ? "" : ", steps=N and end=RATE");
    }
    if (!read) return UserError("'", parts[i], "' has no number of its kind");
  }
  if (shape_ != Shape::kConstant && steps_ <= warmup_) {
    return UserError("steps=N is needed, greater than warmup=", warmup_,
                     ": after N steps the rate is that of end=RATE");
  }
  return absl::OkStatus();
}

absl::Status Schedule::ReadList(const std::string& file, const std::string& text) {
  const absl::string_view numbers = absl::StripTrailingAsciiWhitespace(text);
  for (const absl::string_view line : absl::StrSplit(numbers, '\n')) {
    double number = 0;
    if (!ReadNumber(absl::StripAsciiWhitespace(line), &number)) {
      return UserError(file, ":", list_.size() + 1, ": '", line.substr(0, 40),
                       "' is no number from 0 on: the file has one a line, for a step each");
    }
    list_.push_back(number);
  }
  return absl::OkStatus();
}

absl::Status Schedule::ReadTextList(const std::string& text) {
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    double number = 0;
    if (!ReadNumber(part, &number)) return UserError("'", part, "' is no number from 0 on");
    list_.push_back(number);
  }
  return absl::OkStatus();
}

Schedule Schedule::Constant(double number) {
  Schedule schedule;
  schedule.peak_ = number;
  return schedule;
}

std::string Schedule::Text() const {
  if (!list_.empty()) {
    return absl::StrCat(kList, absl::StrJoin(list_, ",", [](std::string* out, double number) {
                          out->append(Digits(number));
                        }));
  }
  if (shape_ == Shape::kConstant && warmup_ == 0) return Digits(peak_);
  std::string text;
  for (const auto& [name, shape] : kShapes) {
    if (shape == shape_) text = absl::StrCat(name, ":", Digits(peak_));
  }
  if (warmup_ > 0) absl::StrAppend(&text, ",warmup=", warmup_);
  if (shape_ == Shape::kConstant) return text;
  absl::StrAppend(&text, ",steps=", steps_);
  if (end_ > 0) absl::StrAppend(&text, ",end=", Digits(end_));
  return text;
}

absl::StatusOr<Schedule> ReadSchedule(const std::string& text) {
  Schedule schedule;
  if (ReadNumber(text, &schedule.peak_)) return schedule;
  for (const auto& [name, shape] : kShapes) {
    const std::string start = absl::StrCat(name, ":");
    if (text.compare(0, start.size(), start) != 0) continue;
    schedule.shape_ = shape;
    YUBA_RETURN_IF_ERROR(Annotate(schedule.ReadShape(text.substr(start.size())), text));
    return schedule;
  }
  if (absl::StartsWith(text, kList)) {
    YUBA_RETURN_IF_ERROR(
        Annotate(schedule.ReadTextList(text.substr(sizeof kList - 1)), text.substr(0, 40)));
    return schedule;
  }
  const absl::StatusOr<std::string> list = ReadFile(text);
  if (!list.ok()) {
    return UserError(
        text, " is no number from 0 on, no schedule (constant:RATE, ",
        "linear:RATE,steps=N, cosine:RATE,steps=N), and no file with a number a line: ",
        list.status().message());
  }
  YUBA_RETURN_IF_ERROR(schedule.ReadList(text, *list));
  return schedule;
}

}  // namespace yuba::tools
