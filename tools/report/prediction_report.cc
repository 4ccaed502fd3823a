#include "tools/report/prediction_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

using runtime::KindSeconds;
using runtime::Prediction;

struct KindRow {
  const char* name;
  double (*seconds)(const KindSeconds&);
};

double OfClass(const KindSeconds& kinds, KernelClass kernel_class) {
  return kinds.kernels[static_cast<int>(kernel_class)];
}

constexpr KindRow kRows[] = {
    {"products", [](const KindSeconds& k) { return OfClass(k, KernelClass::kProduct); }},
    {"convolutions", [](const KindSeconds& k) { return OfClass(k, KernelClass::kConvolution); }},
    {"maps", [](const KindSeconds& k) { return OfClass(k, KernelClass::kMap); }},
    {"reductions", [](const KindSeconds& k) { return OfClass(k, KernelClass::kReduction); }},
    {"exchanges", [](const KindSeconds& k) { return k.exchanges; }},
    {"waiting", [](const KindSeconds& k) { return k.waiting; }},
    {"starting", [](const KindSeconds& k) { return k.starting; }},
};

std::string Milliseconds(double seconds) {
  return seconds == 0 ? "–" : absl::StrFormat("%.3f", 1e3 * seconds);
}

// The share of exchanges in which kernels do not wait; below 0 where exchanges have no stream of
// their own.
double HiddenShare(const Prediction& prediction) {
  const KindSeconds& kinds = prediction.kinds;
  const bool apart = prediction.policy.exchange_stream && prediction.list.two_streams;
  if (!apart || kinds.exchanges == 0) return -1;
  return std::max(0.0, 1 - kinds.waiting / kinds.exchanges);
}

}  // namespace

std::string PredictionText(const std::vector<Prediction>& of_policies) {
  TextTable table(1);
  std::vector<std::string> head = {absl::StrCat(of_policies[0].entry, ", ms")};
  for (const Prediction& each : of_policies) head.push_back(each.policy.name);
  table.Add(head);
  for (const KindRow& row : kRows) {
    std::vector<std::string> cells = {absl::StrCat("  ", row.name)};
    bool any = false;
    for (const Prediction& each : of_policies) {
      any |= row.seconds(each.kinds) > 0;
      cells.push_back(Milliseconds(row.seconds(each.kinds)));
    }
    if (any) table.Add(cells);
  }
  if (HiddenShare(of_policies[0]) >= 0) {
    std::vector<std::string> hidden = {"  exchanges hidden, %"};
    for (const Prediction& each : of_policies)
      hidden.push_back(absl::StrFormat("%.0f", 100 * HiddenShare(each)));
    table.Add(hidden);
  }
  std::vector<std::string> whole = {"  predicted step"};
  for (const Prediction& each : of_policies) whole.push_back(Milliseconds(each.seconds));
  table.Add(whole);
  return absl::StrCat(table.ToString(), "moves ", Bytes(of_policies[0].bytes), " in ",
                      Counted(of_policies[0].messages, "message"), ": ",
                      Counted(of_policies[0].exchanges, "exchange"), " in ",
                      Counted(of_policies[0].groups, "group"), "\n");
}

nlohmann::ordered_json KindsJson(const KindSeconds& kinds) {
  nlohmann::ordered_json json;
  for (const KindRow& row : kRows) json[row.name] = row.seconds(kinds);
  return json;
}

nlohmann::ordered_json PredictionJson(const Prediction& prediction) {
  return {{"entry", prediction.entry},           {"policy", prediction.policy.name},
          {"seconds", prediction.seconds},       {"kinds", KindsJson(prediction.kinds)},
          {"bytes", prediction.bytes},           {"messages", prediction.messages},
          {"exchanges", prediction.exchanges},   {"groups", prediction.groups},
          {"classes", prediction.list.classes()}};
}

std::string BesideText(const Prediction& prediction, const MeasuredRun& measured) {
  TextTable table(1);
  table.Add({absl::StrCat(prediction.entry, ", ms"), "predicted", "measured", "quotient"});
  const auto add = [&](const std::string& name, double predicted, double found) {
    if (predicted == 0 && found == 0) return;
    table.Add({name, Milliseconds(predicted), Milliseconds(found),
               found > 0 ? absl::StrFormat("%.2f", predicted / found) : ""});
  };
  for (const KindRow& row : kRows) {
    add(absl::StrCat("  ", row.name), row.seconds(prediction.kinds),
        measured.by_kind ? row.seconds(measured.kinds) : 0);
  }
  add("  step", prediction.seconds, measured.seconds);
  return table.ToString();
}

std::string KernelsNote(const Machine& machine, const std::string& version) {
  const std::string& fitted = machine.device.kernels_version;
  if (fitted.empty()) {
    return absl::StrCat("the kernel times of ", machine.name, " are not measured");
  }
  if (fitted == version) return "";
  return absl::StrCat("the kernel times of ", machine.name, " were measured with yuba ", fitted,
                      ", and this is ", version);
}

}  // namespace yuba::tools
