// The flags of a training step: the other half of set_options.h.
#include <cmath>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/status.h"
#include "tools/flags/model_flags.h"
#include "tools/flags/set_options.h"

namespace yuba::tools {
namespace {

using onnx::ImportOptions;

// "0,3"; false where it is no list of whole numbers.
bool ReadRows(const std::string& text, std::vector<int64_t>& rows) {
  for (const absl::string_view row : absl::StrSplit(text, ',')) {
    if (!absl::SimpleAtoi(row, &rows.emplace_back())) return false;
  }
  return true;
}

}  // namespace

absl::Status SetAbove0(const char* flag, const std::string& value, const char* what,
                       double& number) {
  if (absl::SimpleAtod(value, &number) && std::isfinite(number) && number > 0) {
    return absl::OkStatus();
  }
  return UserError(flag, " ", value, ": ", what, " is a number above 0");
}

absl::Status SetCount(const char* flag, const std::string& value, const char* what,
                      int64_t& count) {
  if (absl::SimpleAtoi(value, &count) && count > 0) return absl::OkStatus();
  return UserError(flag, " ", value, ": it is a number of ", what, ", at least 1");
}

absl::Status SetTrain(const std::string& value, ImportOptions& options) {
  options.train.emplace();
  options.train->optimizer = value;
  return absl::OkStatus();
}

absl::Status SetLoss(const std::string& value, ImportOptions& options) {
  const size_t at = value.rfind('@');
  options.train->loss = value.substr(0, at);
  if (at == std::string::npos) return absl::OkStatus();
  options.train->output = value.substr(at + 1);
  if (!options.train->loss.empty() && !options.train->output.empty()) return absl::OkStatus();
  return UserError("--loss ", value, ": expected NAME@OUTPUT, as in --loss mse@scores");
}

absl::Status SetFreeze(const std::string& value, ImportOptions& options) {
  const NamedValue parts = SplitNamed(value);
  if (parts.second.empty()) {
    options.train->freeze.push_back(value);
    return absl::OkStatus();
  }
  std::vector<int64_t> rows;
  if (parts.first.empty() || !ReadRows(parts.second, rows)) {
    return UserError("--freeze ", value, ": expected a parameter, or TABLE=ROW,..., as in ",
                     "--freeze emb.weight=0");
  }
  if (options.train->freeze_rows.emplace(parts.first, rows).second) return absl::OkStatus();
  return UserError("--freeze ", value, ": ", parts.first, " is named twice; give all of its ",
                   "rows at once, as in --freeze emb.weight=0,3");
}

absl::Status SetTie(const std::string& value, ImportOptions& options) {
  const std::vector<std::string> names = absl::StrSplit(value, absl::MaxSplits('=', 1));
  if (names.size() != 2) return UserError("--tie ", value, ": expected two names, A=B");
  options.train->ties.push_back({names[0], names[1]});
  return absl::OkStatus();
}

absl::Status SetPrecision(const std::string& value, ImportOptions& options) {
  if (value == Name(ElementType::kBF16)) {
    options.train->precision = ElementType::kBF16;
  } else if (value != Name(ElementType::kF32)) {
    return UserError("--precision ", value, ": it may be bf16, or f32, as without it; ",
                     "small gradients are lost in f16");
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
